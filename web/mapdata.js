// The points of a map and the words they stand for.

import { Grid } from './scatter.js';

/** The first words of a vocabulary are its function words and punctuation, which say little about a place. */
const FUNCTION_WORDS = 200;

/** The order in which rows get labels. */
const priority = (row) => (row < FUNCTION_WORDS ? row + 1e6 : row);

export class MapData {
  /** Fetches a layout and the words of all views. */
  static async load(app, layout, signal) {
    const space = app.space.name;
    const about = await app.api.map({ space, layout }, { signal });
    const lists = about.views.map((view) => app.api.words({ space, view: view.name }));
    const [points, ...words] = await Promise.all([app.api.points({ space, layout }, { signal }), ...lists]);
    return new MapData(about, points, words);
  }

  constructor(about, points, words) {
    this.about = about;
    this.views = about.views;
    this.points = points;
    this.words = words;
    this.grid = new Grid(points, about.bounds);
    this.rows = about.views.map(() => null);
    this.order = this.byRow();
  }

  /** All points, those of frequent words first and function words last, the views in turns. */
  byRow() {
    const order = new Uint32Array(this.about.points);
    let at = 0;
    const most = Math.max(...this.views.map((view) => view.words));
    const start = Math.min(FUNCTION_WORDS, most);
    for (let turn = 0; turn < most; turn += 1) {
      const row = (start + turn) % most;
      for (const view of this.views) if (row < view.words) order[at++] = view.offset + row;
    }
    return order;
  }

  /** The index of a point's view. */
  viewOf(point) {
    let index = this.views.length - 1;
    while (index > 0 && this.views[index].offset > point) index -= 1;
    return index;
  }

  rowOf(point) { return point - this.views[this.viewOf(point)].offset; }
  wordOf(point) { return this.words[this.viewOf(point)][this.rowOf(point)] ?? ''; }

  /** The point of a word, or -1. */
  pointOf(view, text) {
    const index = this.views.findIndex((one) => one.name === view);
    if (index < 0) return -1;
    this.rows[index] ??= new Map(this.words[index].map((word, row) => [word, row]));
    const row = this.rows[index].get(text);
    return row === undefined || row >= this.views[index].words ? -1 : this.views[index].offset + row;
  }

  place(point) { return [this.points[2 * point], this.points[2 * point + 1]]; }

  /** How far from a point there are about so many others. */
  radius(point, count) {
    const [x, y] = this.place(point);
    const [x0, , x1] = this.about.bounds;
    const most = (x1 - x0) / 2 || 1;
    let radius = most / 2000;
    for (let found = 0; found < count && radius < most; radius *= 1.25) {
      found = 0;
      this.grid.within(x - radius, y - radius, x + radius, y + radius, (other) => {
        const [left, top] = this.place(other);
        if (Math.abs(left - x) < radius && Math.abs(top - y) < radius) found += 1;
      });
    }
    return radius;
  }

  /** The points in a rectangle, frequent words first; all points if it holds most of them. */
  inside(x0, y0, x1, y1, isWide) {
    if (isWide) return this.order;
    const found = [];
    this.grid.within(x0, y0, x1, y1, (point) => found.push([priority(this.rowOf(point)), point]));
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return found.map(([, point]) => point);
  }
}

/** The pairs of the dictionary that a space was fitted to, asked for once: frequent words first. */
export class DictionaryPairs {
  constructor(app, data) {
    this.app = app;
    this.data = data;
    this.pairs = [];
  }

  /** Says when they are there. */
  ask(signal) {
    this.asked ??= this.fetch(signal);
    return this.asked;
  }

  async fetch(signal) {
    const { data } = this;
    const points = await this.app.api.lines({ space: this.app.space.name }, { signal });
    const pairs = Array.from({ length: points.length / 2 }, (_, at) => [points[2 * at], points[2 * at + 1]]);
    const rank = (pair) => Math.max(...pair.map((point) => priority(data.rowOf(point))));
    this.pairs = pairs.map((pair) => [rank(pair), pair]).sort((a, b) => a[0] - b[0]).map(([, pair]) => pair);
  }
}

/** Joins points with the points of their best translations, asked for once each. */
export class Links {
  constructor(app, data) {
    this.app = app;
    this.data = data;
    this.known = new Map();
  }

  /** Asks for the best translations of points; those that are known are not asked again. */
  async ask(points, signal) {
    const { data } = this;
    const byView = new Map();
    for (const point of points.filter((one) => !this.known.has(one))) {
      const view = data.views[data.viewOf(point)].name;
      byView.set(view, [...(byView.get(view) ?? []), point]);
    }
    await Promise.all([...byView].map(async ([from, asked]) => {
      const words = asked.map((point) => data.wordOf(point));
      const answer = await this.app.api.translate({ space: this.app.space.name, from, words, k: 1 }, { signal });
      const found = new Map(words.map((text) => [text, []]));
      for (const { word, to, candidates } of answer.translations) {
        const point = candidates.length ? data.pointOf(to, candidates[0].word) : -1;
        if (point >= 0) found.get(word)?.push({ point, confidence: candidates[0].confidence });
      }
      for (const point of asked) this.known.set(point, found.get(data.wordOf(point)));
    }));
  }

  of(point) { return this.known.get(point) ?? []; }
}
