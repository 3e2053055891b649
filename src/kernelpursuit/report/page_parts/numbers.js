// Rows given to a regressor: predictions, residuals, and what intervals hold.
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
