// The space inside a page of one file: quantised vectors and what their ranks need, and the exact search over them.
//
// A view has rows of signed bytes; times the factor of the column and the one that `shared` columns of the row have together
// they are the latent vectors.
// Two views are compared by cosines after a bilinear map between them; lengths under that map and the mean cosines `r` that
// CSLS subtracts come from the whole space. PMI is a second bilinear map and a term for each word.

const SPACE = 'sememe-space';
const DATA = 'sememe-data';
/** Candidates that confidences depend on. */
const CALIBRATED = 20;
/** Searches between which the page can draw and answer. */
const AT_A_TIME = 6;

function decoded(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes.buffer;
}

const pause = () => new Promise((resolve) => { setTimeout(resolve, 0); });

/** Runs `work` for every item, and lets the page live in between. */
export async function inTurns(items, work, signal) {
  const results = [];
  for (const [at, item] of items.entries()) {
    if (at % AT_A_TIME === AT_A_TIME - 1) await pause();
    if (signal?.aborted) throw new DOMException('no longer wanted', 'AbortError');
    results.push(work(item));
  }
  return results;
}

export class Embedded {
  static isThere() { return document.getElementById(SPACE) !== null; }

  constructor() {
    this.about = JSON.parse(document.getElementById(SPACE).textContent);
    const data = document.getElementById(DATA);
    this.buffer = decoded(data.textContent);
    data.remove();
    this.latent = this.about.latent;
    this.views = this.about.views.map((view) => ({
      ...view,
      words: new TextDecoder().decode(this.bytes(view.text)).split('\n'),
      vectors: new Int8Array(this.buffer, ...this.part(view.vectors, 1)),
      rows: this.floats(view.rows),
      columns: this.floats(view.columns),
      layouts: Object.fromEntries(Object.entries(view.layouts).map(([name, block]) => [name, this.floats(block)])),
    }));
    for (const view of this.views) view.index = new Map(view.words.map((word, row) => [word, row]));
    this.pairs = new Map();
  }

  part([offset, bytes], size) { return [offset, bytes / size]; }
  bytes(block) { return new Uint8Array(this.buffer, ...this.part(block, 1)); }
  integers(block) { return new Int32Array(this.buffer, ...this.part(block, 4)); }
  floats(block) { return new Float32Array(this.buffer, ...this.part(block, 4)); }

  view(name) {
    const found = this.views.find((one) => one.name === name);
    if (!found) throw new Error(`There is no view named ${name}.`);
    return found;
  }

  row(view, word) {
    const row = view.index.get(word);
    if (row === undefined) throw Object.assign(new Error(`${word} is not among the words of ${view.name} in this page.`), { code: 'unknown_word' });
    return row;
  }

  /** What comparing words of one view with words of another needs, seen from the first. */
  pair(from, to) {
    const key = `${from.name} ${to.name}`;
    if (!this.pairs.has(key)) {
      const stored = this.about.pairs.find((one) => one.from === from.name && one.to === to.name);
      const [forth, back] = ['source', 'target'].map((side) => ({
        norms: this.floats(stored[side].norms), means: this.floats(stored[side].means),
      }));
      const targets = back.means.slice().sort();
      this.pairs.set(key, {
        calibration: stored.calibration,
        map: stored.map && { values: this.floats(stored.map), isTransposed: stored.transposed },
        from: forth, to: back, sorted: targets,
        pmi: stored.pmi && {
          map: { values: this.floats(stored.pmi.map), isTransposed: stored.transposed },
          from: this.floats(stored.pmi.source), to: this.floats(stored.pmi.target),
        },
        induced: this.integers(stored.induced.rows),
        trained: stored.induced.trained && this.bytes(stored.induced.trained),
        confidences: stored.induced.confidences && this.floats(stored.induced.confidences),
      });
    }
    return this.pairs.get(key);
  }

  /** An element of a latent vector, as far as bytes tell. */
  element(view, row, at) {
    const factors = Math.ceil(this.latent / view.shared);
    return view.vectors[row * this.latent + at] * view.columns[at] * view.rows[row * factors + Math.floor(at / view.shared)];
  }

  /** A latent vector. */
  vector(view, row) {
    return Float32Array.from({ length: this.latent }, (_, at) => this.element(view, row, at));
  }

  /** The lengths of all latent vectors of a view. */
  norms(view) {
    view.norms ??= Float32Array.from(view.words, (_, at) => norm(this.vector(view, at)));
    return view.norms;
  }

  mapped(vector, map) {
    if (!map) return vector;
    const size = this.latent;
    const result = new Float32Array(size);
    for (let i = 0; i < size; i += 1) {
      if (map.isTransposed) {
        let sum = 0;
        for (let j = 0; j < size; j += 1) sum += map.values[i * size + j] * vector[j];
        result[i] = sum;
      } else {
        const value = vector[i];
        for (let j = 0; j < size; j += 1) result[j] += value * map.values[i * size + j];
      }
    }
    return result;
  }

  /** The products of a vector with all rows of a view. */
  products(vector, view) {
    const size = this.latent;
    const weights = vector.map((value, at) => value * view.columns[at]);
    const { vectors, rows, shared } = view;
    const products = new Float32Array(view.words.length);
    for (let row = 0, at = 0, factor = 0; row < products.length; row += 1) {
      let product = 0;
      for (let first = 0; first < size; first += shared, factor += 1) {
        const end = Math.min(first + shared, size);
        let sum = 0;
        for (let k = first; k < end; k += 1, at += 1) sum += weights[k] * vectors[at];
        product += sum * rows[factor];
      }
      products[row] = product;
    }
    return products;
  }

  /** The cosines and CSLS scores of a word with all words of another view. */
  scores(from, row, to) {
    const pair = this.pair(from, to);
    const cosines = this.products(this.mapped(this.vector(from, row), pair.map), to);
    const csls = new Float32Array(cosines.length);
    const own = pair.from.norms[row];
    for (let at = 0; at < cosines.length; at += 1) {
      const norm = own * pair.to.norms[at];
      cosines[at] = norm > 0 ? cosines[at] / norm : -Infinity;
      csls[at] = 2 * cosines[at] - pair.from.means[row] - pair.to.means[at];
    }
    return { cosines, csls };
  }

  /** The pointwise mutual information of a word with all words of another view; null without a noise model. */
  mutualInformation(from, row, to) {
    const { pmi } = this.pair(from, to);
    if (!pmi) return null;
    const products = this.products(this.mapped(this.vector(from, row), pmi.map), to);
    return products.map((product, at) => product + pmi.from[row] + pmi.to[at]);
  }

  /** The cosines of a word with its own view, as the latent vectors are. */
  ownCosines(view, row) {
    const norms = this.norms(view);
    const products = this.products(this.vector(view, row), view);
    return products.map((product, at) => product / (norms[row] * norms[at] || Infinity));
  }

  /** Confidences of the best scores, in descending order, of a word in this row; see `Calibration` of the library. */
  confidences(calibration, scores, row) {
    if (!calibration) return scores.map(() => null);
    const { temperature, slope, offset, level = 0, rarity, commonness, usual, range } = calibration;
    const rare = Math.min(range[1], Math.max(range[0], Math.log1p(row))) - usual;
    const base = offset + level * scores[0] + (rare < 0 ? (commonness ?? rarity) : rarity) * rare;
    const weights = scores.map((score) => Math.exp((score - scores[0]) / temperature));
    return scores.map((_, rank) => {
      let others = 0;
      for (let at = 0; at < Math.min(CALIBRATED, weights.length); at += 1) if (at !== rank) others += weights[at];
      const odds = Math.log(weights[rank]) - Math.log(others);
      return 1 / (1 + Math.exp(-(base + slope * odds)));
    });
  }

  /** Puts the best translation first that was found with the full vectors: by bytes, another one may be as good. */
  correct(csls, first) {
    if (!(first >= 0)) return;
    const best = csls.reduce((most, score) => Math.max(most, score), -Infinity);
    if (csls[first] < best) csls[first] = best + 1e-6;
  }

  /** The best translations of a word with their confidences; at least as many as confidences depend on. */
  best(from, row, to, k) {
    const { cosines, csls } = this.scores(from, row, to);
    this.correct(csls, this.pair(from, to).induced[row]);
    const rows = top(csls, Math.max(k, CALIBRATED));
    const confidences = this.confidences(this.pair(from, to).calibration, rows.map((one) => csls[one]), row);
    return { cosines, csls, hits: rows.slice(0, k).map((one, at) => ({ row: one, word: to.words[one], score: csls[one], confidence: confidences[at] })) };
  }
}

/** The length of a vector. */
export const norm = (vector) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

/** The rows of the `k` largest scores, largest first, ties by the lower row. */
export function top(scores, k) {
  const rows = [];
  let least = -Infinity;
  for (let row = 0; row < scores.length; row += 1) {
    const score = scores[row];
    if (!(score > least) && rows.length >= k) continue;
    if (score === -Infinity) continue;
    let at = rows.length;
    while (at > 0 && scores[rows[at - 1]] < score) at -= 1;
    rows.splice(at, 0, row);
    if (rows.length > k) rows.pop();
    if (rows.length >= k) least = scores[rows[k - 1]];
  }
  return rows;
}

/** The place of a row among all scores, from 1. */
export function rankOf(scores, row) {
  let rank = 1;
  const score = scores[row];
  for (let at = 0; at < scores.length; at += 1) if (scores[at] > score || (scores[at] === score && at < row)) rank += 1;
  return rank;
}
