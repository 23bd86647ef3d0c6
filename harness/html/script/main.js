// Puts the parts on the page, and renders them again when another dataset or measure is chosen.

const main = document.getElementById("main");
const places = new Map();

function pick(dataset) {
  state.dataset = dataset;
  const { rows, primary } = board.datasets[dataset];
  const labels = board.columns.map((column) => column.label).filter((label) => rows.some((row) => row.measures[label]));
  if (!labels.includes(state.measure)) {
    state.measure = primary ?? labels[0] ?? board.columns[0]?.label ?? "";
    order.results = {};
  }
  const best = rows.filter((row) => row.measures[primary] && row.origin !== "published") // a published row has no values of queries
    .toSorted((x, y) => y.measures[primary][0] - x.measures[primary][0]);
  [state.a, state.b] = [best[0]?.index ?? 0, best[1]?.index ?? 0];
  return labels;
}

function render() {
  filters.length = 0;
  drawn.clear();
  for (const { id, title, render: fill } of sections) {
    const body = el("div", {});
    fill(body);
    const place = places.get(id);
    place.hidden = !body.firstChild;
    place.replaceChildren(el("h2", {}, title), body);
    contents.get(id).hidden = place.hidden;
  }
  applyFilter(false);
}

function bar() {
  const form = document.getElementById("bar");
  const labels = pick(state.dataset);
  const measure = (names) => choice("Measure", names.map((name) => [name, name]), state.measure, (value) => {
    state.measure = value;
    order.results = {};
    render();
  });
  let measures = measure(labels);
  const datasets = choice("Dataset", board.datasets.map(({ card }, i) => [i, card.name]), state.dataset, (value) => {
    const next = measure(pick(Number(value)));
    measures.replaceWith(next);
    measures = next;
    render();
  });
  const filter = el("input", { type: "search", id: "filter", placeholder: "part of a name", oninput: () => {
    state.filter = filter.value.trim().toLowerCase();
    applyFilter(true);
  } });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(datasets, measures, el("label", { class: "field" }, el("span", {}, "Filter systems"), filter));
}

const contents = new Map();

function head() {
  const systems = new Set(board.rows.map((row) => row.system)).size;
  const failed = board.rows.filter((row) => row.status !== "ok").length;
  const links = sections.map(({ id, title }) => {
    const item = el("li", {}, el("a", { href: `#${id}` }, title));
    contents.set(id, item);
    return item;
  });
  document.getElementById("head").append(...[
    el("h1", {}, foreign(board.name)),
    board.description ? el("p", { class: "description" }, foreign(board.description, 4000)) : null,
    el("p", { class: "lead" }, `${plural(systems, "system")}, ${plural(board.datasets.length, "dataset")}`,
      failed ? `, ${plural(failed, "failed row")}` : "", board.suite.protocol ? [", protocol ", foreign(board.suite.protocol)] : null),
    el("nav", { "aria-label": "Contents" }, el("ul", {}, links)),
  ].filter(Boolean));
  const version = board.environment["passage-harness"];
  document.getElementById("foot").append(el("p", {}, `Made by harness report${version ? ` of passage-harness ${short(version, 40)}` : ""}. This file asks the network for nothing.`));
}

head();
main.replaceChildren(...sections.map(({ id }) => {
  const place = el("section", { id });
  places.set(id, place);
  return place;
}));
if (board.datasets.length) {
  bar();
  render();
} else {
  main.append(el("p", { class: "note" }, "This leaderboard has no dataset."));
}
document.documentElement.dataset.ready = "";
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.card")) details.open = true;
});
