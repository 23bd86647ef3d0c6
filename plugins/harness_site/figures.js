// The pictures of the front page: quality against cost with every system named, and the best score over time.

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) if (value != null) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter((child) => child != null));
  return node;
}

const EDGE = { left: 48, right: 14, top: 12, bottom: 40 };

/** A function from a value to pixels. */
function scaled(low, high, from, to) {
  const range = high - low || 1;
  return (value) => from + ((value - low) / range) * (to - from);
}

/** Round numbers between two ends as [number, text], at most as many as wanted. */
function ticks(low, high, wanted) {
  const range = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(range / wanted));
  const step = power * ([1, 2, 5, 10].find((factor) => range / (power * factor) <= wanted) ?? 10);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(Number(value.toPrecision(12)));
  const digits = Math.max(2, Math.ceil(-Math.log10(step) - 1e-9));
  return found.map((value) => [value, value.toFixed(digits)]);
}

function duration(seconds) {
  if (seconds < 0.1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${Number(seconds.toPrecision(2))} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Number((seconds / 3600).toPrecision(2))} h`;
}

const STEPS = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000, 360000];

/** The frame of a picture: axes with their titles and lines. `across` and `down` are lists of [pixel, text]. */
function frame(width, height, across, down, title) {
  const [right, bottom] = [width - EDGE.right, height - EDGE.bottom];
  return [
    down.map(([y, text]) => [svg("line", { class: "grid", x1: EDGE.left, x2: right, y1: y, y2: y }),
      svg("text", { class: "tick", x: EDGE.left - 8, y: y + 4, "text-anchor": "end" }, text)]),
    across.map(([x, text]) => [svg("line", { class: "grid", x1: x, x2: x, y1: bottom, y2: bottom + 5 }),
      svg("text", { class: "tick", x, y: bottom + 18, "text-anchor": "middle" }, text)]),
    svg("line", { class: "axis", x1: EDGE.left, x2: right, y1: bottom, y2: bottom }),
    svg("text", { class: "tick", x: right, y: height - 4, "text-anchor": "end" }, title),
  ];
}

function clipped(name, longest) {
  return name.length > longest ? `${name.slice(0, longest - 1)}…` : name;
}

function figure(width, height, says, ...children) {
  return svg("svg", { class: "figure", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": says }, ...children);
}

/** Quality against cost: the intervals, the front as a line, and every system's name. */
function costFigure(card, width, taller = 0) {
  const points = card.points.filter((item) => item.seconds > 0);
  if (!points.length) return el("p", { class: "lead" }, "No cost is known.");
  const height = Math.min(680, Math.max(320, (width < 500 ? 260 : 220) + 10 * points.length)) + taller;
  const costs = points.map((item) => Math.log10(item.seconds));
  const low = Math.min(...points.map((item) => item.low ?? item.mean));
  const high = Math.max(...points.map((item) => item.high ?? item.mean));
  const [first, last] = [Math.min(...costs) - 0.12, Math.max(...costs) + 0.12];
  const x = scaled(first, last, EDGE.left + 8, width - EDGE.right - 8);
  const y = scaled(low, high, height - EDGE.bottom - 16, EDGE.top + 12);
  let best = -Infinity;
  for (const item of points.toSorted((a, b) => a.seconds - b.seconds || b.mean - a.mean)) {
    item.front = item.mean > best;
    best = Math.max(best, item.mean);
  }
  const spots = points.map((item) => ({
    x: x(Math.log10(item.seconds)), y: y(item.mean), low: y(item.low ?? item.mean), high: y(item.high ?? item.mean),
    name: clipped(item.name, width < 500 ? 26 : 40), front: item.front, item,
  }));
  const shifted = spots.map((spot) => ({ ...spot, x: spot.x - EDGE.left }));
  const places = placed(shifted, width - EDGE.left, height - EDGE.bottom - 2);
  if (places.includes(null) && taller < 800) return costFigure(card, width, taller + 80);
  const front = spots.filter((spot) => spot.front).sort((a, b) => a.x - b.x);
  const path = front.map((spot, i) => `${i ? `H${spot.x}V${spot.y}` : `M${spot.x} ${spot.y}`}`).join("");
  const across = STEPS.filter((cost) => Math.log10(cost) >= first && Math.log10(cost) <= last).map((cost) => [x(Math.log10(cost)), duration(cost)]);
  const says = `${card.measure} against seconds of work on ${card.name}. Nothing cheaper is as good as ${front.map((spot) => spot.name).join(", ")}.`;
  return figure(width, height, says,
    frame(width, height, across.length ? across : [[x(costs[0]), duration(points[0].seconds)]],
      ticks(low, high, 5).map(([value, text]) => [y(value), text]), "time spent"),
    svg("path", { class: "front", d: path }),
    spots.map((spot) => svg("line", { class: "spread", x1: spot.x, x2: spot.x, y1: spot.low, y2: spot.high })),
    spots.map((spot, i) => places[i]?.joint == null ? null : svg("line", { class: "leader", x1: spot.x, y1: spot.y, x2: EDGE.left + places[i].joint, y2: places[i].y })),
    spots.map((spot) => svg("circle", { class: spot.front ? "point best" : "point", cx: spot.x, cy: spot.y, r: 4.5 },
      svg("title", {}, `${spot.item.name}: ${score(spot.item.mean)}, ${duration(spot.item.seconds)}`))),
    spots.map((spot, i) => places[i] ? svg("text", { class: spot.front ? "name best" : "name", x: EDGE.left + places[i].x, y: places[i].y + 4 }, spot.name) : null));
}

/** The best score of every date, with its system's name where the score rose. */
function timeFigure(card, width) {
  const height = 300;
  const history = card.history;
  const days = history.map(([date]) => Date.parse(date) / 864e5);
  const scores = history.map(([, value]) => value);
  let best = -Infinity;
  const rises = history.map(([date, value, system], i) => {
    const rose = value > best;
    best = Math.max(best, value);
    return { day: days[i], date, value, best, system, rose };
  });
  const pad = Math.max(0.01, (Math.max(...scores) - Math.min(...scores)) * 0.25);
  const x = scaled(days[0] - 0.4, Math.max(days.at(-1), days[0] + 1) + 0.4, EDGE.left + 8, width - EDGE.right - 8);
  const [low, high] = [Math.min(...scores) - pad, Math.max(...scores) + pad];
  const y = scaled(low, high, height - EDGE.bottom - 4, EDGE.top + 4);
  const spots = rises.map((item) => ({ x: x(item.day), y: y(item.value), low: y(item.value), high: y(item.value), name: clipped(item.system, 34), front: item.rose, item }));
  const places = placed(spots.map((spot) => ({ ...spot, x: spot.x - EDGE.left })), width - EDGE.left, height - EDGE.bottom - 2);
  const path = rises.map((item, i) => `${i ? `H${x(item.day)}V${y(item.best)}` : `M${x(item.day)} ${y(item.best)}`}`).join("");
  const every = Math.ceil(history.length / Math.max(2, Math.floor(width / 110)));
  const says = `The best ${card.measure} on ${card.name} by date: ${rises.filter((item) => item.rose).map((item) => `${item.date} ${score(item.value)} by ${item.system}`).join("; ")}.`;
  return figure(width, height, says,
    frame(width, height, history.map(([date], i) => [x(days[i]), date]).filter((_, i) => i % every === 0), ticks(low, high, 5).map(([value, text]) => [y(value), text]), "date of the leaderboard"),
    svg("path", { class: "front", d: `${path}H${width - EDGE.right - 8}` }),
    spots.map((spot) => svg("circle", { class: spot.front ? "point best" : "point", cx: spot.x, cy: spot.y, r: 4.5 }, svg("title", {}, `${spot.item.date}: ${score(spot.item.value)} by ${spot.item.system}`))),
    spots.map((spot, i) => places[i] ? svg("text", { class: spot.front ? "name best" : "name", x: EDGE.left + places[i].x, y: places[i].y + 4 }, spot.name) : null));
}
