// A dialog with all details of one row, and with what is needed to reproduce it.

async function openRow(row) {
  const dataset = board.datasets[row.dataset];
  const texts = await json(`rows-${row.dataset}`);
  const text = texts[row.index];
  const told = el("span", { role: "status", class: "lead" });
  const source = el("pre", { tabindex: "0", id: "reproduction" }, text);
  const dialog = el("dialog", { "aria-labelledby": "row-title", onclose: () => dialog.remove() },
    el("form", { method: "dialog" }, el("button", { class: "quiet close", "aria-label": "Close" }, "Close")),
    el("h2", { id: "row-title" }, foreign(row.system), " on ", foreign(dataset.card.name)),
    row.error ? el("p", { class: "note bad" }, foreign(row.error, 4000)) : null,
    row.flags.map((flag) => el("p", { class: "note" }, foreign(flag, 2000))),
    row.origin === "run" ? null : el("p", { class: "note" }, `These numbers are ${row.origin}: nothing was run for them here.`),
    facts("What it cost", row.cost), facts("How it was scored", row.scored),
    limits(row.limits),
    row.reported.map((item) => facts(`${item.step}: what ${item.method} tells`, item.facts)),
    el("h3", {}, "Reproduce it"),
    el("p", {}, el("button", { type: "button", id: "copy", onclick: () => copy(text, source, told) }, "Copy"), " ", told),
    source);
  document.body.append(dialog);
  dialog.showModal();
}

const LIMITS = {
  ceiling: ["ceiling", "of the best ranking that there is"],
  candidates: ["best order", "of the best order of what the re-ranker was given"],
  judged: ["judged", "the share of judged results among those that the column reads"],
  unjudged_removed: ["unjudged removed", "of the ranking without unjudged results"],
  unjudged_relevant: ["unjudged relevant", "if all unjudged results were relevant"],
  without_positive_left_out: ["queries with a positive", "over the queries that have a relevant passage"],
  unanswered_left_out: ["answered queries", "over the queries for which something was found"],
};

/** A table of the limits of each column: its mean under other judgements or rankings. */
function limits(found) {
  const labels = Object.keys(found ?? {});
  if (!labels.length) return null;
  const kinds = Object.keys(LIMITS).filter((kind) => labels.some((label) => found[label][kind] != null));
  return [el("h3", {}, "What its means could have been"), el("div", { class: "wide", tabindex: "0" }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "column"),
      kinds.map((kind) => el("th", { scope: "col", title: LIMITS[kind][1] }, LIMITS[kind][0])))),
    el("tbody", {}, labels.map((label) => el("tr", {}, el("th", { scope: "row" }, foreign(label, 80)),
      kinds.map((kind) => el("td", { class: "number" }, found[label][kind] == null ? "" : score(found[label][kind]))))))))];
}

function plain(value) {
  if (value == null || typeof value !== "object") return String(value ?? "none");
  if (!Object.keys(value).length) return "none";
  return Object.entries(value).map(([name, item]) => `${Array.isArray(value) ? "" : `${name} `}${plain(item)}`).join(", ");
}

function facts(title, found) {
  const pairs = Object.entries(found ?? {});
  if (!pairs.length) return null;
  return [el("h3", {}, short(title)), el("dl", {}, pairs.flatMap(([name, value]) => [el("dt", {}, foreign(name.replaceAll("_", " "), 80)),
    el("dd", {}, foreign(typeof value === "number" ? amount(value) : plain(value), 600))]))];
}

async function copy(text, source, told) {
  try {
    await navigator.clipboard.writeText(text);
    told.textContent = "copied";
  } catch { // a browser that denies the clipboard to local files
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    told.textContent = document.execCommand("copy") ? "copied" : "selected: copy it with Ctrl+C";
  }
}
