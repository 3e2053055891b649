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

// -- The path ---------------------------------------------------------------------------------------------------------

plotView("path", (state) => {
  const group = content.criteria[Number(byId("criterion")?.value ?? 0)];
  const shown = group.series.map((one) => one.values.slice(0, states.n_slider));
  const positive = shown.map((values) => values.map((value) => (value > 0 ? value : null)));
  const drawn = group.log ? positive : shown;
  const [low, high] = extremes(...drawn);
  const made = [];
  group.series.forEach((one, i) => {
    if (one.error) {
      const below = drawn[i].map((value, k) => (value === null ? null : Math.max(value - one.error[k], low)));
      const above = drawn[i].map((value, k) => (value === null ? null : Math.min(value + one.error[k], high)));
      made.push({ kind: "band", style: lines[i % 8], x: sliderSteps, low: below, high: above });
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
      height: (width) => (page.isPrinting ? 240 : Math.min(340, 120 + 0.32 * width)),
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

function currentGroup() {
  return content.criteria[Number(byId("criterion")?.value ?? 0)];
}

function key(label, style) {
  const sample = shape("svg", { class: "sample", viewBox: "0 0 22 8", "aria-hidden": "true" });
  sample.append(shape("path", { class: `line ${style}`, d: "M0 4H22" }));
  return element("span", {}, sample, label);
}

// -- Rows of numbers --------------------------------------------------------------------------------------------------

const given = content.rows;
const targets = given && content.kind === "numbers"
  ? given.targets.map((one) => ({ truth: one.true, predicted: unpacked(one.predicted) })) : null;

function predictedNow(state) {
  const { truth, predicted } = targets[page.output], now = predicted.part(state);
  return { truth, now, left: Array.from(now, (value, i) => truth[i] - value) };
}

function tipsOf(xs, ys, words) {
  return Array.from(xs, (x, i) => ({ x, y: ys[i], text: `row ${given.numbers[i]}: ${words(i)}` }));
}

if (targets) {
  plotView("predicted", (state) => {
    const { truth, now } = predictedNow(state), [low, high] = extremes(truth);
    const [lowest, highest] = extremes(truth, now);
    const words = (i) => `target ${number(truth[i])}, prediction ${number(now[i])}`;
    return {
      plot: {
        title: `Predictions and targets of ${counted(truth.length, "row")}, ${sizeOf(state)}`,
        height: (width) => Math.min(380, 0.85 * width),
        x: { label: "prediction", low: Math.min(low, lowest), high: Math.max(high, highest) },
        y: { label: "target", low: Math.min(low, lowest), high: Math.max(high, highest) },
        layers: [
          { kind: "line", style: "ideal", x: [lowest, highest], y: [lowest, highest] },
          { kind: "points", style: "first", x: now, y: truth },
        ],
        tips: tipsOf(now, truth, words),
      },
      table: {
        heads: ["row", "target", "prediction", "residual"],
        rows: () => {
          const { truth, now, left } = predictedNow(page.state);
          return truth.map((value, i) => [given.numbers[i], value, now[i], left[i]]);
        },
      },
    };
  });
  plotView("residuals", (state) => {
    const { now, left } = predictedNow(state), [low, high] = extremes(left), reach = Math.max(-low, high);
    const size = Math.sqrt(left.reduce((sum, value) => sum + value * value, 0) / left.length);
    return {
      say: `Dashed: the root mean square of the residuals shown, ${number(size)}.`,
      plot: {
        title: `Residuals of ${counted(left.length, "row")}, ${sizeOf(state)}`,
        height: (width) => Math.min(380, 0.85 * width),
        x: { label: "prediction", low: extremes(now)[0], high: extremes(now)[1] },
        y: { label: "target less prediction", low: -reach, high: reach },
        layers: [
          { kind: "level", style: "ideal", at: 0 },
          { kind: "level", style: "dashed", at: size },
          { kind: "level", style: "dashed", at: -size },
          { kind: "points", style: "first", x: now, y: left },
        ],
        tips: tipsOf(now, left, (i) => `prediction ${number(now[i])}, residual ${number(left[i])}`),
      },
      table: {
        heads: ["row", "prediction", "residual"],
        rows: () => {
          const { now, left } = predictedNow(page.state);
          return left.map((value, i) => [given.numbers[i], now[i], value]);
        },
      },
    };
  });
}

/** A bar for a fraction, with a mark where it should be. */
function bar(fraction, wanted) {
  const made = shape("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  made.append(shape("rect", { class: "ground", width: 100, height: 10 }));
  made.append(shape("rect", { class: "filled", width: (100 * fraction).toFixed(2), height: 10 }));
  made.append(shape("rect", { class: "mark", x: (100 * wanted - 0.6).toFixed(2), width: 1.2, height: 10 }));
  return made;
}

if (byId("intervals")) {
  const { asked, left_out: leftOut, held, width } = content.intervals;
  views.push((state) => {
    const rows = asked.map((fraction, j) => {
      const row = element("tr", {}, element("th", { scope: "row" }, `${Math.round(100 * fraction)} %`));
      row.append(cell(leftOut[state][page.output][j]));
      if (held) {
        const found = held[state][page.output][j];
        const words = element("td", { class: "number", "data-value": found }, percent(found));
        row.append(words, element("td", { class: "bars" }, bar(found, fraction)), cell(width[state][page.output][j]));
      }
      return row;
    });
    byId("intervals").querySelector("tbody").replaceChildren(...rows);
  });
}

// -- Rows of classes --------------------------------------------------------------------------------------------------

if (given && content.kind === "classes") {
  const named = unpacked(given.named), probability = unpacked(given.probability), labels = content.classes;
  // The same place for a point in every picture: parts of the golden ratio spread evenly.
  const spread = given.true.map((place, i) => -place + 0.62 * (((i * 0.618034) % 1) - 0.5));
  const short = (tick) => (labels[-tick].length > 16 ? `${labels[-tick].slice(0, 15)}…` : labels[-tick]);
  plotView("strip", (state) => {
    const p = probability.part(state), who = named.part(state).map(Math.round);
    const styles = given.true.map((place, i) => (who[i] === place ? "first" : "cross"));
    const words = (i) => `${labels[given.true[i]]}, named ${labels[who[i]]}, ${percent(p[i])} for the true class`;
    const wrong = styles.filter((style) => style === "cross").length;
    return {
      say: `A cross is a row that is put in a wrong class: ${wrong} of the ${styles.length} shown.`,
      plot: {
        title: `Probability of the true class, ${counted(p.length, "row")}, ${sizeOf(state)}`,
        height: (width) => Math.min(560, 90 + Math.min(46, 0.12 * width) * labels.length),
        x: { label: "probability of the true class", low: 0, high: 1 },
        y: { low: 0.5 - labels.length, high: 0.5, tight: true, ticks: labels.map((_, j) => -j), words: short },
        layers: [{ kind: "points", styles, x: p, y: spread }],
        tips: tipsOf(p, spread, words),
      },
      table: {
        heads: ["row", "class", "named", "probability of the class"],
        rows: () => {
          const p = probability.part(page.state), who = named.part(page.state).map(Math.round);
          return given.true.map((place, i) => [given.numbers[i], labels[place], labels[who[i]], p[i]]);
        },
      },
    };
  });

  // Ends of the 95 % interval of a fraction (Wilson 1927).
  const wilson = ([rows, , fraction], sign) => {
    const z = 1.96, middle = fraction + (z * z) / (2 * rows);
    const reach = z * Math.sqrt((fraction * (1 - fraction)) / rows + (z / (2 * rows)) ** 2);
    return (middle + sign * reach) / (1 + (z * z) / rows);
  };
  const bins = unpacked(content.reliability.bins), n = bins.shape[2];
  const curve = (state) => {
    const which = Number(byId("reliability-of")?.value ?? 0);
    return Array.from({ length: n }, (_, b) => Array.from(bins.part(state, which, b)));
  };
  plotView("reliability", (state) => {
    const all = curve(state), found = all.filter((one) => one[0] > 0.5), most = Math.max(...found.map((one) => one[0]));
    const xs = found.map((one) => one[1]), ys = found.map((one) => one[2]);
    const words = (one) => `${counted(Math.round(one[0]), "row")}: ${percent(one[1])} said, ${percent(one[2])} true`;
    return {
      plot: {
        title: `Reliability of probabilities, ${sizeOf(state)}`,
        height: (width) => Math.min(380, 0.85 * width),
        x: { label: "mean probability", low: 0, high: 1 },
        y: { label: "fraction that is so", low: 0, high: 1 },
        layers: [
          { kind: "line", style: "ideal", x: [0, 1], y: [0, 1] },
          { kind: "whiskers", x: xs, low: found.map((one) => wilson(one, -1)), high: found.map((one) => wilson(one, 1)) },
          { kind: "points", style: "first full", x: xs, y: ys, r: found.map((one) => 2.5 + 6 * Math.sqrt(one[0] / most)) },
        ],
        tips: found.map((one) => ({ x: one[1], y: one[2], text: words(one) })),
      },
      table: {
        heads: ["from", "to", "rows", "mean probability", "fraction"],
        rows: () => curve(page.state).map((one, b) => [b / n, (b + 1) / n, Math.round(one[0]), one[1], one[2]]),
      },
    };
  });

  if (content.confusion) {
    const counts = unpacked(content.confusion);
    views.push((state) => {
      const rows = labels.map((label, i) => {
        const row = Array.from(counts.part(state, i), Math.round), sum = row.reduce((a, b) => a + b, 0);
        const cells = row.map((count, j) => {
          const made = element("td", { class: i === j ? "right" : "wrong", "data-value": count }, count ? String(count) : "·");
          made.style.setProperty("--share", `${sum ? Math.round((100 * count) / sum) : 0}%`);
          return made;
        });
        return element("tr", {}, element("th", { scope: "row" }, label), ...cells);
      });
      byId("confusion").querySelector("tbody").replaceChildren(...rows);
    });
  }

  if (content.sets) {
    const { asked, held, sizes } = content.sets;
    views.push((state) => {
      const rows = asked.map((fraction, j) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, `${Math.round(100 * fraction)} %`),
          element("td", { class: "number", "data-value": held[state][j] }, percent(held[state][j])),
          element("td", { class: "bars" }, bar(held[state][j], fraction)),
          cell(sizes[state][j]),
        ),
      );
      byId("sets").querySelector("tbody").replaceChildren(...rows);
    });
  }
}

// -- Features ---------------------------------------------------------------------------------------------------------

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

// -- Centres ----------------------------------------------------------------------------------------------------------

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

// -- Lines to copy ----------------------------------------------------------------------------------------------------

views.push((state) => {
  const size = states.sizes[state], rule = states.rules.find((one) => one.state === state)?.name;
  let model = "model";
  if (state !== states.kept) model = isSlid(state) ? `model.at(${size})` : `model.select("${rule}")`;
  document.querySelectorAll("code[data-code]").forEach((code) => {
    code.textContent = code.dataset.code.replaceAll("{model}", model);
  });
});

document.querySelectorAll("button.copy").forEach((button) => {
  button.addEventListener("click", async () => {
    const code = button.closest(".snippet").querySelector("code");
    let isDone = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Where a page may not write to the clipboard by itself, a selection can still be copied.
      getSelection().selectAllChildren(code);
      isDone = document.execCommand("copy");
    }
    button.textContent = isDone ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 1600);
  });
});
