// The annotator's view: one pair, the scheme's grades and labels, undo, skip, comment.

import {
  alone, announce, ask, asWritten, el, fail, head, help, key, listen, plural, said, show, state, texts, toPassage,
} from "./base.js";

let view = null; // the last response of the server
let chosen = { grade: null, labels: new Set() };
let comment = "";
let last = null; // the last answer, and the machines' grades of its pair
let open = false; // whether the document is shown
let guide = null; // whether the guide is open
let shownAt = 0; // when the pair was shown
let spent = []; // seconds that the last answers took

const scheme = () => state.about.scheme;
const several = () => scheme().labels.length > 0;

export async function begin() {
  const rows = [
    [scheme().grades.map((item) => String(item.grade)), several() ? "choose the grade" : "give the grade"],
    [scheme().labels.map((item) => item.key), "set or remove a label"],
    [["Enter"], scheme().grades.length ? "store grade and labels" : "store the labels"],
    [["z"], "undo the last answer"],
    [["n"], "skip: the pair goes to somebody else"],
    [["c"], "write a comment; Esc leaves it"],
    [["d"], "show or hide the document around the passage"],
    [["."], "show texts formatted or as they are written"],
    [[","], "list your answers, to change one"],
    [["g"], "show or hide the guide"],
  ];
  help(rows.filter(([keys]) => keys.length && (several() || keys[0] !== "Enter")));
  guide = window.matchMedia("(min-width: 60rem)").matches;
  listen(press);
  await next(() => ask("/next"));
}

/** Gets the next pair by `work`, and draws it. If the pair now belongs to someone else, gets another. */
async function next(work) {
  await alone(async () => {
    try {
      view = await work();
    } catch (error) {
      if (error.status !== 409) throw error;
      view = await ask("/next");
      fail(error.message);
    }
    if (view.last) last = view.last;
    if (view.undone) last = null;
    chosen = { grade: view.undone?.choice?.grade ?? null, labels: new Set(view.undone?.choice?.labels ?? []) };
    comment = view.undone?.comment ?? "";
    open = false;
    shownAt = performance.now();
    draw();
    window.scrollTo(0, 0);
    document.getElementById("query")?.focus({ preventScroll: true });
    announce(view.pair ? `Next pair. ${last ? spoken() : ""}` : "Nothing is left for you.");
  });
}

const spoken = () => `Your last answer: ${said(last.choice)}. ${last.machines.map((item) => `${item.judge}: ${said(item)}.`).join(" ")}`;

function draw() {
  head(view.progress, timeLeft());
  if (!view.pair) { show(done()); return; }
  show(texts(view.pair, open, toggle, draw), panel());
}

function toggle() { open = !open; draw(); toPassage(); }

/** "about 12 min left at your pace", by the median of the last answers; pauses of over five minutes do not count. */
function timeLeft() {
  const { done: ready, pairs } = view.progress;
  if (spent.length < 5 || ready === pairs) return null;
  const seconds = [...spent].sort((a, b) => a - b)[spent.length >> 1] * (pairs - ready);
  const minutes = Math.max(1, Math.round(seconds / 60));
  return `about ${minutes < 120 ? `${minutes} min` : plural(Math.round(minutes / 60), "hour")} left at your pace`;
}

function panel() {
  return el("aside", { class: "panel", "aria-label": "Your judgement" },
    strip(),
    el("details", { class: "guide", open: guide, ontoggle: (event) => { guide = event.target.open; } },
      el("summary", {}, scheme().title, " ", key("g")), el("p", {}, scheme().guide),
      el("dl", { class: "levels" }, [...scheme().grades, ...scheme().labels].map((item) => el("div", {},
        el("dt", {}, item.name), el("dd", {}, item.text))))),
    el("label", { class: "comment" }, el("span", {}, "Comment ", key("c")),
      typed(el("textarea", { id: "comment", rows: 2, maxlength: 4000, dir: "auto",
        oninput: (event) => { comment = event.target.value; } }))),
    el("div", { class: "decide" },
      scheme().grades.length ? el("div", { class: "choices", role: "group", "aria-label": "Grades" },
        [...scheme().grades].sort((a, b) => b.grade - a.grade).map((item) => choice(
          String(item.grade), item, chosen.grade === item.grade, () => pick(item.grade)))) : null,
      several() ? el("div", { class: "choices", role: "group", "aria-label": "Labels" },
        scheme().labels.map((item) => choice(item.key, item, chosen.labels.has(item.label), () => label(item)))) : null,
      el("div", { class: "actions" },
        el("button", { class: "quiet", id: "undo", onclick: undo }, "Undo ", key("z")),
        el("button", { class: "quiet", id: "skip", onclick: skip }, "Skip ", key("n")),
        el("button", { class: "quiet", id: "mine", onclick: listAnswers }, "Your answers ", key(",")),
        several() ? el("button", { id: "store", disabled: !complete(), onclick: store }, "Store ", key("Enter")) : null)));
}

function typed(field) { field.value = comment; return field; }

function choice(name, item, on, work) {
  return el("button", { class: "choice", "aria-pressed": String(on), "data-key": name, onclick: work },
    key(name), el("span", {}, el("strong", {}, item.name), el("small", {}, item.text)));
}

/** The last answer with the machines' grades, which the server sends only after the answer is stored. */
function strip() {
  if (!last) return null;
  const machines = last.machines.map((item) => el("span", { class: item.grade === last.choice?.grade ? "machine" : "machine differs" },
    el("bdi", {}, item.judge), `: ${said(item)}`));
  return el("p", { class: "strip", id: "last" }, el("span", { class: "soft" }, "Last: "), said(last.choice), machines);
}

const complete = () => (scheme().grades.length ? chosen.grade !== null : chosen.labels.size > 0);

function pick(grade) {
  chosen.grade = grade;
  if (several()) draw(); else store();
}

function label(item) {
  if (chosen.labels.has(item.label)) chosen.labels.delete(item.label);
  else {
    const alone = item.alone || scheme().labels.some((other) => other.alone && chosen.labels.has(other.label));
    const others = scheme().labels.filter((other) => chosen.labels.has(other.label) && other.grade !== item.grade);
    if (alone) chosen.labels.clear();
    others.forEach((other) => chosen.labels.delete(other.label));
    chosen.labels.add(item.label);
  }
  draw();
}

function store() {
  if (!view.pair || !complete()) return;
  const body = { pair: view.pair.number, labels: [...chosen.labels], comment };
  if (scheme().grades.length) body.grade = chosen.grade;
  const seconds = (performance.now() - shownAt) / 1000;
  if (seconds < 300) spent = [...spent.slice(-29), seconds];
  next(() => ask("/answer", body)).catch(() => {});
}

function skip() {
  if (view.pair) next(() => ask("/skip", { pair: view.pair.number, comment })).catch(() => {});
}

function undo() { next(() => ask("/undo")).catch(() => {}); }

/** The person's own answers, each with a button that takes it back, so that it can be given anew. */
function listAnswers() {
  alone(async () => {
    const { answers } = await ask("/answers");
    const dialog = document.getElementById("answers");
    const change = (answer) => { dialog.close(); next(() => ask("/undo", { pair: answer.number })).catch(() => {}); };
    dialog.replaceChildren(
      el("h2", {}, "Your answers"),
      answers.length ? el("ol", { class: "answers" }, answers.map((answer) => el("li", {},
        el("p", { dir: "auto", lang: state.about.queryLanguage }, answer.query),
        el("p", { class: "soft", dir: "auto", lang: state.about.language }, answer.passage),
        el("p", {}, el("strong", {}, said(answer.choice)), answer.comment ? el("span", { class: "soft", dir: "auto" }, ` ${answer.comment}`) : null, " ",
          answer.reviewed ? el("span", { class: "soft" }, "reviewed")
            : el("button", { class: "quiet", onclick: () => change(answer) }, "Change"))))) : el("p", {}, "You have judged no pair yet."),
      el("form", { method: "dialog" }, el("button", { autofocus: true }, "Close")));
    dialog.showModal();
  }).catch(() => {});
}

function press(name) {
  if (name === "z") { undo(); return true; }
  if (name === ",") { listAnswers(); return true; }
  if (!view?.pair) return false;
  const grade = scheme().grades.find((item) => String(item.grade) === name);
  const mark = scheme().labels.find((item) => item.key === name);
  if (grade) pick(grade.grade);
  else if (mark) label(mark);
  else if (name === "Enter" && several()) store();
  else if (name === "n") skip();
  else if (name === "d") toggle();
  else if (name === ".") asWritten(draw);
  else if (name === "g") { guide = !guide; draw(); }
  else if (name === "c") document.getElementById("comment").focus();
  else return false;
  return true;
}

function done() {
  const { done: ready, pairs, mine } = view.progress;
  return el("section", { class: "done" },
    el("h1", { id: "query", tabindex: "-1" }, ready === pairs ? "Everything is judged" : "Nothing is left for you now"),
    strip(),
    el("p", {}, `You judged ${plural(mine, "pair")}. Thank you.`),
    ready === pairs ? null : el("p", { class: "soft" }, `${plural(pairs - ready, "pair")} wait for others. Some may come back to you.`),
    el("div", { class: "actions" },
      el("button", { onclick: () => next(() => ask("/next")).catch(() => {}) }, "Look again"),
      el("button", { class: "quiet", id: "undo", onclick: undo }, "Undo ", key("z")),
      el("button", { class: "quiet", id: "mine", onclick: listAnswers }, "Your answers ", key(","))));
}
