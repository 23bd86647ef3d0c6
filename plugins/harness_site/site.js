// Draws one page of a site: its facts, and its tables with search and filters.

const tables = [];
const chosen = { text: "", by: {} };

function place(href) {
  return `${board.root}${href}`;
}

function textOf(cell) {
  if (cell == null) return "";
  if (cell.links) return cell.links.map(({ text }) => text).join(", ");
  if (typeof cell === "object") return cell.text ?? String(cell.mean);
  return String(cell);
}

function valueOf(cell) {
  if (cell == null || cell === "") return null;
  if (typeof cell === "object") return cell.mean ?? textOf(cell).toLowerCase();
  return typeof cell === "string" ? cell.toLowerCase() : cell;
}

function drawn(cell) {
  if (cell == null) return el("span", { class: "unseen" }, "none");
  if (typeof cell === "number") return amount(cell);
  if (typeof cell !== "object") return foreign(cell);
  if (cell.links) return cell.links.map(({ text, url }, i) => [i ? ", " : null, el("a", { href: url, rel: "noreferrer" }, foreign(text, 60))]);
  if (cell.text !== undefined) {
    const link = el("a", { href: place(cell.href) }, foreign(cell.text));
    return cell.says ? [link, el("small", { class: "says" }, foreign(cell.says, 200))] : link;
  }
  const shown = cell.mean.toFixed(cell.digits);
  const beside = cell.beside ?? (cell.low == null ? null : [cell.low, cell.high].map((end) => end.toFixed(Math.min(3, cell.digits))).join(" to "));
  return [cell.best ? el("strong", { title: "the best of this table" }, shown) : shown,
    cell.tier ? el("span", { class: "tier", title: "systems that share a letter do not differ significantly" }, short(cell.tier, 12)) : null,
    beside == null ? null : el("small", {}, beside)];
}

/** The columns of a table. The column that is drawn comes before the numbers. */
function columnsOf(table) {
  const columns = table.columns.map((name, i) => ({
    label: name.replace(/^#/, ""),
    number: name.startsWith("#"),
    look: name === "methods" || name === "model" ? "words" : null,
    value: (row) => valueOf(row[i]),
    cell: (row) => (name === "#parameters" && row[i] != null ? `${Number((row[i] / 1e6).toPrecision(3))} M` : drawn(row[i])),
  }));
  if (table.drawn !== undefined) {
    const [low, high] = span(table.rows.map((row) => row[table.drawn]));
    const label = `${columns[table.drawn].label}, drawn`;
    columns.splice(1, 0, { label, look: "drawn", cell: (row) => (row[table.drawn] ? interval(row[table.drawn], low, high) : []) });
  }
  return columns;
}

/** A table with its CSV file. If it has more than `most` rows, the others are shown on demand. */
function tableOf(table, most = Infinity) {
  const by = table.sort >= 0 ? table.columns[table.sort]?.replace(/^#/, "") : null;
  const made = sortable(table.caption, columnsOf(table), table.rows, by ? { by, down: !table.ascending } : {});
  const item = { table, made, count: null };
  tables.push(item);
  const more = el("button", { type: "button", class: "quiet", onclick: () => {
    made.node.classList.remove("first");
    more.remove();
  } }, `Show all ${table.rows.length} rows`);
  if (table.rows.length > most) made.node.classList.add("first");
  return el("div", {}, made.node, el("p", { class: "after" }, table.rows.length > most ? more : null,
    el("a", { href: place(table.csv), download: true }, "CSV", el("span", { class: "unseen" }, ` of ${short(table.caption, 80)}`))));
}

function tableSection(table, number) {
  const count = el("p", { class: "lead", hidden: true });
  const body = el("div", {}, table.note ? el("p", { class: "lead" }, foreign(table.note, 400)) : null, count, tableOf(table, table.first ?? Infinity));
  tables.at(-1).count = count;
  const title = foreign(table.caption);
  return el("section", { id: `t${number}` }, table.folded
    ? folded(el("h2", {}, title, " ", el("span", { class: "small" }, plural(table.rows.length, "row"))), body)
    : [el("h2", {}, title), body]);
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
    shown += count ? kept : 0;
    if (words.length || places.length) made.node.classList.remove("first");
    if (!count) continue;
    const narrowed = kept < table.rows.length;
    if (narrowed && kept) made.node.closest("details")?.setAttribute("open", "");
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
  const home = board.front ? el("div", { class: "fields" }) : form;
  for (const name of board.filters) {
    const values = new Set();
    for (const { table } of tables) {
      const i = table.columns.indexOf(name);
      if (i > 0) table.rows.forEach((row) => values.add(textOf(row[i])));
    }
    values.delete("");
    if (values.size < 2) continue;
    const options = [["", "all"], ...[...values].sort((x, y) => x.localeCompare(y, "en")).map((value) => [value, value])];
    home.append(choice(name[0].toUpperCase() + name.slice(1), options, "", (value) => {
      chosen.by[name] = value;
      apply(true);
    }));
  }
  if (board.front) document.querySelector(`#t${board.tables.length - 1} details > div`).prepend(home);
}

const head = document.getElementById("head");
if (board.root) {
  head.append(el("p", { class: "up" }, el("a", { href: place("index.html") }, foreign(`← ${board.site}`))));
}
head.append(el("h1", {}, foreign(board.name)));
if (board.lead) head.append(el("p", { class: "description" }, foreign(board.lead, 4000)));
const { cards = [], groups = [] } = board.front ?? {};
const parts = [
  ...(cards.length ? [["best", "Best systems", () => cardSection(cards)]] : []),
  ...(groups.length ? [["ranks", "Ranks across datasets", () => rankSection(groups)]] : []),
  ...(cards.length ? [["pictures", "Cost and time", () => pictureSection(cards)]] : []),
  ...board.tables.map((table, i) => [`t${i}`, table.caption, () => tableSection(table, i)]),
];
if (parts.length > 1) {
  head.append(el("nav", { "aria-label": "Contents" }, el("ul", {}, parts.map(([id, title]) =>
    el("li", {}, el("a", { href: `#${id}`, onclick: () => document.querySelector(`#${id} > details`)?.setAttribute("open", "") }, foreign(title)))))));
}
const main = document.getElementById("main");
main.replaceChildren(...parts.map(([, , make]) => make()));
if (board.facts.length) {
  main.append(el("section", {}, el("h2", {}, "About"),
    el("dl", {}, board.facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, foreign(value, 600))]))));
}
filterBar();
apply(false);
document.getElementById("foot").append(el("p", {},
  "Bold is the best of a table. Intervals of scores are 95 % bootstrap intervals over the queries; published rows are papers' own numbers. Made by harness site. This page asks the network for nothing."));
document.documentElement.dataset.ready = "";
