// An HTML table that can be sorted by its headings and filtered by the names of its rows.

/** A sortable table. `columns` are {label, says, number, value(row), cell(row)}; the first is the heading of
 * each row. `kept` keeps the order between two renderings. */
function sortable(caption, columns, rows, kept) {
  const head = el("tr", {});
  const body = el("tbody", {});
  const lines = rows.map((row) => {
    const cells = columns.map((column, i) => {
      const content = column.cell ? column.cell(row) : String(column.value(row) ?? "");
      return i === 0
        ? el("th", { scope: "row", class: look(column) }, content)
        : el("td", { class: look(column) }, content);
    });
    return { row, line: el("tr", {}, cells) };
  });
  const headings = columns.map((column) => {
    const heading = el("th", { scope: "col", class: look(column) });
    if (!column.value) {
      heading.append(el("span", { class: column.hidden ? "unseen" : null }, column.label));
    } else {
      const says = column.says ? short(column.says, 600) : null;
      heading.append(el("button", { type: "button", class: "sort", title: says, onclick: () => turn(column) },
        foreign(column.label, 60)));
    }
    head.append(heading);
    return heading;
  });
  function turn(column) {
    const again = kept.by === column.label;
    kept.down = again ? !kept.down : Boolean(column.number);
    kept.by = column.label;
    arrange();
    announce(`sorted by ${short(column.label, 60)}, ${kept.down ? "descending" : "ascending"}`);
  }
  function arrange() {
    const column = columns.find((item) => item.label === kept.by && item.value);
    headings.forEach((heading, i) => {
      if (columns[i] === column) heading.setAttribute("aria-sort", kept.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    const keys = new Map(lines.map((item) => [item, column ? column.value(item.row) : null]));
    const sign = kept.down ? -1 : 1;
    const ordered = column ? lines.toSorted((x, y) => compare(keys.get(x), keys.get(y), sign)) : lines;
    body.replaceChildren(...ordered.map((item) => item.line));
  }
  function filter(wanted) {
    let shown = 0;
    for (const { row, line } of lines) {
      line.hidden = !wanted(row);
      shown += line.hidden ? 0 : 1;
    }
    return shown;
  }
  arrange();
  const table = el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, head), body);
  return { node: el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, table), filter };
}

function look(column) {
  return [column.number ? "number" : "", column.look ?? ""].join(" ").trim() || null;
}

/** The order of two values. A missing value comes last in either direction. */
function compare(x, y, sign) {
  if (x == null || y == null) return (x == null ? 1 : 0) - (y == null ? 1 : 0);
  return sign * (typeof x === "string" ? x.localeCompare(y, "en") : x - y);
}
