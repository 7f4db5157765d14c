// Labels of a map that do not overlap: the most frequent words first, as many as there is room for.

const MOST = 160;
/** Points that are tried: where all is full, more of them find no room either. */
const TRIED = 6000;
const GAP = 4;
const HEIGHT = 16;
/** Rows above and below a point where the label of a chosen word may be. */
const STACKED = [0, 1, -1, 2, -2, 3, -3];
const FONT = '13px Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
/** Pixels of a cell of the occupied area. */
const CELL = 8;

/** The occupied parts of the screen, in small cells. */
class Room {
  constructor(width, height) {
    this.columns = Math.ceil(width / CELL) + 1;
    this.rows = Math.ceil(height / CELL) + 1;
    this.taken = new Uint8Array(this.columns * this.rows);
  }

  /** Takes a rectangle if all of it is free. */
  take(x, y, width, height) {
    const [left, right] = [Math.max(0, Math.floor(x / CELL)), Math.min(this.columns - 1, Math.floor((x + width) / CELL))];
    const [top, bottom] = [Math.max(0, Math.floor(y / CELL)), Math.min(this.rows - 1, Math.floor((y + height) / CELL))];
    for (let row = top; row <= bottom; row += 1) {
      for (let column = left; column <= right; column += 1) if (this.taken[row * this.columns + column]) return false;
    }
    for (let row = top; row <= bottom; row += 1) this.taken.fill(1, row * this.columns + left, row * this.columns + right + 1);
    return true;
  }
}

const widths = new Map();
function widthOf(context, text) {
  let width = widths.get(text);
  if (width === undefined) {
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/** A word as it is drawn: cut short, without characters that turn the direction of what follows. */
function drawn(text) {
  const plain = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
  return plain.length > 28 ? `${[...plain].slice(0, 27).join('')}…` : plain;
}

/** Draws labels on a canvas of its own above the points.
 *
 * `order` lists points, those that matter most first; `locate(point)` is its place on the screen or null if it is not
 * seen, `word(point)` its word, `colour(point)` its colour. `chosen` always has a label. Returns the labelled points. */
export function drawLabels(context, { width, height, order, chosen, most = MOST, locate, word, colour, ink, ground }) {
  const room = new Room(width, height);
  const placed = [];
  let tried = 0;
  context.font = FONT;
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  const place = (point, must) => {
    const at = locate(point);
    if (!at) return;
    tried += 1;
    const text = drawn(word(point));
    const wide = widthOf(context, text);
    // Left of the point where there is no room on its right.
    const x = at[0] + 7 + wide > width ? at[0] - 7 - wide : at[0] + 7;
    // Chosen words often lie on each other: their labels move up or down to where there is room.
    const isBeside = (y) => (one) => Math.abs(one.y - y) < HEIGHT && one.x < x + wide + GAP && x < one.x + one.wide + GAP;
    const y = must ? STACKED.map((row) => at[1] + row * HEIGHT).find((one) => !placed.some(isBeside(one))) ?? at[1] : at[1];
    const isFree = room.take(x - GAP, y - HEIGHT / 2, wide + 2 * GAP, HEIGHT);
    if (isFree || must) placed.push({ point, at, text, x, y, wide });
  };
  for (const point of chosen) place(point, true);
  for (let index = 0; index < order.length && placed.length < most && tried < TRIED; index += 1) {
    if (!chosen.includes(order[index])) place(order[index], false);
  }
  for (const { point, at, text, x, y } of placed) {
    const isChosen = chosen.includes(point);
    context.fillStyle = colour(point);
    context.beginPath();
    context.arc(at[0], at[1], isChosen ? 5 : 3, 0, 7);
    context.fill();
    context.font = isChosen ? `600 ${FONT}` : FONT;
    context.lineWidth = 4;
    context.strokeStyle = ground;
    context.strokeText(text, x, y);
    context.fillStyle = ink;
    context.fillText(text, x, y);
  }
  return placed.map(({ point }) => point);
}
