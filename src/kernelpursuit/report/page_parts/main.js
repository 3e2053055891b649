// The state of the page, and what changes it: the slider, the steps beside it, rules, keys, plots.
const page = { state: states.kept, output: 0, isPrinting: false };
const slider = byId("size"), status = byId("status");
let isDrawing = false, told = 0;

/** Where the number nearest to a value is. */
function nearest(numbers, value) {
  let best = 0;
  numbers.forEach((one, i) => {
    if (Math.abs(one - value) < Math.abs(numbers[best] - value)) best = i;
  });
  return best;
}

/** Show another state; pictures are drawn once a frame, however fast the slider moves. */
function show(state) {
  page.state = state;
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    update();
  });
}

function tileValue(tile) {
  const values = Array.isArray(tile.values[0]) ? tile.values[page.output] : tile.values;
  return values[page.state];
}

function update() {
  const { state } = page, n = states.atoms[state];
  byId("atoms-now").textContent = n.toLocaleString("en");
  byId("atoms-word").textContent = n === 1 ? "atom" : "atoms";
  slider.value = isSlid(state) ? state : nearest(states.atoms.slice(0, states.n_slider), n);
  slider.setAttribute("aria-valuetext", isSlid(state) ? sizeOf(state) : `${sizeOf(state)}, a size for each class`);
  byId("fewer").disabled = isSlid(state) && state === 0;
  byId("more").disabled = isSlid(state) && state === states.n_slider - 1;
  document.querySelectorAll("[data-tile]").forEach((place) => {
    const tile = content.tiles[Number(place.dataset.tile)], value = tileValue(tile);
    place.textContent = tile.unit === "%" ? percent(value) : number(value);
    place.dataset.value = value ?? "";
  });
  const chosen = states.rules.filter((rule) => rule.state === state);
  document.querySelectorAll("button[data-rule]").forEach((button) => {
    button.setAttribute("aria-pressed", String(states.rules[Number(button.dataset.rule)].state === state));
  });
  const steps = states.sizes[state];
  const each = Array.isArray(steps) ? `Steps of each class: ${steps.join(", ")}. ` : "";
  const kept = state === states.kept ? "The model as it was kept. " : "";
  const reasons = new Map();
  for (const rule of chosen) reasons.set(rule.reason, [...(reasons.get(rule.reason) ?? []), rule.name]);
  // Where a path was too short, most rules end with it: two have their words here, and all as a title of their button.
  const said = Array.from(reasons, ([reason, names]) => `${names.join(", ")}: ${reason}.`).slice(0, 2);
  byId("why").textContent = kept + each + said.join(" ");
  for (const view of views) view(state);
  clearTimeout(told);
  told = setTimeout(() => {
    const first = content.tiles[0], value = first && tileValue(first);
    const error = first ? `; ${first.label} ${first.unit === "%" ? percent(value) : number(value)}` : "";
    status.textContent = `${sizeOf(state)}${error}`;
  }, 500);
}

slider.addEventListener("input", () => show(Number(slider.value)));
byId("fewer").addEventListener("click", () => show(Math.max(Number(slider.value) - 1, 0)));
byId("more").addEventListener("click", () => show(Math.min(Number(slider.value) + 1, states.n_slider - 1)));
document.querySelectorAll("button[data-rule]").forEach((button) => {
  button.addEventListener("click", () => show(states.rules[Number(button.dataset.rule)].state));
});
byId("output")?.addEventListener("change", (event) => {
  page.output = Number(event.target.value);
  show(page.state);
});
for (const id of ["criterion", "reliability-of"]) byId(id)?.addEventListener("change", () => show(page.state));

let width = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  show(page.state);
}).observe(document.body);
for (const [event, isPrinting] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(event, () => {
    page.isPrinting = isPrinting;
    update();
  });
}
update();
