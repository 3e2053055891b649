// Tables: sorted by their heads, and folded beside a plot with the numbers that it shows.

/** Sort the rows of a table by one column; the rows stay where they are until a head is pressed. */
function sortRows(table, column, descending) {
  const body = table.tBodies[0], rows = [...body.rows], sign = descending ? -1 : 1;
  const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const isNumber = rows.every((row) => key(row) === "" || Number.isFinite(Number(key(row))));
  rows.sort((a, b) => {
    const [first, second] = [key(a), key(b)];
    // What is no number comes last, whichever way the others go.
    if (first === "" || second === "") return (first === "") - (second === "");
    return sign * (isNumber ? Number(first) - Number(second) : first.localeCompare(second, undefined, { numeric: true }));
  });
  body.append(...rows);
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    if (i === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

/** A table whose heads are buttons that sort it. */
function sortableTable(caption, heads, rows) {
  const head = element("tr"), body = element("tbody"), table = element("table", { class: "sortable" });
  heads.forEach((words, column) => {
    const button = element("button", { type: "button", title: words }, words);
    button.addEventListener("click", () => {
      const descends = head.cells[column].getAttribute("aria-sort") === "ascending";
      sortRows(table, column, descends);
    });
    head.append(element("th", { scope: "col" }, button));
  });
  for (const row of rows) body.append(row);
  table.append(element("caption", { class: "hidden" }, caption), element("thead", {}, head), body);
  return table;
}

function cell(value, tag = "td") {
  if (typeof value === "string") return element(tag, tag === "th" ? { scope: "row" } : {}, value);
  const known = value !== null && Number.isFinite(value);
  return element(tag, { class: "number", "data-value": known ? value : "" }, number(value));
}

/** The numbers of a plot, folded; they are written when they are looked at. */
function numbersBeside(figure, caption, heads, rows) {
  const fold = element("details", { class: "numbers" }, element("summary", {}, "Numbers", element("span", { class: "hidden" }, ` of: ${caption}`)));
  const place = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption });
  fold.append(place);
  figure.append(fold);
  const write = () => {
    if (!fold.open) return;
    const made = rows().map((values) => element("tr", {}, ...values.map((value) => cell(value))));
    place.replaceChildren(sortableTable(caption, typeof heads === "function" ? heads() : heads, made));
  };
  fold.addEventListener("toggle", write);
  return write;
}
