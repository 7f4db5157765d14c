// Points of all views by WebGL: one buffer, one draw call a view. 200,000 points are drawn in a few milliseconds, and only
// when something changed.

const VERTEX = `
attribute vec2 place;
uniform vec2 centre;
uniform vec2 scale;
uniform mediump float size;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  gl_PointSize = size;
}`;

const FRAGMENT = `
precision mediump float;
uniform vec4 colour;
uniform float size;
void main() {
  float radius = length(gl_PointCoord - 0.5) * size;
  float alpha = colour.a * (1.0 - smoothstep(0.5 * size - 1.0, 0.5 * size, radius));
  gl_FragColor = vec4(colour.rgb * alpha, alpha);
}`;

function compile(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.bindAttribLocation(program, 0, 'place');
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error('This browser cannot draw the map: its WebGL does not work.');
  return program;
}

export class Scatter {
  constructor(canvas) {
    const gl = canvas.getContext('webgl', { antialias: false, premultipliedAlpha: true, preserveDrawingBuffer: false });
    if (!gl) throw new Error('This browser cannot draw the map: it has no WebGL.');
    this.canvas = canvas;
    this.gl = gl;
    this.pixel = new Uint8Array(4);
    this.prepare();
    // A driver may take everything away and give it back.
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.prepare();
      if (this.points) this.load(this.points);
      this.onrestored?.();
    });
  }

  prepare() {
    const { gl } = this;
    this.program = compile(gl);
    this.at = Object.fromEntries(['centre', 'scale', 'size', 'colour'].map((name) => [name, gl.getUniformLocation(this.program, name)]));
    this.buffer = gl.createBuffer();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** `points`: x and y of every point. */
  load(points) {
    const { gl } = this;
    this.points = points;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW);
  }

  /** Draws `groups` of `{first, count, colour}` as `camera` sees them; a point has `size` pixels. Returns when they are drawn:
   * commands are only queued, and reading a pixel waits for them. */
  draw(camera, groups, size, alpha) {
    const { gl, at } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.uniform2f(at.centre, camera.x, camera.y);
    gl.uniform2f(at.scale, (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    gl.uniform1f(at.size, size);
    for (const { first, count, colour } of groups) {
      gl.uniform4f(at.colour, colour[0] / 255, colour[1] / 255, colour[2] / 255, alpha);
      gl.drawArrays(gl.POINTS, first, count);
    }
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, this.pixel);
  }
}

/** Cells of a grid in every direction; a quarter of a million points have a few to a cell. */
const CELLS = 256;

/** Finds points near a place: the points of every cell of a grid lie together. */
export class Grid {
  constructor(points, [x0, y0, x1, y1]) {
    this.points = points;
    this.low = [x0, y0];
    this.step = [(x1 - x0) / CELLS || 1, (y1 - y0) / CELLS || 1];
    const total = points.length / 2;
    const cellOf = new Uint32Array(total);
    this.starts = new Uint32Array(CELLS * CELLS + 1);
    for (let at = 0; at < total; at += 1) {
      cellOf[at] = this.row(points[2 * at + 1]) * CELLS + this.column(points[2 * at]);
      this.starts[cellOf[at] + 1] += 1;
    }
    for (let cell = 0; cell < CELLS * CELLS; cell += 1) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    this.order = new Uint32Array(total);
    for (let at = 0; at < total; at += 1) this.order[next[cellOf[at]]++] = at;
  }

  column(x) { return Math.min(CELLS - 1, Math.max(0, Math.floor((x - this.low[0]) / this.step[0]))); }
  row(y) { return Math.min(CELLS - 1, Math.max(0, Math.floor((y - this.low[1]) / this.step[1]))); }

  /** Calls `found` with every point of the cells that the rectangle touches. */
  within(x0, y0, x1, y1, found) {
    const [from, to] = [this.column(x0), this.column(x1)];
    for (let row = this.row(y0); row <= this.row(y1); row += 1) {
      const end = this.starts[row * CELLS + to + 1];
      for (let at = this.starts[row * CELLS + from]; at < end; at += 1) found(this.order[at]);
    }
  }

  /** The point nearest to a place within `radius`, among those that `isShown`; -1 if there is none. */
  nearest(x, y, radius, isShown) {
    let best = -1;
    let least = radius * radius;
    this.within(x - radius, y - radius, x + radius, y + radius, (at) => {
      const dx = this.points[2 * at] - x;
      const dy = this.points[2 * at + 1] - y;
      const distance = dx * dx + dy * dy;
      if (distance <= least && isShown(at)) { best = at; least = distance; }
    });
    return best;
  }
}
