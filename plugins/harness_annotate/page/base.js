// Functions that all views use: elements that hold only text, requests, announcements, keys.

import { formatted, written } from "./text.js";

export const state = { about: null, plain: false };
const byId = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text, never markup. */
export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  // one by one: a call takes only so many arguments, and a text may have any number of parts
  for (const child of children.flat(Infinity)) if (child != null && child !== false) node.append(child);
  return node;
}

/** A key as it is shown on the keyboard. */
export const key = (name) => el("kbd", {}, name);

export function announce(text) { byId("live").textContent = text; }

export function fail(text) {
  byId("error").textContent = text ?? "";
  byId("error").hidden = !text;
}

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

/** Sends a request to the server, again and again while the server does not answer. This is safe: the server
 * refuses an answer that it has stored already. */
export async function ask(path, body = {}) {
  for (let wait = 500; ; wait = Math.min(wait * 1.5, 4000)) {
    let response;
    try {
      response = await fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": state.about?.csrf ?? "" },
        body: JSON.stringify(body),
      });
    } catch {
      fail("The server does not answer. Nothing is lost; trying again…");
      await new Promise((done) => setTimeout(done, wait));
      continue;
    }
    const data = await response.json().catch(() => ({ error: `the server failed (${response.status})` }));
    if (response.ok) { fail(null); return data; }
    throw new Refused(response.status, data.error);
  }
}

/** Runs one action at a time: a second key press while the first is being stored does nothing. */
let busy = false;
export async function alone(work) {
  if (busy) return;
  busy = true;
  document.body.classList.add("busy");
  try { await work(); } catch (error) {
    fail(error.message);
    throw error;
  } finally {
    busy = false;
    document.body.classList.remove("busy");
  }
}

/** The query, and the passage with its document around it. `again` draws the page anew. */
export function texts(pair, open, toggle, again) {
  const { language, queryLanguage } = state.about;
  const rest = pair.passages - 1;
  const shown = open || !rest;
  const around = (items) => items.map((text) => el("div", { class: "around", lang: language, dir: "auto" },
    written(text, pair.words, state.plain)));
  const markup = [pair.passage, ...(shown ? [...pair.before, ...pair.after] : [])].some(formatted);
  return el("article", { class: "texts" },
    el("p", { class: "eyebrow" }, "Query"),
    el("h1", { id: "query", lang: queryLanguage, dir: "auto", tabindex: "-1" }, pair.query),
    el("div", { class: "paper" },
      el("div", { class: "title" },
        pair.title ? el("h2", { lang: language, dir: "auto" }, pair.title) : el("h2", { class: "soft" }, "Untitled document"),
        markup ? el("button", { class: "quiet", id: "plain", "aria-pressed": String(state.plain), onclick: () => asWritten(again) },
          "As written ", key(".")) : null,
        rest ? el("button", { class: "quiet", "aria-expanded": String(open), onclick: toggle },
          open ? "Hide the document" : `Show the document (${rest} more)`, " ", key("d")) : null),
      shown ? around(pair.before) : pair.before.length ? el("p", { class: "gap", "aria-hidden": "true" }, "⋯") : null,
      el("div", { id: "passage", class: "passage", lang: language, dir: "auto", tabindex: "0" },
        written(pair.passage, pair.words, state.plain)),
      shown ? around(pair.after) : pair.after.length ? el("p", { class: "gap", "aria-hidden": "true" }, "⋯") : null));
}

/** Switches between formatted texts and texts as they are written. */
export function asWritten(again) {
  state.plain = !state.plain;
  again();
}

/** Moves to the passage, which the document around it may have pushed far down. */
export function toPassage() {
  const passage = document.getElementById("passage");
  passage.scrollIntoView({ block: passage.offsetHeight > window.innerHeight * .7 ? "start" : "center" });
  passage.focus({ preventScroll: true });
}

export const gradeName = (grade) => state.about.scheme.grades.find((item) => item.grade === grade)?.name;
export const labelName = (label) => state.about.scheme.labels.find((item) => item.label === label)?.name;

/** "2 Partly answers, Acronym" */
export function said(choice) {
  if (!choice) return "skipped";
  const names = (choice.labels ?? []).map(labelName);
  const grade = gradeName(choice.grade);
  if (grade !== undefined) names.unshift(`${choice.grade} ${grade}`);
  return names.join(", ") || String(choice.grade);
}

export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
export const show = (...nodes) => byId("work").replaceChildren(...nodes.filter(Boolean));

export function bar(done, all) {
  const share = all ? done / all : 1;
  const inner = el("span");
  inner.style.width = `${100 * share}%`;
  return el("div", { class: "bar", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": all, "aria-valuenow": done,
    "aria-label": "pairs done by everybody" }, inner);
}

export function head(progress, left) {
  const { pool, split, person, role } = state.about;
  const parts = [
    el("div", { class: "where" }, el("strong", {}, el("bdi", {}, pool)), el("span", { class: "soft" }, ` ${split}`)),
    progress ? bar(progress.done, progress.pairs) : el("span", { class: "grow" }),
    progress ? el("span", { class: "count" }, `${progress.done} of ${progress.pairs} done, ${progress.mine} by you`,
      left ? el("span", { id: "left" }, `, ${left}`) : null) : null,
    el("span", { class: "person" }, el("bdi", {}, person), role === "reviewer" ? " (reviewer)" : ""),
    el("button", { class: "quiet", id: "keys", onclick: () => byId("help").showModal() }, "Keys ", key("?")),
  ];
  byId("head").replaceChildren(...parts.filter(Boolean));
}

/** Sets the rows of the help: [keys, words]. */
export function help(rows) {
  byId("help").replaceChildren(
    el("h2", {}, "Keys"),
    el("dl", {}, rows.map(([keys, words]) => el("div", {}, el("dt", {}, keys.map(key)), el("dd", {}, words)))),
    el("form", { method: "dialog" }, el("button", { autofocus: true }, "Close")));
}

/** Calls `keys(name, event)` for each key that is not typed into a field. */
export function listen(keys) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "Enter" && event.target.matches("textarea")) event.target.blur();
    if (event.key === "Escape" && event.target.matches("textarea")) { event.target.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, input, select")) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "?") { byId("help").showModal(); return; }
    if (event.key === "Enter" && event.target.matches("button, a, summary")) return;
    if (event.repeat) return;
    if (keys(event.key.length === 1 ? event.key.toLowerCase() : event.key)) event.preventDefault();
  });
}
