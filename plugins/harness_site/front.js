// The front page: a card for each dataset, ranks across datasets, cost and time of one dataset.

const CARDS = window.matchMedia("(max-width: 52rem)").matches ? 4 : 6; // shown at once; the others are folded
const RANKS = 8; // rows of a table of ranks that are shown at once

/** An interval drawn on the scale from `low` to `high`. */
function interval(cell, low, high) {
  const place = (value) => `${(100 * (value - low)) / (high - low || 1)}%`;
  const [from, to] = [cell.low ?? cell.mean, cell.high ?? cell.mean];
  const line = el("i", { class: "line" });
  const dot = el("i", { class: "dot" });
  line.style.left = place(from);
  line.style.width = `${(100 * (to - from)) / (high - low || 1)}%`;
  dot.style.left = place(cell.mean);
  return el("div", { class: "interval", "aria-hidden": "true" }, line, dot);
}

/** The ends of a scale on which all these intervals fit. */
function span(cells) {
  const known = cells.filter(Boolean);
  return [Math.min(...known.map((cell) => cell.low ?? cell.mean)), Math.max(...known.map((cell) => cell.high ?? cell.mean))];
}

function card(item) {
  const [low, high] = span(item.systems);
  const facts = [item.language, item.queries ? plural(item.queries, "query", "queries") : null,
    item.passages ? plural(item.passages, "passage") : null].filter(Boolean).join(", ");
  const rows = item.systems.map((system) => el("li", {},
    el("a", { href: place(system.href), title: system.says }, foreign(system.name, 60)),
    el("span", { class: "value" }, score(system.mean), el("span", { class: "tier" }, system.tier ?? "")),
    interval(system, low, high),
    el("span", { class: "small" }, system.low == null ? "" : `${system.low.toFixed(3)} to ${system.high.toFixed(3)}`,
      system.seconds == null ? "" : ` · ${duration(system.seconds)}`)));
  return el("article", { class: "best" },
    el("h3", {}, el("a", { href: place(item.href) }, foreign(item.name)), " ", el("span", { class: "small" }, foreign(item.measure))),
    el("p", { class: "small" }, foreign(facts)),
    el("ol", {}, rows),
    el("p", { class: "small" }, [item.count > item.systems.length ? `${item.count - item.systems.length} more systems` : "",
      item.published ? `published ${item.published[1].mean.toFixed(item.published[1].digits)} (${short(item.published[0], 30)})` : "",
      item.within ? `letters within ${item.within}` : "", item.date].filter(Boolean).join(" · ")));
}

function folded(summary, ...children) {
  return el("details", { class: "fold" }, el("summary", {}, summary), ...children);
}

function cardSection(cards) {
  const grid = (items) => el("div", { class: "cards" }, items.map(card));
  return el("section", { id: "best" }, el("h2", {}, "Best systems"),
    el("p", { class: "lead" }, "The best of each dataset with 95 % intervals and the time spent. Systems that share a letter do not differ significantly; what has no letter was not tested, such as the mean of several seeds."),
    grid(cards.slice(0, CARDS)),
    cards.length > CARDS ? folded(`${cards.length - CARDS} more datasets`, grid(cards.slice(CARDS))) : null);
}

function rankSection(groups) {
  const body = el("div", {});
  const show = (number) => {
    const group = groups[number];
    const made = tableOf(group, RANKS);
    body.replaceChildren(el("p", { class: "lead" }, el("a", { href: place(group.href) }, foreign(group.name)), ": ", foreign(group.note, 600)), made);
  };
  show(0);
  return el("section", { id: "ranks" }, el("h2", {}, "Ranks across datasets"),
    groups.length > 1 ? el("div", { class: "fields" }, choice("Leaderboard", groups.map((group, i) => [i, `${group.name} (${group.columns.length - 2} datasets)`]), 0, (value) => show(Number(value)))) : null,
    body);
}

function pictureSection(cards) {
  const [cost, time] = [el("div", { class: "plot" }), el("div", { class: "plot" })];
  const most = cards.reduce((best, item, i) => {
    const worth = (card) => card.history.length * 100 + card.points.filter((point) => point.seconds > 0).length;
    return worth(item) > worth(cards[best]) ? i : best;
  }, 0);
  let shown = most;
  const draw = () => {
    const width = (node) => Math.max(280, Math.floor(node.clientWidth || 560));
    cost.replaceChildren(costFigure(cards[shown], width(cost)));
    time.replaceChildren(timeFigure(cards[shown], width(time)));
  };
  let waiting = null;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  }).observe(cost);
  return el("section", { id: "pictures" }, el("h2", {}, "Quality against cost, and over time"),
    el("p", { class: "lead" }, "Up is better. A filled point with a bold name is on the front: nothing cheaper, or nothing earlier, is as good. The line through a point is its 95 % interval."),
    el("div", { class: "fields" }, choice("Dataset", cards.map((item, i) => [i, `${item.name} (${item.measure})`]), shown, (value) => {
      shown = Number(value);
      draw();
    })),
    el("div", { class: "pair wider" }, el("div", {}, el("h3", {}, "Quality against cost"), cost), el("div", {}, el("h3", {}, "Best score over time"), time)));
}
