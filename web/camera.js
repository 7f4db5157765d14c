// Where one looks on the map, moved by mouse, touch and keyboard.

const STEP = 80;
const ZOOM = 1.5;
/** Pixels that a finger or mouse may move for its press to be a click. */
const STILL = 5;

export class Camera {
  constructor() {
    Object.assign(this, { x: 0, y: 0, scale: 1, width: 1, height: 1, least: 1e-3 });
  }

  /** Shows everything within `bounds`. */
  fit([x0, y0, x1, y1]) {
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.scale = 0.94 * Math.min(this.width / (x1 - x0 || 1), this.height / (y1 - y0 || 1));
    this.least = this.scale / 3;
    this.whole = this.scale;
  }

  /** How much closer one is than where everything is seen. */
  get zoom() { return this.scale / this.whole; }

  toScreen(x, y) { return [(x - this.x) * this.scale + this.width / 2, this.height / 2 - (y - this.y) * this.scale]; }
  toMap(left, top) { return [(left - this.width / 2) / this.scale + this.x, (this.height / 2 - top) / this.scale + this.y]; }

  move(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Zooms by a factor; what is at a place of the screen stays there. */
  zoomBy(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toMap(left, top);
    this.scale = Math.min(this.whole * 2000, Math.max(this.least, this.scale * factor));
    this.x = x - (left - this.width / 2) / this.scale;
    this.y = y - (this.height / 2 - top) / this.scale;
  }
}

/** Moves the camera by what is done on an element. `hover` and `click` get places on it. */
export function steer(element, camera, { changed, hover, click }) {
  const pointers = new Map();
  let moved = 0;
  const place = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], distance: Math.hypot(a[0] - b[0], a[1] - b[1]) };
  };
  element.addEventListener('pointerdown', (event) => {
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) moved = 0;
  });
  element.addEventListener('pointermove', (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) return hover(now);
    if (pointers.size === 2) {
      const old = spread();
      pointers.set(event.pointerId, now);
      const { middle, distance } = spread();
      camera.move(middle[0] - old.middle[0], middle[1] - old.middle[1]);
      if (old.distance > 0) camera.zoomBy(distance / old.distance, ...middle);
      moved = STILL + 1;
    } else {
      pointers.set(event.pointerId, now);
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (moved <= STILL) return;
      camera.move(now[0] - before[0], now[1] - before[1]);
    }
    changed();
  });
  const release = (event) => {
    const wasDown = pointers.delete(event.pointerId);
    if (wasDown && event.type === 'pointerup' && moved <= STILL && pointers.size === 0) click(place(event));
  };
  element.addEventListener('pointerup', release);
  element.addEventListener('pointercancel', release);
  element.addEventListener('pointerleave', () => hover(null));
  element.addEventListener('wheel', (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : 1);
    camera.zoomBy(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.002)), ...place(event));
    changed();
  }, { passive: false });
}

const MOVES = {
  ArrowLeft: (camera) => camera.move(STEP, 0),
  ArrowRight: (camera) => camera.move(-STEP, 0),
  ArrowUp: (camera) => camera.move(0, STEP),
  ArrowDown: (camera) => camera.move(0, -STEP),
  '+': (camera) => camera.zoomBy(ZOOM),
  '=': (camera) => camera.zoomBy(ZOOM),
  '-': (camera) => camera.zoomBy(1 / ZOOM),
};

/** Moves the camera by a key; says whether it is one that does. */
export function steerByKey(camera, key) {
  MOVES[key]?.(camera);
  return key in MOVES;
}
