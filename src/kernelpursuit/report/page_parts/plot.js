// Plots as SVG: axes, lines, points, and a tip for the point that the pointer is near.
const svgSpace = "http://www.w3.org/2000/svg";

function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Round numbers that divide a range into about so many parts. */
function ticksOver(low, high, n) {
  const rough = (high - low) / Math.max(n, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= 0.999 * rough);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i++) ticks.push(i * step);
  return ticks;
}

function logTicks(low, high, n) {
  const decades = Math.log10(high / low);
  const among = decades > n ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
  const ticks = [], every = Math.max(1, Math.ceil(decades / n));
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    if (power % every) continue;
    for (const one of among) {
      const value = one * 10 ** power;
      if (value >= 0.999 * low && value <= 1.001 * high) ticks.push(value);
    }
  }
  return ticks.length > 1 ? ticks : ticksOver(low, high, 3).filter((value) => value > 0);
}

/** From values to a length; a range without any width gets some. */
function scaleOf(axis, length) {
  let { low, high } = axis;
  if (axis.log) {
    if (!(high > (1 + 1e-9) * low)) [low, high] = [low / 2, high * 2];
    const room = axis.tight ? 0 : 0.03 * Math.log(high / low);
    const start = Math.log(low) - room, span = Math.log(high) + room - start;
    const to = (value) => (length * (Math.log(Math.max(value, 0.5 * low)) - start)) / span;
    return { to, from: (place) => Math.exp(start + (span * place) / length), ticks: logTicks(low, high, axis.n) };
  }
  // Numbers that differ by rounding alone are one number.
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (!(high - low > 1e-9 * size)) [low, high] = [low - 0.5 * (size || 1), high + 0.5 * (size || 1)];
  const room = axis.tight ? 0 : 0.04 * (high - low);
  [low, high] = [low - room, high + room];
  const to = (value) => (length * (value - low)) / (high - low);
  let ticks = axis.ticks ?? ticksOver(low, high, axis.n);
  if (axis.whole) ticks = ticks.filter(Number.isInteger);
  return { to, from: (place) => low + ((high - low) * place) / length, ticks };
}

function path(xs, ys, to) {
  let text = "", pen = "M";
  for (let i = 0; i < xs.length; i++) {
    if (ys[i] === null || !Number.isFinite(ys[i])) {
      pen = "M";
      continue;
    }
    text += `${pen}${to.x(xs[i]).toFixed(2)} ${to.y(ys[i]).toFixed(2)}`;
    pen = "L";
  }
  return text;
}

const layers = {
  line: (layer, to) => [shape("path", { class: `line ${layer.style}`, d: path(layer.x, layer.y, to) })],
  band(layer, to) {
    const up = path(layer.x, layer.high, to), down = path([...layer.x].reverse(), [...layer.low].reverse(), to);
    return up && down ? [shape("path", { class: `band ${layer.style}`, d: `${up}${down.replace("M", "L")}Z` })] : [];
  },
  points: (layer, to) =>
    Array.from(layer.x, (x, i) => {
      const place = [to.x(x), to.y(layer.y[i])];
      if (!place.every(Number.isFinite)) return "";
      const style = layer.styles ? layer.styles[i] : layer.style;
      const [cx, cy] = place.map((one) => one.toFixed(2)), r = layer.r ? layer.r[i].toFixed(2) : 2.6;
      if (style.includes("cross")) return shape("path", { class: style, d: `M${cx - 3} ${cy - 3}l6 6m0 -6l-6 6` });
      return shape("circle", { class: `point ${style}`, cx, cy, r });
    }),
  whiskers: (layer, to) =>
    Array.from(layer.x, (x, i) => {
      const at = to.x(x).toFixed(2);
      return shape("line", { class: "whisker", x1: at, x2: at, y1: to.y(layer.low[i]), y2: to.y(layer.high[i]) });
    }),
  upright: (layer, to, box) => {
    const x = to.x(layer.at).toFixed(2);
    const made = [shape("line", { class: `upright ${layer.style}`, x1: x, x2: x, y1: 0, y2: box.height })];
    if (layer.label) {
      const left = x > 0.7 * box.width;
      const at = { class: "note", x: Number(x) + (left ? -5 : 5), y: 11, "text-anchor": left ? "end" : "start" };
      made.push(shape("text", at, layer.label));
    }
    return made;
  },
  level: (layer, to, box) => {
    const y = to.y(layer.at).toFixed(2);
    return [shape("line", { class: `level ${layer.style}`, x1: 0, x2: box.width, y1: y, y2: y })];
  },
  ticks: (layer, to, box) =>
    Array.from(layer.x, (x) => {
      const at = to.x(x).toFixed(2);
      return shape("line", { class: "rug", x1: at, x2: at, y1: box.height - 5, y2: box.height });
    }),
};

/** The width to draw at; on paper, which is as wide as it is, layout knows it too late. */
function widthOf(box) {
  if (!page.isPrinting) return Math.max(box.clientWidth || 640, 220);
  return box.closest(".thirds") ? 225 : box.closest(".halves") ? 330 : 670;
}

/** Draw a plot into a box; `plot.pick` is called with the x where it is pressed or dragged, `plot.tip` with a place. */
function draw(box, plot) {
  const width = widthOf(box), height = plot.height(width);
  const y = { n: Math.max(3, height / 55), ...plot.y }, right = 12, top = plot.top ?? 12;
  const bottom = plot.x.label ? 42 : 24, tall = height - top - bottom;
  const upward = scaleOf(y, tall);
  const words = upward.ticks.map((tick) => plot.y.words?.(tick) ?? number(tick, 3));
  const left = 12 + (plot.y.label ? 18 : 0) + 6.4 * Math.max(2, ...words.map((word) => word.length));
  const wide = width - left - right, x = { n: Math.max(3, wide / 75), ...plot.x };
  const across = scaleOf(x, wide), to = { x: across.to, y: (value) => tall - upward.to(value) };
  const inner = shape("g", { transform: `translate(${left.toFixed(1)} ${top})` });
  upward.ticks.forEach((tick, i) => {
    const at = to.y(tick).toFixed(2);
    inner.append(shape("line", { class: "grid", x1: 0, x2: wide, y1: at, y2: at }));
    inner.append(shape("text", { class: "tick", x: -7, y: at, dy: "0.34em", "text-anchor": "end" }, words[i]));
  });
  inner.append(shape("line", { class: "axis", x1: 0, x2: wide, y1: tall, y2: tall }));
  for (const tick of across.ticks) {
    const at = { class: "tick", x: to.x(tick).toFixed(2), y: tall + 16, "text-anchor": "middle" };
    inner.append(shape("text", at, number(tick, 3)));
  }
  if (plot.x.label) {
    inner.append(shape("text", { class: "label", x: wide / 2, y: tall + 35, "text-anchor": "middle" }, plot.x.label));
  }
  if (plot.y.label) {
    const turned = `translate(${(14 - left).toFixed(1)} ${tall / 2}) rotate(-90)`;
    inner.append(shape("text", { class: "label", transform: turned, "text-anchor": "middle" }, plot.y.label));
  }
  for (const layer of plot.layers) inner.append(...layers[layer.kind](layer, to, { width: wide, height: tall }));
  const drawn = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": plot.title }, inner);
  box.querySelector("svg")?.remove();
  box.prepend(drawn);
  box.plotted = { left, top, from: across.from, to, tips: plot.tips ?? [], pick: plot.pick };
  if (!box.listens) listen(box);
}

/** Follow the pointer: a tip beside the nearest point, and sizes picked by pressing. */
function listen(box) {
  box.listens = true;
  const tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });
  box.append(tip);
  const place = (event) => {
    const area = box.querySelector("svg").getBoundingClientRect();
    const unit = box.querySelector("svg").viewBox.baseVal.width / area.width;
    return [(event.clientX - area.left) * unit - box.plotted.left, (event.clientY - area.top) * unit - box.plotted.top];
  };
  box.addEventListener("pointermove", (event) => {
    const [px, py] = place(event), { to, tips, from, pick, left, top } = box.plotted;
    if (pick && event.buttons) pick(from(px));
    let nearest = null, least = 24 * 24;
    for (const one of tips) {
      const far = (to.x(one.x) - px) ** 2 + (to.y(one.y) - py) ** 2;
      if (far < least) [nearest, least] = [one, far];
    }
    tip.hidden = !nearest;
    if (!nearest) return;
    tip.textContent = nearest.text;
    const at = to.x(nearest.x) + left, flips = at > 0.6 * box.clientWidth;
    tip.style.setProperty("left", flips ? "auto" : `${at + 10}px`);
    tip.style.setProperty("right", flips ? `${box.clientWidth - at + 10}px` : "auto");
    tip.style.setProperty("top", `${to.y(nearest.y) + top - 10}px`);
  });
  box.addEventListener("pointerleave", () => (tip.hidden = true));
  box.addEventListener("pointerdown", (event) => {
    const { pick, from } = box.plotted;
    if (pick) pick(from(place(event)[0]));
  });
}
