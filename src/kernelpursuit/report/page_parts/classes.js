// Rows given to a classifier: probabilities, reliability, confusions, and what sets hold.
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
