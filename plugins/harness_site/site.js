// Draws one page of a site: its facts, and its tables with search and filters.

const tables = [];
const chosen = { text: "", by: {} };

function place(href) {
  return `${board.root}${href}`;
}

function textOf(cell) {
  if (cell == null) return "";
  if (typeof cell === "object") return cell.text ?? String(cell.mean);
  return String(cell);
}

function valueOf(cell) {
  if (cell == null || cell === "") return null;
  if (typeof cell === "object") return cell.mean ?? cell.text.toLowerCase();
  return typeof cell === "string" ? cell.toLowerCase() : cell;
}

function drawn(cell) {
  if (cell == null) return el("span", { class: "unseen" }, "none");
  if (typeof cell === "number") return amount(cell);
  if (typeof cell !== "object") return foreign(cell);
  if (cell.text !== undefined) {
    const link = el("a", { href: place(cell.href) }, foreign(cell.text));
    return cell.says ? [link, el("small", { class: "says" }, foreign(cell.says, 200))] : link;
  }
  const shown = cell.mean.toFixed(cell.digits);
  const interval = cell.low == null ? null : el("small", {}, `${cell.low.toFixed(3)} to ${cell.high.toFixed(3)}`);
  return [cell.best ? el("strong", { title: "the best of this table" }, shown) : shown, interval];
}

function tableSection(table, number) {
  const columns = table.columns.map((name, i) => ({
    label: name.replace(/^#/, ""),
    number: name.startsWith("#"),
    look: name === "methods" ? "words" : null,
    value: (row) => valueOf(row[i]),
    cell: (row) => drawn(row[i]),
  }));
  const kept = table.sort >= 0 && columns[table.sort] ? { by: columns[table.sort].label, down: true } : {};
  const made = sortable(table.caption, columns, table.rows, kept);
  const count = el("p", { class: "lead" });
  tables.push({ table, made, count });
  return el("section", { id: `t${number}` }, el("h2", {}, foreign(table.caption)),
    table.note ? el("p", { class: "lead" }, foreign(table.note, 400)) : null, count, made.node);
}

/** Shows the rows that contain every word of the search, and every chosen value in its column. */
function apply(say) {
  const words = chosen.text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { table, made, count } of tables) {
    const places = Object.entries(chosen.by).filter(([, value]) => value)
      .map(([name, value]) => [table.columns.indexOf(name), value]).filter(([i]) => i >= 0);
    const kept = made.filter((row) => {
      const all = row.map(textOf).join(" ").toLowerCase();
      return words.every((word) => all.includes(word)) && places.every(([i, value]) => textOf(row[i]) === value);
    });
    shown += kept;
    const narrowed = kept < table.rows.length;
    count.textContent = narrowed ? `${kept} of ${plural(table.rows.length, "row")}` : "";
    count.hidden = !narrowed;
  }
  if (say) announce(`${plural(shown, "row")} shown`);
}

function filterBar() {
  const form = document.getElementById("bar");
  const search = el("input", { type: "search", placeholder: "words of a row", oninput: () => {
    chosen.text = search.value;
    apply(true);
  } });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(el("label", { class: "field" }, el("span", {}, "Search"), search));
  for (const name of board.filters) {
    const values = new Set();
    for (const { table } of tables) {
      const i = table.columns.indexOf(name);
      if (i > 0) table.rows.forEach((row) => values.add(textOf(row[i])));
    }
    values.delete("");
    if (values.size < 2) continue;
    const options = [["", "all"], ...[...values].sort((x, y) => x.localeCompare(y, "en")).map((value) => [value, value])];
    form.append(choice(name[0].toUpperCase() + name.slice(1), options, "", (value) => {
      chosen.by[name] = value;
      apply(true);
    }));
  }
}

const head = document.getElementById("head");
if (board.root) {
  head.append(el("p", { class: "up" }, el("a", { href: place("index.html") }, foreign(`← ${board.site}`))));
}
head.append(el("h1", {}, foreign(board.name)));
if (board.lead) head.append(el("p", { class: "description" }, foreign(board.lead, 4000)));
if (board.tables.length > 1) {
  head.append(el("nav", { "aria-label": "Contents" }, el("ul", {}, board.tables.map((table, i) =>
    el("li", {}, el("a", { href: `#t${i}` }, foreign(table.caption)))))));
}
const main = document.getElementById("main");
main.replaceChildren(...board.tables.map(tableSection));
if (board.facts.length) {
  main.append(el("section", {}, el("h2", {}, "About"),
    el("dl", {}, board.facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, foreign(value, 600))]))));
}
filterBar();
apply(false);
document.getElementById("foot").append(el("p", {},
  "Bold is the best of a table. Intervals are 95 % bootstrap intervals over the queries; published rows are papers' own numbers. Made by harness site. This page asks the network for nothing."));
document.documentElement.dataset.ready = "";
