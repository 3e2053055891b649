// Every figure: what it shows of the state, which is a size of the path and one of the outputs.
const byId = (id) => document.getElementById(id);
const states = content.states, isSlid = (state) => state < states.n_slider;
const sliderSteps = states.sizes.slice(0, states.n_slider);
const views = [];

/** The plot in a figure, and the table beside it; `plan` says what to draw of a state. */
function plotView(id, plan) {
  const figure = byId(id);
  if (!figure) return;
  const box = figure.querySelector(".plot");
  const say = figure.querySelector(".say");
  const caption = figure.querySelector(".name")?.textContent ?? "criteria of the path";
  let write = null;
  const update = (state) => {
    const found = plan(state);
    draw(box, found.plot);
    if (say && found.say !== undefined) say.textContent = found.say;
    if (found.table && !write) write = numbersBeside(figure, caption, found.table.heads, () => figure.rows());
    if (found.table) figure.rows = found.table.rows;
    write?.();
  };
  views.push(update);
}

const sizeOf = (state) => counted(states.atoms[state], "atom");
const lines = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
