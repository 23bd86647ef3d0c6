// The table of one dataset, the table across datasets, effectiveness against cost, slices.

const order = { results: {}, averages: {}, across: {}, slices: {} };
const filters = []; // filters of the tables on the page; each hides the rows that do not match the search

function wanted(row) {
  return row.system.toLowerCase().includes(state.filter);
}

function applyFilter(tell) {
  let shown = null;
  for (const filter of filters) shown = shown ?? filter(wanted);
  for (const filter of filters.slice(1)) filter(wanted);
  if (tell && shown != null) announce(`${plural(shown, "system")} shown`);
}

section("results", "Results", (body) => {
  const dataset = board.datasets[state.dataset];
  const rows = dataset.rows;
  const labels = board.columns.map((column) => column.label)
    .filter((label) => rows.some((row) => row.measures[label]));
  const best = Object.fromEntries(labels.map((label) =>
    [label, Math.max(...rows.map((row) => row.measures[label]?.[0] ?? -Infinity))]));
  const table = sortable(`Results on ${short(dataset.card.name, 80)}`, [
    { label: "system", value: (row) => row.system, cell: systemCell },
    ...intervalColumn(rows),
    ...labels.map((label) => ({
      label, says: columnOf(label)?.says, number: true,
      value: (row) => row.measures[label]?.[0],
      cell: (row) => measureCell(row, label, best[label]),
    })),
    ...judgedColumn(dataset),
    costColumn(rows, "seconds", "seconds", "wall-clock time of the row's own steps"),
    costColumn(rows, "search_latency_ms.p50", "ms a query", "median time of one query"),
  ].filter(Boolean), rows, keptOrder());
  filters.push(table.filter);
  const counts = dataset.card.counts;
  body.append(el("p", { class: "lead" }, foreign(dataset.card.name), `, ${dataset.card.split}`,
    counts.judged_queries ? `: ${plural(counts.judged_queries, "judged query", "judged queries")}` : null,
    counts.passages ? ` over ${plural(counts.passages, "passage")}.` : ".",
    " Means with 95 % bootstrap intervals; the best of a column is bold.",
    board.tiersSaid ? ` ${board.tiersSaid}` : null));
  body.append(table.node);
  for (const row of rows) {
    if (row.error) body.append(el("p", { class: "note bad" }, foreign(row.system), " failed: ", foreign(row.error, 2000)));
    for (const flag of row.flags) body.append(el("p", { class: "note" }, foreign(row.system), ": ", foreign(flag, 2000), "."));
  }
});

function keptOrder() {
  if (!order.results.by) Object.assign(order.results, { by: state.measure, down: true });
  return order.results;
}

function systemCell(row) {
  const marks = [];
  if (row.unit === "document") marks.push(el("span", { class: "mark" }, "documents"));
  if (row.origin !== "run") marks.push(el("span", { class: "mark" }, row.origin));
  if (row.status !== "ok") marks.push(el("span", { class: "mark bad" }, "failed"));
  return [foreign(row.system), ...marks, el("small", {}, el("button", {
    type: "button", class: "quiet details", onclick: () => openRow(row),
    "aria-label": `Details of ${short(row.system, 80)}, and how to reproduce it`,
  }, "details"))];
}

function measureCell(row, label, best) {
  const found = row.measures[label];
  if (!found) return [];
  const [mean, low, high, , digits] = found; // a published mean has no interval, but a number of digits
  const letters = row.tiers[label];
  return [
    el(mean === best ? "b" : "span", {}, digits == null ? score(mean) : mean.toFixed(digits)),
    letters ? el("span", { class: "tier", title: "systems that share a letter cannot be told apart" }, short(letters, 12)) : null,
    low === null ? null : el("small", {}, `${low.toFixed(3)} – ${high.toFixed(3)}`),
  ];
}

/** A column that draws the interval of the chosen measure; the numbers are in the measure's own column. */
function intervalColumn(rows) {
  const known = rows.map((row) => ends(row.measures[state.measure])).filter(Boolean);
  if (!known.length) return [];
  const low = Math.min(...known.map((item) => item[1]));
  const range = Math.max(...known.map((item) => item[2])) - low || 1;
  const place = (value) => `${(100 * (value - low)) / range}%`;
  return [{ label: `${short(state.measure, 30)}, drawn`, look: "drawn", cell: (row) => {
    const found = ends(row.measures[state.measure]);
    if (!found) return [];
    const line = el("i", { class: "line" });
    const dot = el("i", { class: "dot" });
    line.style.left = place(found[1]);
    line.style.width = `${(100 * (found[2] - found[1])) / range}%`;
    dot.style.left = place(found[0]);
    return el("div", { class: "interval", "aria-hidden": "true" }, line, dot);
  } }];
}

/** A mean with the ends of its interval. Without an interval, both ends are the mean itself. */
function ends(found) {
  return found && [found[0], found[1] ?? found[0], found[2] ?? found[0]];
}

function costColumn(rows, key, label, says) {
  if (!rows.some((row) => row.cost[key] != null)) return null;
  return { label, says, number: true, value: (row) => row.cost[key], cell: (row) => amount(row.cost[key]) };
}

function judgedColumn(dataset) {
  if (!dataset.judged?.some((share) => share != null)) return [];
  return [{
    label: "judged@10", says: "the share of the first 10 results that have a judgement, over all judged queries", number: true,
    value: (row) => dataset.judged[row.index], cell: (row) => score(dataset.judged[row.index]).slice(0, 5),
  }];
}

section("averages", "Averages", (body) => {
  for (const average of board.averages) {
    const labels = board.columns.map((column) => column.label)
      .filter((label) => average.rows.some((row) => row.measures[label]));
    if (!labels.length) continue;
    const best = Object.fromEntries(labels.map((label) =>
      [label, Math.max(...average.rows.map((row) => row.measures[label]?.[0] ?? -Infinity))]));
    const table = sortable(`Average ${short(average.name, 80)}`, [
      { label: "system", value: (row) => row.system, cell: (row) =>
        [foreign(row.system), row.origin === "run" ? null : el("span", { class: "mark" }, row.origin)] },
      ...labels.map((label) => ({
        label, says: columnOf(label)?.says, number: true,
        value: (row) => row.measures[label]?.[0],
        cell: (row) => measureCell(row, label, best[label]),
      })),
    ], average.rows, order.averages[average.name] ??= {});
    filters.push(table.filter);
    body.append(el("p", { class: "lead" }, foreign(average.name), ": the mean of the datasets ",
      average.datasets.flatMap((name, i) => [i ? ", " : null, foreign(name)]),
      ", for systems that have them all. The intervals resample the queries within each dataset."), table.node);
  }
});

section("across", "Across datasets", (body) => {
  if (board.datasets.length < 2) return;
  const systems = new Map();
  for (const row of board.rows) {
    const system = row.origin === "run" ? row.system : `${row.system} (${row.origin})`;
    if (!systems.has(system)) systems.set(system, { system, found: [] });
    systems.get(system).found[row.dataset] = row.measures[state.measure]?.[0];
  }
  const used = board.datasets.map((_, i) => i)
    .filter((i) => board.datasets[i].rows.some((row) => row.measures[state.measure]));
  if (!used.length) return;
  const rows = [...systems.values()];
  for (const row of rows) {
    const values = used.map((i) => row.found[i]);
    row.mean = values.every((value) => value != null) ? values.reduce((x, y) => x + y, 0) / values.length : null;
  }
  const most = Math.max(...rows.map((row) => row.mean ?? -Infinity));
  const best = used.map((i) => Math.max(...rows.map((row) => row.found[i] ?? -Infinity)));
  const table = sortable(`${state.measure} of every system on every dataset`, [
    { label: "system", value: (row) => row.system, cell: (row) => foreign(row.system) },
    { label: "mean", says: "over the datasets; only of systems that have them all", number: true,
      value: (row) => row.mean, cell: (row) => el(row.mean === most ? "b" : "span", {}, score(row.mean)) },
    ...used.map((i, at) => ({
      label: board.datasets[i].card.name, number: true, value: (row) => row.found[i],
      cell: (row) => el(row.found[i] === best[at] ? "b" : "span", {}, score(row.found[i])),
    })),
  ], rows, order.across);
  filters.push(table.filter);
  body.append(el("p", { class: "lead" }, foreign(state.measure),
    ` on ${used.length} datasets. The mean is over all of them, and left empty for a system that lacks one.`), table.node);
});

let spent = "seconds";

section("cost", "Effectiveness against cost", (body) => {
  const rows = board.datasets[state.dataset].rows;
  const kinds = Object.entries(board.costs).filter(([key]) => rows.some((row) => row.cost[key] > 0));
  if (!kinds.length || !rows.some((row) => row.measures[state.measure])) return;
  if (!kinds.some(([key]) => key === spent)) spent = kinds[0][0];
  const place = el("div", {});
  const show = () => {
    const points = rows.filter((row) => row.cost[spent] > 0 && row.measures[state.measure]).map((row) => {
      const [mean, low, high] = ends(row.measures[state.measure]);
      return { system: short(row.system, 60), cost: row.cost[spent], score: mean, low, high };
    });
    let best = -Infinity;
    for (const point of points.toSorted((x, y) => x.cost - y.cost || y.score - x.score)) {
      point.front = point.score > best;
      best = Math.max(best, point.score);
    }
    const front = points.filter((point) => point.front).sort((x, y) => x.cost - y.cost);
    const titles = { cost: board.costs[spent], score: state.measure, low: state.measure };
    const says = `${state.measure} against ${board.costs[spent]}. Nothing cheaper is as good as: ${front.map((point) => point.system).join(", ")}`;
    place.replaceChildren(plot(titled(board.specs.pareto, titles), points, says),
      el("p", { class: "lead" }, "On the front, cheapest first: ",
        front.flatMap((point, i) => [i ? ", " : null, foreign(point.system)]), "."));
  };
  body.append(el("div", { class: "fields" }, choice("Cost", kinds, spent, (value) => { spent = value; show(); })), place);
  show();
});

section("slices", "Slices", (body) => {
  const dataset = board.datasets[state.dataset];
  const names = Object.keys(dataset.slices);
  const rows = dataset.rows.filter((row) => names.some((name) => row.slices[name]?.[state.measure] != null));
  if (!rows.length) return;
  const table = sortable(`${state.measure} by slice`, [
    { label: "system", value: (row) => row.system, cell: (row) => foreign(row.system) },
    ...names.map((name) => ({
      label: name, number: true, look: "heat", says: `${dataset.slices[name]} queries`,
      value: (row) => row.slices[name]?.[state.measure],
      cell: (row) => heatCell(row.slices[name]?.[state.measure]),
    })),
  ], rows, order.slices);
  filters.push(table.filter);
  body.append(el("p", { class: "lead" }, foreign(state.measure), " on groups of queries: ",
    names.flatMap((name, i) => [i ? ", " : null, foreign(name), ` (${dataset.slices[name].toLocaleString("en")})`]), "."), table.node);
});

function heatCell(value) {
  if (value == null) return [];
  const cell = el("span", { class: "shade" }, value.toFixed(3));
  cell.style.setProperty("--share", `${Math.round(100 * Math.min(1, Math.max(0, value)))}%`);
  return cell;
}
