// What a person decided about pairs of words; kept by the browser, written and read as TSV.

import { parsePairs } from './gold.js';
import { recall, remember } from './store.js';

export class Decisions {
  /** Those about words of `from` and their translations in `to`; they belong to the space with its fingerprint. */
  constructor(space, from, to) {
    this.views = [from, to];
    this.key = `dictionary.${space.fingerprint}.${from}+${to}`;
    const kept = recall(this.key);
    this.made = new Map(Array.isArray(kept) ? kept : []);
    this.isKept = true;
  }

  of(source) { return this.made.get(source); }

  /** `target` is the word that is right, or null if none of the candidates is. */
  decide(source, target, state) {
    this.made.delete(source);
    this.made.set(source, { target, state });
    this.keep();
  }

  forget(source) {
    this.made.delete(source);
    this.keep();
  }

  keep() { this.isKept = remember(this.key, [...this.made]); }

  count(state) {
    let number = 0;
    for (const one of this.made.values()) if (one.state === state) number += 1;
    return number;
  }

  /** The accepted and corrected pairs as a file that `sememe align --lexicon` reads: a header of view names, then a pair
   * a line. */
  tsv() {
    const pairs = [...this.made].filter(([, one]) => one.state !== 'rejected').map(([source, one]) => `${source}\t${one.target}`);
    return `${[this.views.join('\t'), ...pairs].join('\n')}\n`;
  }

  /** Takes the pairs of a file as accepted; says how many there were. */
  read(text) {
    const { entries } = parsePairs(text, ...this.views);
    for (const [source, target] of entries) this.made.set(source, { target, state: 'accepted' });
    this.keep();
    return entries.length;
  }
}
