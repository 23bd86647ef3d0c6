// The inspector: searches for a query, and shows the hits of two systems with judgements and texts.

const LISTED = 50;
let looked = { dataset: null, query: null };
let openQuery = () => {};

section("queries", "Queries", (body) => {
  const number = state.dataset;
  const dataset = board.datasets[number];
  if (!dataset.queries) return;
  if (looked.dataset !== number) looked = { dataset: number, query: null };
  const list = el("ul", { class: "found", "aria-label": "Queries found" });
  const count = el("p", { class: "lead", role: "status" });
  const panel = el("div", { class: "panel", id: "panel", tabindex: "-1" });
  const input = el("input", { type: "search", id: "query-search", placeholder: "id or words of the query", oninput: () => show() });
  const show = async () => {
    const [ids, evidence] = await Promise.all([json(`ids-${number}`), json(`evidence-${number}`)]);
    const texts = new Map(evidence.queries.map((item) => [item.id, item]));
    const words = input.value.trim().toLowerCase();
    // queries with evidence come first, in the order of the evidence: systems differ most on them
    const place = new Map(ids.map((id, i) => [id, i]));
    const ahead = evidence.queries.map((item) => place.get(item.id)).filter((i) => i != null);
    const all = [...ahead, ...ids.keys().filter((i) => !texts.has(ids[i]))];
    const hits = words
      ? all.filter((i) => ids[i].toLowerCase().includes(words) || texts.get(ids[i])?.text?.toLowerCase().includes(words))
      : all;
    count.textContent = `${plural(hits.length, "query", "queries")} found${hits.length > LISTED ? `, the first ${LISTED} listed` : ""}`;
    list.replaceChildren(...hits.slice(0, LISTED).map((i) => el("li", {}, el("button", {
      type: "button", class: "pick", "aria-current": i === looked.query ? "true" : null, onclick: () => openQuery(i),
    }, foreign(ids[i], 60), texts.has(ids[i])
      ? el("span", { class: "text", dir: "auto" }, short(texts.get(ids[i]).text ?? "ranking only", 140)) : null))));
  };
  const look = async (focus) => {
    const [ids, evidence, value] = await Promise.all([json(`ids-${number}`), json(`evidence-${number}`), valuesOf(number)]);
    if (looked.query == null || number !== state.dataset) return;
    const found = evidence.queries.find((item) => item.id === ids[looked.query]);
    const own = (row) => value(row.index, looked.query);
    panel.replaceChildren(...inspected(dataset, ids[looked.query], found, evidence, own));
    if (focus) panel.focus();
  };
  openQuery = async (query) => {
    looked.query = query;
    await look(true);
    panel.scrollIntoView({ block: "nearest" });
    for (const button of list.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    show();
  };
  pairChanged = () => look(false);
  body.append(el("p", { class: "lead" }, foreign(dataset.said, 1000)),
    el("div", { class: "inspector" },
      el("div", {}, el("label", { class: "field" }, el("span", {}, "Look for a query"), input), count, list), panel));
  panel.append(el("p", { class: "lead" }, "Choose a query to see what systems A and B found for it."));
  show();
  look(false);
});

let pairChanged = () => {};
document.addEventListener("pair", () => pairChanged());

/** The view of a query. `found` is its evidence, if the report has any; `own` gives its value for a row. */
function inspected(dataset, id, found, evidence, own) {
  const parts = [el("h3", {}, "Query ", foreign(id, 120))];
  if (found?.text != null) parts.push(el("blockquote", { dir: "auto" }, found.text || "(an empty query)", more(found.cut)));
  if (found?.slices.length) parts.push(el("p", { class: "lead" }, "Slices: ", foreign(found.slices.join(", "), 600)));
  if (found?.answers.length) parts.push(el("p", { class: "lead" }, "Answers: ", foreign(found.answers.join(" · "), 600)));
  const pair = [["A", dataset.rows[state.a]], ["B", dataset.rows[state.b]]].filter(([, row]) => row);
  parts.push(el("p", { class: "lead legend" }, "● relevant with its grade, ○ judged not relevant, · not judged; ", el("mark", {}, "added by context")));
  parts.push(el("div", { class: "pair" }, pair.map(([name, row]) => ranking(dataset, name, row, found, evidence, own(row)))));
  parts.push(everySystem(dataset, id, found, own));
  return parts;
}

function more(count) {
  return count ? el("span", { class: "cut" }, ` [… ${count.toLocaleString("en")} characters more]`) : null;
}

function ranking(dataset, name, row, found, evidence, value) {
  const parts = [el("h4", {}, `${name}: `, foreign(row.system))];
  if (value != null) parts.push(el("p", { class: "lead" }, foreign(dataset.primary), ` ${score(value)}`));
  const ranked = found?.rankings[row.index];
  if (!ranked) {
    parts.push(el("p", { class: "note" }, "Its ranking of this query is not in this report; ", el("code", {}, "harness inspect --query"), " shows it."));
    return el("div", {}, parts);
  }
  const seen = evidence.systems[row.index];
  const of = (passage) => evidence.passages[`${seen.variant} ${passage}`];
  parts.push(el("ol", { class: "hits" }, ranked.hits.map(([passage, points, grade], i) => hit(passage, points, grade, of(passage), i < 3))));
  if (!ranked.hits.length) parts.push(el("p", { class: "note" }, "Nothing was found."));
  parts.push(el("p", { class: "lead" }, ranked.positives.length ? "Relevant: " : "Nothing relevant is known.",
    ranked.positives.flatMap(([passage, , rank], i) => [i ? ", " : null, foreign(passage, 80), rank ? ` at ${rank.toLocaleString("en")}` : ` not in ${ranked.length.toLocaleString("en")}`]),
    ranked.more ? `, and ${ranked.more} more` : null));
  if (!seen.known && Object.keys(evidence.passages).length) parts.push(el("p", { class: "note" }, "The texts are without the context that this system may have read."));
  return el("div", {}, parts);
}

function hit(passage, points, grade, text, open) {
  const mark = grade == null ? "·" : grade > 0 ? `●${grade}` : "○";
  const says = grade == null ? "not judged" : grade > 0 ? `relevant, grade ${grade}` : "judged not relevant";
  const head = [el("span", { class: grade > 0 ? "grade good" : "grade", role: "img", "aria-label": says }, mark), " ",
    foreign(passage, 80), el("span", { class: "points" }, ` ${points}`)];
  if (!text) return el("li", { class: "bare" }, head);
  const [pieces, cut] = text;
  return el("li", {}, el("details", { open }, el("summary", {}, head),
    el("p", { dir: "auto" }, pieces.map(([piece, added]) => (added ? el("mark", {}, piece) : piece)), pieces.length ? null : "(empty)", more(cut))));
}

function everySystem(dataset, id, found, own) {
  const rows = dataset.rows.filter((row) => row.measures[dataset.primary]);
  const table = sortable(`Every system on query ${short(id, 80)}`, [
    { label: "system", value: (row) => row.system, cell: (row) => foreign(row.system) },
    { label: dataset.primary ?? "value", number: true, value: own, cell: (row) => score(own(row)) },
    { label: "first relevant at", number: true, value: (row) => found?.rankings[row.index]?.positives[0]?.[2],
      cell: (row) => found?.rankings[row.index]?.positives[0]?.[2]?.toLocaleString("en") ?? "" },
  ], rows, { by: dataset.primary, down: true });
  return el("details", { class: "all" }, el("summary", {}, "Every system on this query"), table.node);
}
