// How a text is shown: Markdown and tables as elements, never as markup, and the words of the query marked.

import { el } from "./base.js";

// Texts may be hostile: no two parts of a pattern can match the same characters, and what has to be searched for is
// bounded, so that the time grows with the length of a text alone.
const ITEM = /^\s{0,3}(?:[-*+•]|\d{1,9}[.)])\s+/;
const HEADING = /^\s{0,3}#{1,6}\s+([^]*)$/;
const FENCE = /^\s{0,3}(```|~~~)/;
const INLINE = /(?<!`)(`{1,8})(?!`)(.{1,1000}?)(?<!`)\1(?!`)|\*\*(\S(?:.{0,1000}?\S)?)\*\*|__(\S(?:.{0,1000}?\S)?)__|(?<![\w*])\*(\S(?:[^*]{0,1000}?\S)?)\*(?![\w*])|!?\[([^\]\n]{0,1000})\]\(([^()\s]{0,1000}(?:\([^()\s]{0,1000}\)[^()\s]{0,1000})?)(?:\s{1,9}"[^"]{0,1000}")?\)/gu;
const SIGNS = /\*\*\S[^*]{0,1000}\*\*|`[^`\n]{1,1000}`|\[[^\]\n]{1,1000}\]\(\S{1,1000}\)/;

/** Whether a line is the rule below the head of a table, such as |:--|--:|. */
function isRule(line) {
  return line.includes("|") && line.trim().replace(/^\||\|$/g, "").split("|").every((cell) => /^:?-+:?$/.test(cell.trim()));
}

/** Whether a text has Markdown that is worth showing as such. */
export function formatted(text) {
  const lines = text.split("\n");
  return lines.some((line, i) => HEADING.test(line) || FENCE.test(line) || (i > 0 && isRule(line) && lines[i - 1].includes("|")))
    || lines.filter((line) => ITEM.test(line)).length > 1 || SIGNS.test(text);
}

/** The elements of a text, with the words marked. As written if `plain`, or if the text has no Markdown. */
export function written(text, words, plain) {
  const nodes = plain || !formatted(text) ? [el("p", {}, text)] : blocks(text.split("\n"));
  nodes.forEach((node) => mark(node, words));
  return nodes;
}

function blocks(lines) {
  const made = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at], start = at;
    const take = (test) => { while (at < lines.length && test(lines[at])) at += 1; return lines.slice(start, at); };
    if (!line.trim()) { at += 1; continue; }
    const heading = HEADING.exec(line);
    if (heading) { made.push(el("p", { class: "heading" }, inline(heading[1].trim().replace(/(?:^|\s)#+$/, "")))); at += 1; }
    else if (FENCE.test(line)) {
      at += 1;
      const inside = take((next) => !FENCE.test(next)).slice(1);
      at += 1;
      made.push(el("pre", {}, inside.join("\n")));
    } else if (line.includes("|") && isRule(lines[at + 1] ?? "")) made.push(table(take((next) => next.includes("|"))));
    else if (ITEM.test(line)) made.push(list(take((next) => ITEM.test(next) || (/^\s{2,}\S/.test(next) && !HEADING.test(next)))));
    else if (/^\s{0,3}>/.test(line)) made.push(el("blockquote", {}, inline(take((next) => /^\s{0,3}>/.test(next)).map((next) => next.replace(/^\s*>\s?/, "")).join("\n"))));
    else {
      at += 1;
      take((next) => next.trim() && !HEADING.test(next) && !FENCE.test(next) && !ITEM.test(next) && !next.includes("|"));
      made.push(el("p", {}, inline(lines.slice(start, at).join("\n"))));
    }
  }
  return made;
}

function table(rows) {
  const cells = (row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replaceAll("\\|", "|")));
  return el("div", { class: "wide" }, el("table", {},
    el("thead", {}, el("tr", {}, cells(rows[0]).map((cell) => el("th", { scope: "col" }, cell)))),
    el("tbody", {}, rows.slice(2).map((row) => el("tr", {}, cells(row).map((cell) => el("td", {}, cell)))))));
}

function list(lines) {
  const items = [];
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ""));
    else items[items.length - 1] += `\n${line.trim()}`;
  }
  return el(/^\s*\d/.test(lines[0]) ? "ol" : "ul", {}, items.map((item) => el("li", {}, inline(item))));
}

/** Strong, emphasis, code, and links, which are shown by their text and cannot be followed. */
function inline(text) {
  const made = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, bold, emphasis, label, address] = match;
    made.push(text.slice(at, match.index), code !== undefined ? el("code", {}, code)
      : strong ?? bold ? el("strong", {}, inline(strong ?? bold))
      : emphasis !== undefined ? el("em", {}, inline(emphasis))
      : el("span", { class: "link", title: address }, label || address));
    at = match.index + whole.length;
  }
  return [...made, text.slice(at)];
}

function mark(node, { forms, apart }) {
  if (!forms.length) return;
  const any = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const pattern = new RegExp(apart ? `(?<![\\p{L}\\p{N}_])(?:${any})(?![\\p{L}\\p{N}_])` : any, "gu");
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const leaves = [];
  while (walker.nextNode()) leaves.push(walker.currentNode);
  for (const leaf of leaves) {
    const pieces = document.createDocumentFragment();
    let at = 0;
    for (const match of leaf.data.matchAll(pattern)) {
      pieces.append(leaf.data.slice(at, match.index), el("mark", {}, match[0]));
      at = match.index + match[0].length;
    }
    pieces.append(leaf.data.slice(at));
    if (at) leaf.replaceWith(pieces);
  }
}
