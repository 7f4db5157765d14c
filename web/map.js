// All words of all views in one picture.

import { Camera, steer, steerByKey } from './camera.js';
import { chosenWord, translation } from './chosen.js';
import { debounced, failure, h, icon, percent, show } from './dom.js';
import { colour, label, languageName, rgb, word } from './language.js';
import { drawLabels } from './labels.js';
import { LineBoxes, drawLines, drawPairs } from './lines.js';
import { DictionaryPairs, Links, MapData } from './mapdata.js';
import { Pace } from './pace.js';
import { parsed, record } from './route.js';
import { Scatter } from './scatter.js';
import { searchBox } from './search.js';

const LAYOUTS = { pca: 'Overview', tsne: 'Neighbourhoods' };
const POLL = 1500;
/** Pixels from a point within which it is meant. */
const NEAR = 12;
/** Points around a word that is looked up that are shown with it. */
const CLOSE = 60;
/** Closer than this, labels are looked for among what is seen only. */
const WIDE = 3;

export function mapView(app, main, params) {
  return new MapView(app, main, params).handlers();
}

class MapView {
  constructor(app, main, params) {
    this.app = app;
    this.camera = new Camera();
    this.boxes = new LineBoxes(() => { this.askPairs(); this.changed(); });
    this.read(params);
    this.layout = params.layout in LAYOUTS ? params.layout : null;
    this.chosen = -1;
    this.hovered = -1;
    this.labelled = [];
    this.pace = new Pace(() => this.changed());
    this.asked = new AbortController();
    this.build(main);
    this.start(params).catch((error) => { if (error.name !== 'AbortError') show(this.stage, failure(error)); });
  }

  handlers() {
    return {
      close: () => { this.asked.abort(); this.resizing?.disconnect(); clearTimeout(this.poll); },
      redraw: () => this.recolour(),
      keys: (event) => this.key(event),
      update: (params) => this.follow(params),
    };
  }

  build(main) {
    const { app } = this;
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.overlay = h('canvas', {
      tabindex: '0', role: 'img', class: 'overlay',
      'aria-label': 'Map of all words. Arrow keys move it, plus and minus zoom, full stop chooses the next labelled word.',
    });
    this.tip = h('div', { class: 'tip', hidden: true });
    this.info = h('section', { class: 'info', 'aria-label': 'Chosen word', hidden: true });
    this.progress = h('p', { class: 'soft progress', hidden: true });
    this.search = searchBox(app, {
      label: 'Find a word on the map', placeholder: 'Find a word',
      onpick: (picked) => this.find(picked),
    });
    this.legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Languages' });
    this.layouts = h('div', { class: 'segments', role: 'group', 'aria-label': 'Layout' });
    const button = (name, shape, work) => h('button', { type: 'button', 'aria-label': name, title: name, onclick: work }, icon(shape));
    const zooms = h('div', { class: 'zooms', role: 'group', 'aria-label': 'Zoom' },
      button('Zoom in', 'plus', () => this.zoom(1.6)), button('Zoom out', 'minus', () => this.zoom(1 / 1.6)),
      button('Show everything', 'fit', () => this.whole()));
    this.stage = h('div', { class: 'stage', 'aria-busy': 'true' }, this.canvas, this.overlay, this.tip);
    show(main, h('h1', { class: 'hidden' }, 'Map'), this.stage, h('div', { class: 'floating' },
      h('div', { class: 'panel' }, this.search, this.legend,
        this.boxes.labels, this.layouts, this.progress),
      zooms, this.info));
    this.context = this.overlay.getContext('2d');
    steer(this.overlay, this.camera, {
      changed: () => { this.hasMoved = true; this.changed(); }, hover: (place) => this.hover(place), click: (place) => this.click(place),
    });
  }

  async start(params) {
    const { layouts } = await this.app.api.map({ space: this.app.space.name, layout: 'pca' }, { signal: this.asked.signal });
    this.available = layouts;
    const isReady = (name) => layouts.some((one) => one.name === name && one.ready);
    const wanted = this.layout ?? (isReady('tsne') ? 'tsne' : 'pca');
    this.layout = isReady(wanted) ? wanted : 'pca';
    this.scatter = new Scatter(this.canvas);
    this.scatter.onrestored = () => this.changed();
    this.resizing = new ResizeObserver(() => { this.resize(); this.changed(); });
    this.resize();
    await this.load();
    this.resizing.observe(this.stage);
    this.stage.removeAttribute('aria-busy');
    if (params.x) this.look(params);
    this.goTo(params);
    if (wanted !== this.layout) this.choose(wanted);
  }

  async load() {
    this.data = await MapData.load(this.app, this.layout, this.asked.signal);
    this.links = new Links(this.app, this.data);
    this.dictionary = new DictionaryPairs(this.app, this.data);
    this.boxes.offerDictionary(Boolean(this.data.about.lines));
    this.askPairs();
    this.scatter.load(this.data.points);
    this.camera.fit(this.data.about.bounds);
    this.available = this.data.about.layouts;
    this.drawLegend();
    this.drawLayouts();
    this.recolour();
  }

  /** What the address says is shown. */
  read(params) {
    this.hidden = new Set((params.off ?? '').split(',').filter(Boolean));
    this.boxes.read(params);
  }

  /** Follows a link from one place of the map to another. */
  follow(params) {
    this.read(params);
    if (!this.data) return;
    this.askPairs();
    this.drawLegend();
    if (!params.word) this.unselect();
    if (params.x) {
      this.hasMoved = true;
      this.look(params);
    }
    this.goTo(params);
    if (params.layout in LAYOUTS && params.layout !== this.layout) this.choose(params.layout);
  }

  /** Goes where the address says. */
  look({ x, y, z }) {
    const [left, top, zoom] = [x, y, z].map(Number);
    if (![left, top, zoom].every(Number.isFinite) || zoom <= 0) return;
    Object.assign(this.camera, { x: left, y: top });
    this.camera.scale = Math.min(2000, Math.max(0.3, zoom)) * this.camera.whole;
  }

  goTo(params) {
    const at = params.word && parsed(params.word, this.app.space);
    if (at && this.data) this.find(at, !params.x);
    else this.changed();
  }

  find(at, moves = true) {
    const point = this.data.pointOf(at.view, at.word);
    if (point < 0) return this.app.announce(`${at.word} is not on the map`);
    this.hidden.delete(at.view);
    this.drawLegend();
    this.select(point);
    if (moves) {
      [this.camera.x, this.camera.y] = this.data.place(point);
      this.camera.scale = (0.4 * Math.min(this.camera.width, this.camera.height)) / this.data.radius(point, CLOSE);
    }
    this.changed();
  }

  drawLegend() {
    const { space } = this.app;
    const toggle = ({ name }) => h('button', {
      type: 'button', class: colour(space, name), 'aria-pressed': String(!this.hidden.has(name)),
      onclick: () => {
        if (!this.hidden.delete(name)) this.hidden.add(name);
        this.drawLegend();
        this.changed();
      },
    }, h('span', { class: 'swatch' }), languageName(name));
    const focused = [...this.legend.children].indexOf(document.activeElement);
    show(this.legend, this.data.views.map(toggle));
    this.legend.children[focused]?.focus();
  }

  drawLayouts() {
    const known = this.available.filter((one) => one.name in LAYOUTS);
    if (known.length < 2) return;
    const segment = ({ name }) => h('button', {
      type: 'button', 'aria-pressed': String(name === (this.wanted ?? this.layout)), onclick: () => this.choose(name),
    }, LAYOUTS[name], h('span', { class: 'soft' }, ` ${name === 'tsne' ? 't-SNE' : name.toUpperCase()}`));
    show(this.layouts, known.map(segment));
  }

  /** Shows a layout as soon as the server has it. */
  async choose(name) {
    clearTimeout(this.poll);
    this.wanted = name;
    try {
      // The layout at hand tells how far the others are.
      const { layouts } = await this.app.api.map({ space: this.app.space.name, layout: this.layout }, { signal: this.asked.signal });
      this.available = layouts;
      const state = layouts.find((one) => one.name === name);
      this.progress.hidden = state.ready;
      if (state.ready) {
        this.wanted = null;
        this.layout = name;
        const word = this.chosen >= 0 ? this.spelledChosen() : null;
        await this.load();
        this.chosen = -1;
        if (word) this.goTo({ word });
        this.changed();
      } else {
        this.progress.textContent = `The server computes this layout: ${percent(state.progress ?? 0)}`;
        this.poll = setTimeout(() => this.choose(name), POLL);
      }
      this.drawLayouts();
    } catch (error) {
      if (error.name !== 'AbortError') show(this.progress, error.message), this.progress.hidden = false;
    }
  }

  resize() {
    const box = this.stage.getBoundingClientRect();
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = Math.round(box.width * this.ratio);
      canvas.height = Math.round(box.height * this.ratio);
    }
    this.camera.width = box.width;
    this.camera.height = box.height;
    if (this.data && !this.hasMoved) this.camera.fit(this.data.about.bounds);
  }

  recolour() {
    const style = getComputedStyle(document.body);
    this.ink = style.color;
    this.ground = style.backgroundColor;
    this.colours = rgb(this.app.space);
    this.changed();
  }

  changed() {
    if (!this.data || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.pace.frame((share) => this.draw(share));
    });
    this.recordLater ??= debounced(() => this.record(), 250);
    this.recordLater();
  }

  colourOf(point) {
    const name = this.data.views[this.data.viewOf(point)].name;
    return this.colours[this.app.space.views.findIndex((one) => one.name === name)];
  }

  /** Draws a share of the points of each view: words are sorted by frequency. */
  draw(share) {
    const { camera, data, context, ratio } = this;
    const groups = data.views.filter((view) => !this.hidden.has(view.name))
      .map((view) => ({ first: view.offset, count: Math.ceil(share * view.words), colour: this.colourOf(view.offset) }));
    const crowd = Math.max(0.25, Math.min(0.8, 30000 / data.about.points + 0.1 * camera.zoom));
    const size = Math.min(9, 2.2 + 0.9 * Math.log2(1 + camera.zoom)) * ratio;
    this.scatter.draw(camera, groups, size, crowd);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const place = (point) => camera.toScreen(...data.place(point));
    const where = { isShown: (point) => this.isShown(point), isSeen: (point) => this.locate(point), place, colour: (point) => this.colourOf(point) };
    if (this.boxes.hasPairs) drawPairs(context, { pairs: this.dictionary.pairs, ...where });
    drawLines(context, { points: this.boxes.hasLines ? this.labelled : [], chosen: this.chosen, links: (point) => this.links.of(point), ...where });
    const [x0, y1] = camera.toMap(0, 0);
    const [x1, y0] = camera.toMap(camera.width, camera.height);
    const linked = this.chosen >= 0 ? this.links.of(this.chosen).map(({ point }) => point) : [];
    this.labelled = drawLabels(context, {
      width: camera.width, height: camera.height, ink: this.ink, ground: this.ground,
      order: data.inside(x0, y0, x1, y1, camera.zoom < WIDE),
      chosen: [this.chosen, this.hovered, ...linked].filter((point) => point >= 0 && this.isShown(point)),
      most: Math.round(Math.min(160, (camera.width * camera.height) / 6500)),
      locate: (point) => this.locate(point),
      word: (point) => data.wordOf(point),
      colour: (point) => `rgb(${this.colourOf(point).join(' ')})`,
    });
    if (this.boxes.hasLines) this.askLater();
  }

  askPairs() {
    if (this.boxes.hasPairs && this.data?.about.lines) this.dictionary.ask(this.asked.signal).then(() => this.changed(), () => {});
  }

  askLater() {
    this.asking ??= debounced(async () => {
      const missing = this.labelled.filter((point) => !this.links.known.has(point));
      if (!missing.length || !this.boxes.hasLines) return;
      await this.links.ask(missing, this.asked.signal).catch(() => {});
      this.changed();
    }, 150);
    this.asking();
  }

  isShown(point) { return !this.hidden.has(this.data.views[this.data.viewOf(point)].name); }

  locate(point) {
    if (!this.isShown(point)) return null;
    const at = this.camera.toScreen(...this.data.place(point));
    const isSeen = at[0] >= 0 && at[1] >= 8 && at[0] <= this.camera.width && at[1] <= this.camera.height - 8;
    return isSeen ? at : null;
  }

  at(place) {
    const [x, y] = this.camera.toMap(...place);
    return this.data.grid.nearest(x, y, NEAR / this.camera.scale, (point) => this.isShown(point));
  }

  hover(place) {
    const point = place && this.data ? this.at(place) : -1;
    this.overlay.classList.toggle('on-point', point >= 0);
    this.tip.hidden = point < 0;
    if (point >= 0) {
      const view = this.data.views[this.data.viewOf(point)].name;
      show(this.tip, word(this.data.wordOf(point), view), label(this.app.space, view));
      const [left, top] = this.camera.toScreen(...this.data.place(point));
      this.tip.style.setProperty('left', `${Math.min(left + 12, this.camera.width - 140)}px`);
      this.tip.style.setProperty('top', `${top + 12}px`);
    }
    if (point === this.hovered) return;
    this.hovered = point;
    this.changed();
  }

  click(place) {
    if (!this.data) return;
    const point = this.at(place);
    this.hasMoved = true;
    if (point >= 0) this.select(point);
    else this.unselect();
    this.changed();
  }

  unselect() {
    this.chosen = -1;
    this.info.hidden = true;
  }

  async select(point) {
    const { app, data } = this;
    this.chosen = point;
    this.hasMoved = true;
    const view = data.views[data.viewOf(point)].name;
    const text = data.wordOf(point);
    const found = h('ul', {});
    show(this.info, chosenWord(app, view, text, found, () => { this.unselect(); this.changed(); }));
    this.info.hidden = false;
    app.announce(`${text}, ${languageName(view)}`);
    await this.links.ask([point], this.asked.signal).catch(() => {});
    if (this.chosen !== point) return;
    show(found, this.links.of(point).map((link) => translation(app, data, link, (at) => this.find(at))));
    this.changed();
  }

  zoom(factor) {
    this.hasMoved = true;
    this.camera.zoomBy(factor);
    this.changed();
  }

  whole() {
    this.hasMoved = false;
    this.camera.fit(this.data.about.bounds);
    this.changed();
  }

  key(event) {
    if (!this.data) return false;
    if (steerByKey(this.camera, event.key)) this.hasMoved = true;
    else if (event.key === '0') this.whole();
    else if (event.key === '.' || event.key === ',') {
      // From left to right.
      const shown = [...this.labelled].sort((a, b) => this.data.place(a)[0] - this.data.place(b)[0]);
      const at = shown.indexOf(this.chosen);
      const next = shown.at((at + (event.key === '.' ? 1 : -1)) % shown.length);
      if (next !== undefined) this.select(next);
    } else if (event.key === 'Escape' && this.chosen >= 0) this.unselect();
    else if (event.key === 'Enter' && this.chosen >= 0 && event.target === this.overlay) {
      const view = this.data.views[this.data.viewOf(this.chosen)].name;
      this.app.go('translate', { view, word: this.data.wordOf(this.chosen) });
      return true;
    } else return false;
    this.changed();
    return true;
  }

  spelledChosen() {
    return `${this.data.views[this.data.viewOf(this.chosen)].name}:${this.data.wordOf(this.chosen)}`;
  }

  /** Writes where one looks into the address. */
  record() {
    if (this.asked.signal.aborted) return;
    const { camera } = this;
    const digits = (value) => value.toPrecision(5);
    record('map', {
      ...this.app.base(), layout: this.layout, off: [...this.hidden].join(','), ...this.boxes.params(),
      word: this.chosen >= 0 ? this.spelledChosen() : null,
      ...(this.hasMoved && { x: digits(camera.x), y: digits(camera.y), z: digits(camera.zoom) }),
    });
  }
}
