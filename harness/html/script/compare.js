// Compares two systems, query by query.

section("compare", "Two systems, query by query", (body) => {
  const dataset = board.datasets[state.dataset];
  const rows = dataset.rows.filter((row) => row.measures[dataset.primary]);
  if (rows.length < 2) return;
  const options = rows.map((row) => [row.index, row.system]);
  const place = el("div", { "aria-live": "polite" });
  const show = async () => {
    const [a, b] = [dataset.rows[state.a], dataset.rows[state.b]];
    const [value, ids, evidence] = await Promise.all([valuesOf(state.dataset), json(`ids-${state.dataset}`), json(`evidence-${state.dataset}`)]);
    if (!place.isConnected || dataset !== board.datasets[state.dataset]) return;
    place.replaceChildren(...difference(dataset, a, b, value, ids, new Map(evidence.queries.map((item) => [item.id, item.text]))), ...forest(dataset, rows, a, value));
  };
  const set = (name) => (chosen) => {
    state[name] = Number(chosen);
    show();
    document.dispatchEvent(new Event("pair"));
  };
  body.append(el("p", { class: "lead" }, foreign(dataset.primary), ` of each query${rounding(dataset)}.`),
    el("div", { class: "fields" }, choice("System A", options, state.a, set("a")), choice("System B", options, state.b, set("b"))), place);
  show();
});

function rounding(dataset) {
  return dataset.values.palette ? "" : `, rounded to ${(dataset.values.step / 2).toPrecision(2)} for this page`;
}

function difference(dataset, a, b, value, ids, texts) {
  const found = [];
  for (let query = 0; query < dataset.queries; query++) {
    const [x, y] = [value(a.index, query), value(b.index, query)];
    if (x != null && y != null) found.push({ query, x, y, size: x - y });
  }
  if (!found.length) return [el("p", { class: "note" }, "The values of their queries are not kept with this leaderboard.")];
  found.sort((one, other) => other.size - one.size || one.query - other.query);
  const better = found.filter((item) => item.size > 0).length;
  const worse = found.filter((item) => item.size < 0).length;
  const mean = found.reduce((sum, item) => sum + item.size, 0) / found.length;
  const says = [`A is better on ${better.toLocaleString("en")} queries, B on ${worse.toLocaleString("en")}, `,
    `and ${(found.length - better - worse).toLocaleString("en")} are equal. Mean difference ${mean >= 0 ? "+" : "−"}${Math.abs(mean).toFixed(4)}.`].join("");
  const spec = titled(board.specs.difference, { difference: `A − B, ${dataset.primary}` });
  return [
    el("p", { id: "verdict" }, says, " ", ...chance(a.tiers[dataset.primary], b.tiers[dataset.primary])),
    el("div", { class: "pair" }, plot(spec, sampled(found), says),
      plot(titled(board.specs.pairs, { x: `A: ${short(a.system, 40)}`, y: `B: ${short(b.system, 40)}` }), scattered(found, ids), says)),
    el("p", { class: "lead" }, "First the differences of all queries, then their scores: the larger a point, the more queries have these two scores, and above the dashed line B is better."),
    el("div", { class: "pair" },
      mostDifferent("Where A is better", found.slice(0, better), ids, texts), mostDifferent("Where B is better", found.slice(found.length - worse).reverse(), ids, texts)),
  ];
}

/** The queries as points, one for each pair of scores. */
function scattered(found, ids) {
  const points = Map.groupBy(found, ({ x, y }) => `${x} ${y}`);
  return [...points.values()].map((items) => ({ x: items[0].x, y: items[0].y, queries: items.length, query: short(ids[items[0].query], 80) }));
}

/** The mean differences of all systems from A over the queries that both have, with 95 % intervals. */
function forest(dataset, rows, a, value) {
  const points = rows.filter((row) => row !== a).map((row) => {
    const sizes = [];
    for (let query = 0; query < dataset.queries; query++) {
      const [x, y] = [value(row.index, query), value(a.index, query)];
      if (x != null && y != null) sizes.push(x - y);
    }
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    const error = Math.sqrt(sizes.reduce((sum, size) => sum + (size - mean) ** 2, 0) / (sizes.length - 1) / sizes.length);
    return { system: short(row.system, 60), difference: mean, low: mean - 1.96 * error, high: mean + 1.96 * error };
  }).filter(({ low }) => Number.isFinite(low)).sort((x, y) => y.difference - x.difference);
  if (points.length < 2) return [];
  const says = `Differences from ${short(a.system, 60)}: ${points.map(({ system, difference }) => `${system} ${difference >= 0 ? "+" : "−"}${Math.abs(difference).toFixed(4)}`).join(", ")}`;
  return [el("h3", {}, "Every system against A"), plot(titled({ ...board.specs.forest, height: 24 * points.length }, { difference: `${dataset.primary}, difference from A`, low: `${dataset.primary}, difference from A` }), points, says),
    el("p", { class: "lead" }, "Mean differences over queries with 95 % intervals (normal approximation, each system alone). Points whose interval holds 0 are pale.")];
}

/** Whether the difference could be chance. The tiers of the two systems say it, where they stand in the table. */
function chance(a, b) {
  if (!a || !b) return [el("code", {}, "harness compare"), " tells whether it could be chance."];
  const letters = (text) => text.match(/[a-z]\d*/g);
  const shared = letters(a).some((letter) => letters(b).includes(letter));
  return [shared ? "They share a tier: the difference could be chance." : "They share no tier: the difference is significant."];
}

/** At most 600 of the sorted differences, including the first and the last. */
function sampled(found) {
  const most = 600;
  const step = Math.max(1, found.length / most);
  const points = [];
  for (let at = 0; at < found.length; at += step) {
    points.push({ share: (100 * Math.floor(at)) / found.length, difference: found[Math.floor(at)].size });
  }
  points.push({ share: 100, difference: found.at(-1).size });
  return points;
}

function mostDifferent(title, found, ids, texts) {
  const rows = found.slice(0, 10).map((item) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "quiet", onclick: () => openQuery(item.query) }, foreign(ids[item.query], 80),
      texts.get(ids[item.query]) ? el("span", { class: "text", dir: "auto" }, short(texts.get(ids[item.query]), 100)) : null)),
    el("td", { class: "number" }, score(item.x)), el("td", { class: "number" }, score(item.y)),
    el("td", { class: "number" }, `${item.size > 0 ? "+" : "−"}${Math.abs(item.size).toFixed(4)}`)));
  const head = ["query", "A", "B", "A − B"].map((text, i) => el("th", { scope: "col", class: i ? "number" : null }, text));
  return el("div", {}, el("h3", {}, title), rows.length
    ? el("div", { class: "wide" }, el("table", {}, el("caption", { class: "unseen" }, title), el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)))
    : el("p", { class: "lead" }, "On no query."));
}
