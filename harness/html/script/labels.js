// Places the names of points so that no two names overlap, and none covers a point or leaves the picture.

const LINE = 15; // pixels of a line of names
const pen = document.createElement("canvas").getContext("2d");

/** The width of a text in pixels. */
function widthOf(text, bold) {
  pen.font = `${bold ? "600 " : ""}12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width + 2;
}

/** Where the names go: for each of `points` {x, y, name, front, low, high} in pixels, {x, y, joint} of the left
 * end of its name, or null if there is no room. `joint` is where a line from the point meets a name that is far
 * from it; else null. Names of the front come first. Beside a point, a place that no interval crosses is best. */
function placed(points, width, height) {
  const taken = points.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  const lines = points.map(({ x, low, high }) => [x - 2, Math.min(low, high), x + 2, Math.max(low, high)]);
  const apart = (box) => ([l, t, r, b]) => box[2] <= l || box[0] >= r || box[3] <= t || box[1] >= b;
  const rings = [[9, true], [15, true], ...Array.from({ length: 14 }, (_, i) => [9 + 6 * i, false])];
  const order = points.map((_, i) => i)
    .sort((i, j) => points[j].front - points[i].front || points[i].y - points[j].y || i - j);
  const places = points.map(() => null);
  for (const i of order) {
    const { x, y, name, front } = points[i];
    const wide = Math.min(widthOf(name, front), width);
    const candidates = function* () {
      for (const [ring, strict] of rings) {
        for (let step = 0; step < 16; step++) {
          const angle = (Math.PI / 8) * (step % 2 ? -(step + 1) / 2 : step / 2);
          const across = Math.cos(angle);
          const left = x + ring * across - (across > 0.3 ? 0 : across < -0.3 ? wide : wide / 2);
          yield [left, y + ring * Math.sin(angle), strict];
        }
      }
      const free = [];
      for (let left = 0; left <= width - wide; left += 8) {
        for (let middle = LINE / 2; middle <= height - LINE / 2; middle += 4) free.push([left, middle, false]);
      }
      const off = ([left, middle]) => Math.hypot(left + wide / 2 - x, middle - y);
      yield* free.sort((a, b) => off(a) - off(b));
    };
    for (const [left, middle, strict] of candidates()) {
      const box = [left, middle - LINE / 2, left + wide, middle + LINE / 2];
      if (left < 0 || box[2] > width || box[1] < 0 || box[3] > height) continue;
      if (!taken.every(apart(box)) || (strict && !lines.every(apart(box)))) continue;
      taken.push(box);
      const joint = Math.min(Math.max(x, left), left + wide);
      places[i] = { x: left, y: middle, joint: Math.hypot(joint - x, middle - y) > 16 ? joint : null };
      break;
    }
  }
  return places;
}
