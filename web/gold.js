// Dictionaries that a person loads: parsed here, and kept for the marks of other views.

import { recall, remember } from './store.js';

/** Entries kept at most between visits; larger dictionaries last until the page is closed. */
const KEPT = 20000;

/** The pairs of words in a text: one pair a line, separated by a tab or else by a space. A first line that names the two
 * views is a header, and columns of other views are left out. */
export function parsePairs(text, from, to) {
  const entries = [];
  let skipped = 0;
  let columns = [0, 1];
  for (const [at, line] of text.replace(/^\uFEFF/, '').split(/\r?\n/).entries()) {
    if (!line.trim()) continue;
    const cells = (line.includes('\t') ? line.split('\t') : line.trim().split(/\s+/)).map((cell) => cell.trim());
    if (at === 0 && cells.includes(from) && cells.includes(to)) {
      columns = [cells.indexOf(from), cells.indexOf(to)];
      continue;
    }
    const [source, target] = columns.map((column) => cells[column]);
    if (source && target) entries.push([source, target]);
    else skipped += 1;
  }
  return { entries, skipped };
}

/** The gold dictionaries of a space, one for a pair of views. */
export class Gold {
  constructor(space) {
    this.key = `gold.${space.fingerprint}`;
    const kept = recall(this.key);
    this.loaded = Array.isArray(kept) ? kept : [];
  }

  of(from, to) {
    return this.loaded.find((one) => one.from === from && one.to === to);
  }

  add(dictionary) {
    this.loaded = [...this.loaded.filter((one) => one.from !== dictionary.from || one.to !== dictionary.to), dictionary];
    const total = this.loaded.reduce((sum, one) => sum + one.entries.length, 0);
    if (total <= KEPT) remember(this.key, this.loaded);
  }

  remove(from, to) {
    this.loaded = this.loaded.filter((one) => one.from !== from || one.to !== to);
    remember(this.key, this.loaded);
  }

  /** The translations that the dictionaries have for a word, in either direction. */
  translations(from, to, word) {
    const forth = this.of(from, to)?.entries.filter((entry) => entry[0] === word).map((entry) => entry[1]);
    const back = this.of(to, from)?.entries.filter((entry) => entry[1] === word).map((entry) => entry[0]);
    return new Set([...(forth ?? []), ...(back ?? [])]);
  }
}
