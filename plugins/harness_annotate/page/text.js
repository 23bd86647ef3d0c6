// How a text is shown: Markdown and tables as elements, never as markup, and the words of the query marked.

import { el } from "./base.js";

const TABLE = /^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*:?-{0,}:?\s*\|?\s*$/;
const ITEM = /^\s{0,3}(?:[-*+•]|\d{1,9}[.)])\s+/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^\s{0,3}(```|~~~)/;
const INLINE = /(`+)(.+?)\1|\*\*(\S(?:.*?\S)?)\*\*|__(\S(?:.*?\S)?)__|(?<![\w*])\*(\S(?:[^*]*?\S)?)\*(?![\w*])|!?\[([^\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)(?:\s+"[^"]*")?\)/u;

/** Whether a text has Markdown that is worth showing as such. */
export function formatted(text) {
  const lines = text.split("\n");
  return lines.some((line, i) => HEADING.test(line) || FENCE.test(line) || (i > 0 && TABLE.test(line) && lines[i - 1].includes("|")))
    || lines.filter((line) => ITEM.test(line)).length > 1 || /\*\*\S[^*]*\*\*|`[^`\n]+`|\[[^\]\n]+\]\(\S+\)/.test(text);
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
    if (heading) { made.push(el("p", { class: "heading" }, inline(heading[2]))); at += 1; }
    else if (FENCE.test(line)) {
      at += 1;
      const inside = take((next) => !FENCE.test(next)).slice(1);
      at += 1;
      made.push(el("pre", {}, inside.join("\n")));
    } else if (line.includes("|") && TABLE.test(lines[at + 1] ?? "")) made.push(table(take((next) => next.includes("|"))));
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
  const match = INLINE.exec(text);
  if (!match) return [text];
  const [whole, , code, strong, bold, emphasis, label, address] = match;
  const node = code !== undefined ? el("code", {}, code)
    : strong ?? bold ? el("strong", {}, inline(strong ?? bold))
    : emphasis !== undefined ? el("em", {}, inline(emphasis))
    : el("span", { class: "link", title: address }, label || address);
  return [text.slice(0, match.index), node, ...inline(text.slice(match.index + whole.length))];
}

function mark(node, { forms, apart }) {
  if (!forms.length) return;
  const any = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const pattern = new RegExp(apart ? `(?<![\\p{L}\\p{N}_])(?:${any})(?![\\p{L}\\p{N}_])` : any, "gu");
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const leaves = [];
  while (walker.nextNode()) leaves.push(walker.currentNode);
  for (const leaf of leaves) {
    const pieces = [];
    let at = 0;
    for (const match of leaf.data.matchAll(pattern)) {
      pieces.push(leaf.data.slice(at, match.index), el("mark", {}, match[0]));
      at = match.index + match[0].length;
    }
    if (pieces.length) leaf.replaceWith(...pieces, leaf.data.slice(at));
  }
}
