// Answers out of the page itself: the methods of `Http`, computed from the embedded space.

import { Completion } from './completion.js';
import { HUB } from './hints.js';
import { Embedded, inTurns, norm, rankOf, top } from './embedded.js';

const SUGGESTIONS = 5;
/** Words with so much of their beginning in common are forms of one word. */
const STEM = 0.6;

export class Local {
  static isEmbedded() { return Embedded.isThere(); }

  constructor() {
    this.data = new Embedded();
    this.views = ['translate', 'map', 'factors', 'errors', 'dictionary'];
    this.completions = new Map();
  }

  async spaces() {
    const { name, method, latent, factors, fingerprint, correlations, confidences } = this.data.about;
    const views = this.data.views.map((view) => ({ name: view.name, words: view.words.length }));
    return { spaces: [{ name, method, latent, factors: factors.length, fingerprint, correlations, confidences, views, criteria: ['csls', 'nn'] }] };
  }

  completion(view) {
    if (!this.completions.has(view.name)) this.completions.set(view.name, new Completion(view.words));
    return this.completions.get(view.name);
  }

  async complete({ view, prefix, limit = 8 }) {
    const views = view ? [this.data.view(view)] : this.data.views;
    const hit = (one, row) => ({ view: one.name, word: one.words[row], row });
    const completions = views.flatMap((one) => this.completion(one).complete(prefix, limit).map((row) => hit(one, row)));
    completions.sort((a, b) => Number(b.word === prefix) - Number(a.word === prefix) || a.row - b.row);
    const near = completions.length ? [] : views.flatMap((one) => this.completion(one).suggest(prefix, SUGGESTIONS).map((found) => ({ ...found, one })));
    near.sort((a, b) => a.distance - b.distance || a.row - b.row);
    const suggestions = near.map(({ one, row }) => hit(one, row));
    return { completions: completions.slice(0, limit), suggestions: suggestions.slice(0, SUGGESTIONS) };
  }

  async words({ view }) { return this.data.view(view).words; }

  others(from, to) {
    if (to !== undefined) return [to].flat().map((name) => this.data.view(name));
    return this.data.views.filter((view) => view !== from);
  }

  async translate({ from, to, words, k = 5, min_confidence: least = 0.05 }, { signal } = {}) {
    const source = this.data.view(from);
    const known = words.filter((word) => source.index.has(word));
    const asked = known.flatMap((word) => this.others(source, to).map((target) => ({ word, target })));
    const translations = await inTurns(asked, ({ word, target }) => {
      const { hits } = this.data.best(source, source.index.get(word), target, k);
      const candidates = hits.filter((hit, rank) => rank === 0 || hit.confidence === null || hit.confidence >= least);
      return { word, to: target.name, known: true, candidates };
    }, signal);
    return { from, to, criterion: 'csls', translations, unknown: words.filter((word) => !source.index.has(word)), suggestions: {} };
  }

  async neighbors({ from, to, words, k }) {
    const [source, target] = [this.data.view(from), this.data.view(to)];
    const unknown = words.filter((word) => !source.index.has(word));
    const suggested = (word) => this.completion(source).suggest(word, SUGGESTIONS).map(({ row }) => source.words[row]);
    const neighbors = words.filter((word) => source.index.has(word)).map((word) => {
      const row = source.index.get(word);
      const scores = source === target ? this.data.ownCosines(source, row) : this.data.scores(source, row, target).cosines;
      const others = top(scores, k + 1).filter((one) => source !== target || one !== row).slice(0, k);
      return { word, hits: others.map((one) => ({ word: target.words[one], row: one, score: scores[one] })) };
    });
    return { from, to, criterion: 'nn', neighbors, unknown, suggestions: Object.fromEntries(unknown.map((word) => [word, suggested(word)])) };
  }

  async explain({ from, word, to, k = 8 }, { signal } = {}) {
    const source = this.data.view(from);
    const row = this.data.row(source, word);
    const answers = await inTurns(this.others(source, to), (target) => this.explained(source, row, target, k), signal);
    return { from, word, row, training: null, to: answers };
  }

  explained(source, row, target, k) {
    const { cosines, csls, hits } = this.data.best(source, row, target, k);
    const pair = this.data.pair(source, target);
    const pmi = this.data.mutualInformation(source, row, target);
    const candidates = hits.map((hit, rank) => {
      const [back] = this.data.best(target, hit.row, source, 1).hits;
      const mean = pair.to.means[hit.row];
      return {
        word: hit.word, row: hit.row, confidence: hit.confidence,
        scores: { nn: cosines[hit.row], csls: hit.score, pmi: pmi && pmi[hit.row] },
        ranks: { nn: rankOf(cosines, hit.row), csls: rank + 1, pmi: pmi && rankOf(pmi, hit.row) },
        mutual: rank === 0 && back?.row === row, induced: pair.induced[row] === hit.row, training: pair.trained && pair.induced[row] === hit.row ? pair.trained[row] === 1 : null,
        hub: { mean_cosine: mean, percentile: shareBelow(pair.sorted, mean) }, back,
      };
    });
    return { view: target.name, candidates };
  }

  ends(values, view, count) {
    const hits = (scores, sign) => top(scores, count).map((row) => ({ word: view.words[row], row, value: sign * scores[row] }));
    return { view: view.name, positive: hits(values, 1), negative: hits(values.map((value) => -value), -1) };
  }

  async factors({ from = 0, count = 10, top: most = 8 }) {
    const { about, views } = this.data;
    const coordinate = (view, index) => {
      const norms = this.data.norms(view);
      return Float32Array.from(view.words, (_, row) => this.data.element(view, row, index) / (norms[row] || Infinity));
    };
    const ends = (view, place, index) => ({ ...this.ends(coordinate(view, index), view, most), share: about.shares[place]?.[index] ?? null });
    const factors = about.factors.slice(from, from + count).map((index, at) => ({
      index, correlation: about.correlations?.[from + at] ?? null, views: views.map((view, place) => ends(view, place, index)),
    }));
    return { latent: about.factors.length, correlations: about.correlations, factors };
  }

  async axis({ positive, negative, top: most = 20 }) {
    const { data } = this;
    const unit = ({ view, word }) => {
      const vector = data.vector(data.view(view), data.row(data.view(view), word));
      const length = norm(vector) || 1;
      return vector.map((value) => value / length);
    };
    const mean = (words) => {
      const sum = new Float32Array(data.latent);
      for (const vector of words.map(unit)) vector.forEach((value, at) => { sum[at] += value / words.length; });
      return sum;
    };
    const low = mean(negative);
    const axis = mean(positive).map((value, at) => value - low[at]);
    const views = data.views.map((view) => {
      const products = data.products(axis, view);
      const norms = data.norms(view);
      return this.ends(products.map((product, row) => product / (norms[row] || Infinity)), view, most);
    });
    return { views, unknown: [] };
  }

  async map({ layout }) {
    const { views } = this.data;
    const names = Object.keys(views[0].layouts);
    const points = await this.points({ layout: names.includes(layout) ? layout : names[0] });
    const bounds = [Infinity, Infinity, -Infinity, -Infinity];
    for (let at = 0; at < points.length; at += 2) {
      bounds[0] = Math.min(bounds[0], points[at]);
      bounds[1] = Math.min(bounds[1], points[at + 1]);
      bounds[2] = Math.max(bounds[2], points[at]);
      bounds[3] = Math.max(bounds[3], points[at + 1]);
    }
    let offset = 0;
    const placed = views.map((view) => {
      offset += view.words.length;
      return { name: view.name, words: view.words.length, offset: offset - view.words.length };
    });
    return { layout, layouts: names.map((name) => ({ name, ready: true })), views: placed, points: offset, bounds, lines: this.data.about.lines && this.data.about.lines[1] / 8 };
  }

  async lines() { return this.data.integers(this.data.about.lines); }

  async points({ layout }) {
    const parts = this.data.views.map((view) => view.layouts[layout]);
    const points = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      points.set(part, at);
      at += part.length;
    }
    return points;
  }

  async induce({ from, to, limit, skip_training: skips }) {
    const [source, target] = [this.data.view(from), this.data.view(to)];
    const { induced, confidences, trained } = this.data.pair(source, target);
    const rows = [...source.words.keys()].filter((row) => induced[row] >= 0 && !(skips && trained?.[row]));
    if (confidences) rows.sort((a, b) => confidences[b] - confidences[a] || a - b);
    const pairs = rows.slice(0, limit).map((row) => ({ source: source.words[row], target: target.words[induced[row]], confidence: confidences ? confidences[row] : null, training: trained ? trained[row] === 1 : null }));
    return { pairs };
  }

  async errors({ from, to, entries }, { signal } = {}) {
    const [source, target] = [this.data.view(from), this.data.view(to)];
    const gold = new Map();
    for (const [word, translation] of entries) gold.set(word, [...(gold.get(word) ?? []), translation]);
    const asked = [...gold].filter(([word, right]) => source.index.has(word) && right.some((one) => target.index.has(one)));
    const { sorted, to: side } = this.data.pair(source, target);
    const found = await inTurns(asked, ([word, right]) => {
      const { csls, hits } = this.data.best(source, source.index.get(word), target, 1);
      const known = right.filter((one) => target.index.has(one)).map((one) => ({ word: one, row: target.index.get(one) }));
      const best = known.reduce((a, b) => (csls[b.row] > csls[a.row] ? b : a));
      const [chosen] = hits;
      const isHub = shareBelow(sorted, side.means[chosen.row]) >= HUB;
      return {
        word, gold: right, chosen: chosen.word, chosen_score: chosen.score, confidence: chosen.confidence, gold_word: best.word,
        gold_score: csls[best.row], gold_rank: rankOf(csls, best.row), margin: chosen.score - csls[best.row],
        reason: isHub ? 'hub' : haveStem(chosen.word, best.word) ? 'inflection' : 'near',
      };
    }, signal);
    const precision = (k) => (100 * found.filter((one) => one.gold_rank <= k).length) / Math.max(1, found.length);
    const errors = found.filter((one) => one.gold_rank > 1).sort((a, b) => b.margin - a.margin);
    return { precision: { 1: precision(1), 5: precision(5), 10: precision(10) }, asked: found.length, skipped: gold.size - found.length, training: null, errors };
  }
}

function shareBelow(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low / sorted.length;
}

function haveStem(a, b) {
  let same = 0;
  while (same < Math.min(a.length, b.length) && a[same] === b[same]) same += 1;
  return same >= STEM * Math.max(a.length, b.length);
}
