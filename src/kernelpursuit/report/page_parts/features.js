// Features and atoms: curves of partial dependence, and the table of centres.
if (typeof content.curves !== "string") {
  const curves = content.curves.features.map((one) => ({ ...one, unpacked: unpacked(one.values) }));
  const n = content.outputs.length;
  const valuesOf = (one, state) => one.points.map((_, i) => one.unpacked.part(state, i)[page.output]);
  // One axis for all features and sizes, so that heights can be compared.
  const limits = Array.from({ length: n }, (_, output) =>
    extremes(...curves.map((one) => one.unpacked.part().filter((_, i) => i % n === output))),
  );
  curves.forEach((one, i) => {
    plotView(`curve-${i}`, (state) => {
      const values = valuesOf(one, state), [low, high] = limits[page.output], [least, most] = extremes(one.points);
      const isFew = one.points.length <= 6;
      const drawn = [{ kind: "line", style: "first", x: one.points, y: values }];
      if (isFew) drawn.push({ kind: "points", style: "first full", x: one.points, y: values, r: values.map(() => 3.5) });
      return {
        plot: {
          title: `Average prediction by ${one.name}, ${sizeOf(state)}`,
          height: (width) => Math.min(230, 0.62 * width + 30),
          x: { low: least, high: most },
          y: { low, high },
          layers: [{ kind: "ticks", x: one.marks.filter((mark) => mark >= least && mark <= most) }, ...drawn],
          tips: one.points.map((x, j) => ({ x, y: values[j], text: `${number(x)}: ${number(values[j])}` })),
        },
        table: {
          heads: [one.name, "average prediction"],
          rows: () => valuesOf(one, page.state).map((value, j) => [one.points[j], value]),
        },
      };
    });
  });
}

if (byId("atoms")) {
  const { numbers, what, names, centers, staged, ordered } = content.atoms, weights = unpacked(content.atoms.weights);
  const several = weights.shape[1] > 1;
  const rows = numbers.map((one, i) => {
    const place = ordered ? [element("td", { class: "number", "data-value": i + 1 }, String(i + 1))] : [];
    const own = element("td", { class: "number", "data-value": one < 0 ? "" : one }, one < 0 ? "–" : String(one));
    return element("tr", {}, ...place, own, element("td", { class: "number" }), ...(centers ? centers[i] : []).map((v) => cell(v)));
  });
  const at = ordered ? 2 : 1;
  const heads = [...(ordered ? ["picked"] : []), what, staged ? "weight" : "weight as kept", ...names];
  const table = sortableTable("Centres of the atoms, their rows and weights", heads, [...rows]);
  byId("atoms").querySelector(".scroll").append(table);
  views.push((state) => {
    const now = weights.part(staged ? state : 0, several ? page.output : 0), all = byId("all-atoms")?.checked;
    rows.forEach((row, i) => {
      const place = row.cells[at], isIn = Number.isFinite(now[i]);
      place.dataset.value = isIn ? now[i] : "";
      place.textContent = isIn ? number(now[i]) : "–";
      row.hidden = !isIn && !all;
      row.classList.toggle("out", !isIn);
    });
    const sorted = table.tHead.rows[0].cells[at].getAttribute("aria-sort");
    if (sorted) sortRows(table, at, sorted === "descending");
  });
  byId("all-atoms")?.addEventListener("change", () => show(page.state));
}
