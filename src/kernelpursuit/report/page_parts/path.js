// The path: every criterion over the sizes.
plotView("path", (state) => {
  const group = content.criteria[Number(byId("criterion")?.value ?? 0)];
  const shown = group.series.map((one) => one.values.slice(0, states.n_slider));
  const positive = shown.map((values) => values.map((value) => (value > 0 ? value : null)));
  const drawn = group.log ? positive : shown;
  const [least, most] = extremes(...drawn);
  // Room for the bands as well, but on an axis of powers not so much that they fill it.
  const ends = group.series.flatMap((one, i) => [bandOf(one, drawn[i], -1), bandOf(one, drawn[i], 1)]);
  const [lowest, highest] = extremes(...ends);
  const low = group.log ? Math.max(lowest, 0.7 * least) : lowest, high = Math.max(most, highest);
  const made = [];
  group.series.forEach((one, i) => {
    if (one.error) {
      const below = bandOf(one, drawn[i], -1).map((value) => (value === null ? null : Math.max(value, low)));
      made.push({ kind: "band", style: lines[i % 8], x: sliderSteps, low: below, high: bandOf(one, drawn[i], 1) });
    }
    made.push({ kind: "line", style: lines[i % 8], x: sliderSteps, y: drawn[i] });
  });
  const marks = isSlid(states.kept) ? [{ kind: "upright", style: "kept", at: sliderSteps[states.kept] }] : [];
  if (isSlid(state)) {
    marks.push({ kind: "upright", style: "now", at: sliderSteps[state] });
    const values = drawn.filter((one) => one[state] !== null).map((one) => one[state]);
    marks.push({ kind: "points", style: "now", x: values.map(() => sliderSteps[state]), y: values, r: values.map(() => 4) });
  }
  byId("path").querySelector(".key").replaceChildren(...group.series.map((one, i) => key(one.label, lines[i % 8])));
  return {
    plot: {
      title: `${group.title} along the path`,
      height: (width) => (page.isPrinting ? 240 : Math.min(410, 130 + 0.4 * width)),
      x: { label: states.sizes.length === 1 ? "" : "steps", low: 0, high: sliderSteps.at(-1), tight: true, whole: true },
      y: { low, high, log: group.log && low > 0 },
      layers: [...made, ...marks],
      pick: (x) => show(nearest(sliderSteps, x)),
      tips: drawn.flatMap((values, i) =>
        values.flatMap((value, k) =>
          value === null ? [] : [{ x: sliderSteps[k], y: value, text: `${sizeOf(k)}: ${number(value)}` }],
        ),
      ),
    },
    table: {
      heads: () => ["steps", "atoms", ...currentGroup().series.map((one) => one.label)],
      rows: () => sliderSteps.map((k, i) => [k, states.atoms[i], ...currentGroup().series.map((one) => one.values[i])]),
    },
  };
});

/** The values of a curve, one standard error up or down where that is known. */
function bandOf(one, values, sign) {
  return values.map((value, k) => (value === null || !one.error ? value : value + sign * one.error[k]));
}

function currentGroup() {
  return content.criteria[Number(byId("criterion")?.value ?? 0)];
}

function key(label, style) {
  const sample = shape("svg", { class: "sample", viewBox: "0 0 22 8", "aria-hidden": "true" });
  sample.append(shape("path", { class: `line ${style}`, d: "M0 4H22" }));
  return element("span", {}, sample, label);
}
