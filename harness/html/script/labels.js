// Places the names of points so that no two names overlap, and none covers a point or leaves the picture.

const LINE = 15; // pixels of a line of names
const pen = document.createElement("canvas").getContext("2d");

/** The width of a text in pixels. */
function widthOf(text, bold) {
  pen.font = `${bold ? "600 " : ""}12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width + 2;
}

/** Where the names go: for each of `points` {x, y, name, front, low, high} in pixels, {x, y, far} of the left
 * end of its name, or null if there is no room. `far` says that a line should join the name to its point. Names
 * of the front come first. A place that no interval crosses is taken before a nearer one that one crosses. */
function placed(points, width, height) {
  const taken = points.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  const lines = points.map(({ x, low, high }) => [x - 2, Math.min(low, high), x + 2, Math.max(low, high)]);
  const clear = (box, others) => others.every(([l, t, r, b]) => box[2] <= l || box[0] >= r || box[3] <= t || box[1] >= b);
  const places = points.map(() => null);
  const order = points.map((_, i) => i)
    .sort((i, j) => points[j].front - points[i].front || points[i].y - points[j].y || i - j);
  const far = Math.hypot(width, height);
  for (const i of order) {
    const { x, y, name, front } = points[i];
    const wide = Math.min(widthOf(name, front), width);
    search: for (let ring = 9; ring < far; ring += ring < 60 ? 6 : 12) {
      for (const strict of [true, false]) {
        if (strict && ring > 60) continue;
        if (!strict && ring < 30) continue;
        for (let step = 0; step < 16; step++) {
          const angle = (Math.PI / 8) * (step % 2 ? -(step + 1) / 2 : step / 2);
          const [across, down] = [Math.cos(angle), Math.sin(angle)];
          const left = x + ring * across - (across > 0.3 ? 0 : across < -0.3 ? wide : wide / 2);
          const middle = y + ring * down;
          const box = [left, middle - LINE / 2, left + wide, middle + LINE / 2];
          if (box[0] < 0 || box[2] > width || box[1] < 0 || box[3] > height) continue;
          if (!clear(box, taken) || (strict && !clear(box, lines))) continue;
          taken.push(box);
          places[i] = { x: left, y: middle, far: ring > 15, joint: across > 0.3 ? 0 : across < -0.3 ? wide : wide / 2 };
          break search;
        }
      }
    }
  }
  return places;
}
