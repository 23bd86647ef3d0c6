// Functions that all parts of the page use: data, elements that hold only text, numbers, announcements.

const board = JSON.parse(document.getElementById("board").textContent);
const LONGEST = 240; // the most characters of a name
const state = { dataset: 0, measure: null, filter: "", a: 0, b: 0 };
board.datasets.forEach((dataset) => { dataset.rows = []; });
board.rows.forEach((row) => {
  const rows = board.datasets[row.dataset].rows;
  row.index = rows.length;
  rows.push(row);
});

/** An element with attributes and children; strings become text, never markup. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) if (child != null) node.append(child);
  return node;
}

/** The text; a long one is cut, with the number of characters that are missing. */
function short(text, longest = LONGEST) {
  const all = String(text);
  if (all.length <= longest) return all;
  return `${all.slice(0, longest)}… (${(all.length - longest).toLocaleString("en")} characters more)`;
}

/** Text from outside, isolated so that its direction does not affect the page, and cut if it is long. */
function foreign(text, longest = LONGEST) {
  return el("bdi", {}, short(text, longest));
}

const byNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 4 });

function score(value) {
  return value == null ? "" : value.toFixed(4);
}

function amount(value) {
  if (value == null) return "";
  if (value !== 0 && Math.abs(value) < 0.01) return value.toPrecision(2);
  return byNumber.format(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function announce(text) {
  document.getElementById("live").textContent = text;
}

const unpacking = new Map();

/** The bytes of a packed chunk, which is unpacked only once. */
function bytes(id) {
  if (!unpacking.has(id)) {
    const text = document.getElementById(id).textContent;
    const packed = Uint8Array.fromBase64
      ? Uint8Array.fromBase64(text)
      : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    unpacking.set(id, new Response(stream).arrayBuffer());
  }
  return unpacking.get(id);
}

const parsing = new Map();

function json(id) {
  if (!parsing.has(id)) {
    parsing.set(id, bytes(id).then((found) => JSON.parse(new TextDecoder().decode(found))));
  }
  return parsing.get(id);
}

/** A function from (row, query) to the value of a dataset's primary measure, or null if there is none. */
async function valuesOf(number) {
  const { values, queries } = board.datasets[number];
  const buffer = await bytes(`values-${number}`);
  const codes = values.width === 1 ? new Uint8Array(buffer) : new Uint16Array(buffer);
  const meaning = values.palette
    ? (code) => values.palette[code - 1]
    : (code) => values.low + (code - 1) * values.step;
  return (row, query) => {
    const code = codes[row * queries + query];
    return code === 0 ? null : meaning(code);
  };
}

/** A select element with a label; `options` are pairs [value, text]. */
function choice(label, options, value, changed) {
  const select = el("select", { onchange: () => changed(select.value) },
    options.map(([key, text]) => el("option", { value: key }, short(text, 80))));
  select.value = value;
  return el("label", { class: "field" }, el("span", {}, label), select);
}

function columnOf(label) {
  return board.columns.find((column) => column.label === label);
}

const sections = [];

/** Adds a part of the page; `render(body)` fills it again whenever the dataset or measure changes. */
function section(id, title, render) {
  sections.push({ id, title, render });
}
