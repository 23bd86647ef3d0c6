// Tuning curves, further analyses, identity cards, what the columns mean, how the leaderboard was made.

section("tuning", "Tuned weights", (body) => {
  const dataset = board.datasets[state.dataset];
  const tuned = dataset.rows.flatMap((row) => row.tuning.map((item) => ({ row, item })));
  const groups = Map.groupBy(tuned, ({ item }) => `${item.parameter}, ${item.measure} on ${item.on}`);
  for (const [name, items] of groups) {
    const values = items.flatMap(({ row, item }) => item.values.map((x, i) => ({ x, y: item.curve[i], series: short(row.system, 60) })));
    const says = items.map(({ row, item }) => `${short(row.system, 60)}: ${item.value ?? `${(item.folds ?? []).join(", ")} across folds`}`).join("; ");
    if (values.some(({ x }) => typeof x === "string")) { // several parameters share no axis
      body.append(el("h3", {}, foreign(name)), el("p", { class: "lead" }, "Chosen: ", foreign(says, 2000)));
      for (const { row, item } of items) {
        const cells = item.values.map((text, i) => [...String(text).split(", ").map((part) => part.split("=")), item.curve[i]]);
        if (!cells.every((cell) => cell.length === 3)) continue; // a heat map has two parameters
        const fields = cells.map(([x, y, series]) => ({ x: x[1], y: y[1], series }));
        if (new Set(fields.map(({ x }) => x)).size < 2 || new Set(fields.map(({ y }) => y)).size < 2) continue;
        body.append(el("h4", {}, foreign(row.system, 60)),
          plot(titled(board.specs.heat, { x: cells[0][0][0], y: cells[0][1][0], series: item.measure }), fields, `${item.measure} over ${item.parameter}`));
      }
      const best = [...values].sort((one, two) => two.y - one.y).slice(0, 50);
      body.append(sortable(short(name), [
        { label: "system", value: (row) => row.series, cell: (row) => foreign(row.series, 60) },
        { label: "values", value: (row) => row.x, cell: (row) => foreign(row.x, 200) },
        { label: "score", number: true, value: (row) => row.y, cell: (row) => amount(row.y) },
      ], best, {}).node);
      continue;
    }
    body.append(el("h3", {}, foreign(name)),
      plot(titled(board.specs.curves, { x: items[0].item.parameter, y: items[0].item.measure }), values, `${name}. Chosen: ${says}`),
      el("p", { class: "lead" }, "Chosen: ", foreign(says, 2000)));
  }
});

section("analyses", "Analyses", (body) => {
  const name = board.datasets[state.dataset].card.name;
  for (const analysis of board.analyses) {
    if (analysis.dataset != null && analysis.dataset !== name) continue;
    body.append(el("h3", {}, foreign(analysis.title)));
    if (analysis.says) body.append(el("p", { class: "lead" }, foreign(analysis.says, 2000)));
    for (const flag of analysis.flags) body.append(el("p", { class: "note" }, foreign(flag, 2000)));
    const table = sortable(short(analysis.title), analysis.columns.map((label, i) => ({
      label, number: analysis.rows.every((row) => row[i] == null || typeof row[i] === "number"),
      value: (row) => row[i], cell: (row) => (typeof row[i] === "number" ? amount(row[i]) : foreign(row[i] ?? "", 600)),
    })), analysis.rows, {});
    if (!analysis.spec) {
      body.append(table.node);
      continue;
    }
    const { data, ...spec } = analysis.spec;
    body.append(plot(spec, data.values, analysis.title),
      el("details", { class: "all" }, el("summary", {}, "The same as a table"), table.node));
  }
});

section("cards", "Datasets", (body) => {
  for (const { card } of board.datasets) {
    const said = {
      split: card.split, plugin: card.plugin, language: card.language, "language of queries": card.query_language,
      licence: card.licence, citation: card.citation, "where it is from": card.url, ...card.params,
    };
    body.append(el("details", { class: "card", open: board.datasets.length < 3 }, el("summary", {}, foreign(card.name)),
      facts("What it is", Object.fromEntries(Object.entries(said).filter(([, value]) => value))),
      facts("What was counted", card.counts), facts("Digests", card.digests)));
  }
});

section("columns", "What the columns mean", (body) => {
  body.append(el("dl", {}, board.columns.flatMap((column) => [el("dt", {}, foreign(column.label)),
    el("dd", {}, foreign(column.says || `${column.measure}, as ir-measures defines it, over all judged queries`, 4000))])));
});

section("made", "How it was made", (body) => {
  const told = el("span", { role: "status", class: "lead" });
  if (board.suiteText) {
    const source = el("pre", { tabindex: "0" }, board.suiteText);
    body.append(el("h3", {}, "The suite"), el("p", {},
      el("button", { type: "button", onclick: () => copy(board.suiteText, source, told) }, "Copy"), " ", told), source);
  }
  const { text, ...suite } = board.suite;
  body.append(...[facts("The suite's settings", suite), facts("Where it ran", board.environment)].flat().filter(Boolean));
});
