// The reviewer's view: random decided pairs of finished packages to call right or wrong, and each package's accuracy.

import { alone, announce, ask, asWritten, el, head, help, key, listen, said, show, state, texts, toPassage } from "./base.js";

let view = null;
let wrong = false; // whether the reviewer called the decision wrong, and may give the right one
let open = false;
let chosen = new Set(); // labels of the correction

const scheme = () => state.about.scheme;

export async function begin() {
  help([
    [["y"], "the decision is right"],
    [["x"], "the decision is wrong"],
    [scheme().grades.map((item) => String(item.grade)), "after x: what is right instead"],
    [scheme().labels.map((item) => item.key), "after x: the labels that are right"],
    [["Enter"], "after x: store it"],
    [["d"], "show or hide the document around the passage"],
    [["."], "show texts formatted or as they are written"],
  ].filter(([keys]) => keys.length));
  listen(press);
  await next(() => ask("/review"));
}

async function next(work) {
  await alone(async () => {
    view = await work();
    wrong = false;
    open = false;
    chosen = new Set();
    draw();
    window.scrollTo(0, 0);
    document.getElementById("query")?.focus({ preventScroll: true });
    announce(view.pair ? `Next pair. Decided: ${said(view.decision.choice)}.` : "Nothing is left to review.");
  });
}

function draw() {
  head(null);
  if (view.pair) show(texts(view.pair, open, toggle, draw), panel());
  else {
    show(el("section", { class: "done" },
      el("h1", { id: "query", tabindex: "-1" }, "Nothing is left to review now"),
      packages(),
      el("div", { class: "actions" }, el("button", { onclick: () => next(() => ask("/review")).catch(() => {}) }, "Look again"))));
  }
}

function toggle() { open = !open; draw(); toPassage(); }

function panel() {
  const { choice, comments } = view.decision;
  return el("aside", { class: "panel", "aria-label": "Your review" },
    el("p", { class: "eyebrow" }, "Decided by the annotators"),
    el("p", { class: "decision", id: "decision" }, said(choice)),
    comments.length ? el("ul", { class: "comments" }, comments.map((text) => el("li", { dir: "auto" }, text))) : null,
    wrong ? correction() : el("div", { class: "choices decide", role: "group", "aria-label": "Verdict" },
      verdict("y", "Right", () => send(true)), verdict("x", "Wrong", () => { wrong = true; draw(); })),
    packages());
}

function verdict(name, word, work) {
  return el("button", { class: "choice", "data-key": name, onclick: work }, key(name), el("span", {}, el("strong", {}, word)));
}

function correction() {
  const options = scheme().grades.map((item) => option(String(item.grade), item, false, () => send(false, { grade: item.grade })));
  const labels = scheme().grades.length ? [] : scheme().labels.map((item) => option(
    item.key, item, chosen.has(item.label), () => mark(item)));
  return el("div", { class: "choices decide", role: "group", "aria-label": "What is right" },
    el("p", { class: "eyebrow" }, "What is right instead?"), options, labels,
    el("button", { class: "quiet", onclick: store }, chosen.size ? "Store " : "I only know that it is wrong ", key("Enter")));
}

function option(name, item, on, work) {
  return el("button", { class: "choice", "aria-pressed": String(on), "data-key": name, onclick: work },
    key(name), el("span", {}, el("strong", {}, item.name)));
}

function mark(item) {
  if (!chosen.delete(item.label)) chosen.add(item.label);
  draw();
}

function store() {
  if (!chosen.size) { send(false); return; }
  const labels = [...chosen];
  const grade = scheme().labels.find((item) => item.label === labels[0]).grade;
  send(false, { grade, labels });
}

function send(right, choice = null) {
  next(() => ask("/verdict", { pair: view.pair.number, right, choice })).catch(() => {});
}

const WORDS = { judging: "being judged", review: "in review", accepted: "accepted", revise: "below the threshold" };

function packages() {
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  return el("div", { class: "wide" }, el("table", {},
    el("caption", {}, `Packages; accepted from ${percent(state.about.threshold)}`),
    el("thead", {}, el("tr", {}, ["package", "judged", "checked", "accuracy", "state"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, view.packages.map((item) => el("tr", { "data-standing": item.standing },
      el("th", { scope: "row" }, String(item.number + 1)),
      el("td", {}, `${item.done}/${item.pairs}`),
      el("td", {}, `${item.reviewed[state.about.person] ?? 0}/${item.sample}`),
      el("td", {}, item.accuracy === null ? "" : percent(item.accuracy)),
      el("td", {}, WORDS[item.standing], item.standing === "revise"
        ? el("button", { class: "quiet", onclick: () => giveBack(item.number) }, "Have it judged again") : null))))));
}

function giveBack(number) {
  if (window.confirm(`Have package ${number + 1} judged again? Its votes stay in the log and no longer count.`)) {
    next(() => ask("/return", { package: number })).catch(() => {});
  }
}

function press(name) {
  if (!view?.pair) return false;
  const grade = scheme().grades.find((item) => String(item.grade) === name);
  const label = scheme().labels.find((item) => item.key === name);
  if (name === "d") toggle();
  else if (name === ".") asWritten(draw);
  else if (!wrong && name === "y") send(true);
  else if (!wrong && name === "x") { wrong = true; draw(); }
  else if (wrong && grade) send(false, { grade: grade.grade });
  else if (wrong && label && !scheme().grades.length) mark(label);
  else if (wrong && name === "Enter") store();
  else if (wrong && name === "Escape") { wrong = false; draw(); }
  else return false;
  return true;
}
