// Draws the plots that the report declares in Vega-Lite, in the colours of the light or dark theme.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map(); // node -> [spec, values]
const waiting = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) {
      waiting.unobserve(entry.target);
      draw(entry.target);
    }
  }
}, { rootMargin: "400px" });
dark.addEventListener("change", () => drawn.forEach((_, node) => waiting.observe(node)));

/** Draws the plots that are not in view yet, one at a time when the browser is idle, for a printed page. */
function drawIdly() {
  const next = [...drawn.keys()].find((node) => node.isConnected && !node.firstChild);
  if (!next) return;
  waiting.unobserve(next);
  draw(next);
  requestIdleCallback(drawIdly);
}

/** A place for a plot, which is drawn once it comes into view. `says` describes the plot for screen readers. */
function plot(spec, values, says) {
  const node = el("div", { class: "plot", role: "img", "aria-label": short(says, 600) });
  const filled = structuredClone(spec);
  filled.data = { values };
  drawn.set(node, filled);
  waiting.observe(node);
  requestIdleCallback(drawIdly, { timeout: 3000 });
  return node;
}

function draw(node) {
  if (!node.isConnected) {
    drawn.delete(node);
    return;
  }
  if (!node.firstChild) node.append(el("span", {})); // marks the plot as begun, so that it is not drawn twice
  const width = Math.max(240, node.clientWidth);
  const spec = named({ ...coloured(drawn.get(node), dark.matches), width }, width);
  window.vegaEmbed(node, spec, {
    mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, tooltip: tell(node),
    config: board.themes[dark.matches ? "dark" : "light"],
  }).then(() => node.querySelector("svg")?.setAttribute("aria-hidden", "true")); // the node's label describes it
}

/** A plot that has named points, with places for all names at this width; it becomes higher until there is room.
 * Other plots stay as they are. `harness/html/labels.py` does the same for pictures. */
function named(spec, width) {
  const edge = spec.usermeta?.named;
  const rows = spec.data.values;
  if (!edge || !rows.length) return spec;
  const inner = width - 76;
  const pixels = (values, length) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return values.map((value) => (high > low ? edge + ((value - low) / (high - low)) * (length - 2 * edge) : length / 2));
  };
  const x = pixels(rows.map((row) => Math.log(row.cost)), inner);
  let [height, points, places] = [spec.height + 10 * rows.length];
  for (; ; height += 80) {
    const y = pixels(rows.flatMap((row) => [row.score, row.low, row.high]), height).map((at) => height - at);
    points = rows.map((row, i) => ({ x: x[i], y: y[3 * i], low: y[3 * i + 1], high: y[3 * i + 2], name: row.system.slice(0, 36), front: row.front }));
    places = placed(points, inner, height);
    if (!places.includes(null) || height > 4 * spec.height) break;
  }
  const values = rows.map((row, i) => places[i]
    ? { ...row, dx: places[i].x - x[i], dy: places[i].y - points[i].y, joint: places[i].joint == null ? null : places[i].joint - x[i] }
    : row);
  return { ...spec, data: { values }, width: inner, height, autosize: { type: "pad" } };
}

/** Tooltips as plain titles, because Vega's own tooltips are HTML. */
function tell(node) {
  return (handler, event, item, value) => {
    node.title = value == null ? "" : typeof value === "object"
      ? Object.entries(value).map(([name, text]) => `${name}: ${text}`).join("\n") : String(value);
  };
}

const roles = { "heat-strong": ["#ffffff", "#14181d"], "heat-weak": ["#22252a", "#e8e6e1"] };

/** The plot with its named colour roles replaced by colours; the data are not changed. */
function coloured(spec, isDark) {
  const { data, ...rest } = spec;
  const text = JSON.stringify(rest, (_, value) => (Object.hasOwn(roles, value) ? roles[value][Number(isDark)] : value));
  return { ...JSON.parse(text), data };
}

/** Sets the titles of the axes and colours of these fields. */
function titled(spec, titles) {
  const copy = structuredClone(spec);
  const visit = (node) => {
    for (const value of Object.values(node)) {
      if (!value || typeof value !== "object") continue;
      if (Object.hasOwn(titles, value.field) && "title" in value) value.title = titles[value.field];
      visit(value);
    }
  };
  visit(copy);
  return copy;
}
