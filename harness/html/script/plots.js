// Draws the plots that the report declares in Vega-Lite, in the colours of the moment.

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

/** Draws what nobody has scrolled to yet, one at a time when there is nothing else to do: it may be printed. */
function drawIdly() {
  const next = [...drawn.keys()].find((node) => node.isConnected && !node.firstChild);
  if (!next) return;
  waiting.unobserve(next);
  draw(next);
  requestIdleCallback(drawIdly);
}

/** A place for a plot, drawn once it comes into view. `says` is what it shows, for those who cannot see. */
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
  if (!node.firstChild) node.append(el("span", {})); // begun, so that nobody draws it again
  const spec = coloured(drawn.get(node), dark.matches);
  spec.width = Math.max(240, node.clientWidth);
  window.vegaEmbed(node, spec, {
    mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, tooltip: tell(node),
    config: board.themes[dark.matches ? "dark" : "light"],
  });
}

/** Tooltips as plain titles: Vega's own are made of HTML. */
function tell(node) {
  return (handler, event, item, value) => {
    node.title = value == null ? "" : typeof value === "object"
      ? Object.entries(value).map(([name, text]) => `${name}: ${text}`).join("\n") : String(value);
  };
}

const roles = { "heat-strong": ["#ffffff", "#14181d"], "heat-weak": ["#22252a", "#e8e6e1"] };

/** Colours named by their role; nothing of the data is looked at. */
function coloured(spec, isDark) {
  const { data, ...rest } = spec;
  const text = JSON.stringify(rest, (_, value) => (Object.hasOwn(roles, value) ? roles[value][Number(isDark)] : value));
  return { ...JSON.parse(text), data };
}

/** Gives the axes and colours of these fields their titles. */
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
