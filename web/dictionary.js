// A dictionary made by hand from what the space offers: accept, correct or reject, one key a pair.

import { Decisions } from './decisions.js';
import { count, failure, h, icon, percent, show } from './dom.js';
import { languageName, viewField, word } from './language.js';
import { searchBox } from './search.js';

const LIMIT = 500;
const CANDIDATES = 8;
/** Milliseconds that one looks at a pair before its candidates are asked for. */
const PAUSE = 80;
const STATES = { accepted: '✓', corrected: '✎', rejected: '✗' };

export function dictionaryView(app, main, params) {
  return new DictionaryView(app, main, params).handlers();
}

class DictionaryView {
  constructor(app, main, params) {
    const names = app.space.views.map((view) => view.name);
    this.app = app;
    this.from = names.includes(params.from) ? params.from : names[0];
    this.to = names.includes(params.to) && params.to !== this.from ? params.to : names.find((name) => name !== this.from);
    this.withTraining = params.training === '1';
    this.start = params.word;
    this.decisions = new Decisions(app.space, this.from, this.to);
    this.pairs = [];
    this.items = [];
    this.at = 0;
    this.limit = LIMIT;
    this.asked = new AbortController();
    this.build(main);
    this.load();
  }

  handlers() {
    return { keys: (event) => this.key(event), close: () => { this.asked.abort(); this.explaining?.abort(); } };
  }

  go(changed) { this.app.go('dictionary', { from: this.from, to: this.to, training: this.withTraining ? 1 : null, ...changed }); }

  build(main) {
    const { app } = this;
    this.progress = h('div', { class: 'progressbar' });
    this.current = h('section', { class: 'card current', 'aria-label': 'Pair' });
    this.list = h('ol', { class: 'pairs' });
    this.more = h('button', { type: 'button', hidden: true, onclick: () => { this.limit *= 2; this.load(); } }, 'More pairs');
    this.message = h('p', { class: 'soft', role: 'status' });
    const file = h('input', { type: 'file', class: 'hidden', accept: '.txt,.tsv,text/plain', 'aria-label': 'Dictionary to import', tabindex: '-1', onchange: async () => {
      if (file.files[0]) this.import(await file.files[0].text());
      file.value = '';
    } });
    const training = h('input', { type: 'checkbox', onchange: () => { this.withTraining = training.checked; this.go({}); } });
    training.checked = this.withTraining;
    show(main, h('h1', {}, 'Dictionary'),
      h('div', { class: 'fields' },
        viewField(app.space, { name: 'From', value: this.from, onchange: (from) => this.go({ from, to: from === this.to ? this.from : this.to }) }),
        h('button', { class: 'quiet', type: 'button', 'aria-label': 'Swap languages', title: 'Swap languages', onclick: () => this.go({ from: this.to, to: this.from }) }, icon('swap')),
        viewField(app.space, { name: 'To', value: this.to, without: this.from, onchange: (to) => this.go({ to }) }),
        h('label', { class: 'check' }, training, 'also pairs of the training dictionary'),
        h('div', { class: 'actions' }, h('button', { type: 'button', onclick: () => file.click() }, 'Import'), file,
          h('button', { type: 'button', class: 'main', onclick: () => this.export() }, 'Export'))),
      this.progress, this.message,
      h('div', { class: 'desk' }, this.current, h('nav', { class: 'queue', 'aria-label': 'Pairs' }, this.list, this.more)));
  }

  async load() {
    const { app, asked } = this;
    try {
      const answer = await app.api.induce({ space: app.space.name, from: this.from, to: this.to, limit: this.limit, skip_training: !this.withTraining }, { signal: asked.signal });
      const known = new Set(answer.pairs.map((pair) => pair.source));
      const added = [...this.decisions.made].filter(([source]) => !known.has(source))
        .map(([source, one]) => ({ source, target: one.target, confidence: null }));
      this.pairs = [...answer.pairs, ...added];
      this.more.hidden = answer.pairs.length < this.limit;
      this.drawList();
      const start = this.pairs.findIndex((pair) => pair.source === this.start);
      this.choose(start >= 0 ? start : Math.max(0, this.next(-1)));
    } catch (error) {
      if (error.name !== 'AbortError') show(this.current, failure(error));
    }
  }

  drawList() {
    this.items = this.pairs.map((pair, at) => h('li', {}, h('button', { type: 'button', onclick: () => this.choose(at) })));
    this.pairs.forEach((_, at) => this.drawItem(at));
    show(this.list, this.items);
    this.drawProgress();
  }

  drawItem(at) {
    const pair = this.pairs[at];
    const made = this.decisions.of(pair.source);
    const button = this.items[at].firstChild;
    button.className = made?.state ?? '';
    if (at === this.at) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
    show(button, word(pair.source, this.from), h('span', { class: 'soft', 'aria-hidden': 'true' }, '→'),
      word(made?.target ?? pair.target ?? '–', this.to),
      h('span', { class: 'state' }, made ? [h('span', { 'aria-hidden': 'true' }, STATES[made.state]), h('span', { class: 'hidden' }, made.state)]
        : typeof pair.confidence === 'number' && h('span', { class: 'soft number' }, percent(pair.confidence))));
  }

  drawProgress() {
    const total = Math.max(1, this.pairs.length);
    const states = Object.keys(STATES).map((state) => [state, this.decisions.count(state)]);
    const done = states.reduce((sum, [, number]) => sum + number, 0);
    show(this.progress,
      h('div', { class: 'meter', 'aria-hidden': 'true' }, states.map(([state, number]) => h('span', { class: state, style: { width: `${(100 * number) / total}%` } }))),
      h('p', {}, states.map(([state, number]) => h('span', { class: `count ${state}` }, h('strong', {}, count(number)), ` ${state}`)),
        h('span', { class: 'count' }, h('strong', {}, count(Math.max(0, this.pairs.length - done))), ' left')));
    if (!this.decisions.isKept) this.message.textContent = 'This browser keeps nothing: export before you leave.';
  }

  /** The next pair after `at` that is not decided, or -1. */
  next(at) {
    const isOpen = (pair) => !this.decisions.of(pair.source);
    const after = this.pairs.findIndex((pair, index) => index > at && isOpen(pair));
    return after >= 0 ? after : this.pairs.findIndex(isOpen);
  }

  async choose(at) {
    if (!this.pairs.length) return show(this.current, h('p', {}, 'There are no pairs to decide on.'));
    const before = this.at;
    this.at = Math.min(this.pairs.length - 1, Math.max(0, at));
    if (this.items[before]) this.drawItem(before);
    this.drawItem(this.at);
    this.items[this.at].scrollIntoView({ block: 'nearest' });
    const pair = this.pairs[this.at];
    this.candidates = [];
    this.drawCurrent(pair);
    // Whoever goes through pairs quickly does not need the candidates of each.
    this.explaining?.abort();
    this.explaining = new AbortController();
    const { signal } = this.explaining;
    await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    if (signal.aborted) return undefined;
    const answer = await this.app.api.explain({ space: this.app.space.name, from: this.from, word: pair.source, to: this.to, k: CANDIDATES }, { signal }).catch(() => null);
    if (signal.aborted || !answer) return undefined;
    this.candidates = answer.to[0]?.candidates ?? [];
    this.drawCandidates(pair);
    return undefined;
  }

  drawCurrent(pair) {
    const made = this.decisions.of(pair.source);
    const button = (key, text, kind, work) => h('button', { type: 'button', class: kind, 'aria-keyshortcuts': key, onclick: work }, text, h('kbd', { 'aria-hidden': 'true' }, key));
    this.offered = h('ol', { class: 'offered' });
    this.field = searchBox(this.app, { label: `Another ${languageName(this.to)} word`, placeholder: 'Another word', view: this.to, keeps: false, onpick: (picked) => this.take(picked.word) });
    show(this.current,
      h('h2', {}, h('a', { href: this.app.href('translate', { view: this.from, word: pair.source }) }, word(pair.source, this.from)),
        h('span', { class: 'soft', 'aria-hidden': 'true' }, ' → '), word(made?.target ?? pair.target ?? '–', this.to, { class: `word ${made?.state ?? ''}` })),
      h('p', { class: 'soft' }, made ? made.state : 'not decided yet'),
      h('div', { class: 'actions' },
        button('a', 'Accept', 'main', () => this.decide('accepted')), button('r', 'Reject', '', () => this.decide('rejected')),
        button('u', 'Undecided', '', () => this.undo())),
      h('h3', {}, 'or rather'), this.offered, this.field);
  }

  drawCandidates(pair) {
    const chosen = this.decisions.of(pair.source)?.target ?? pair.target;
    show(this.offered, this.candidates.map((one, at) => h('li', {}, h('button', { type: 'button', 'aria-pressed': String(one.word === chosen), 'aria-keyshortcuts': String(at + 1), onclick: () => this.take(one.word) },
      h('kbd', { 'aria-hidden': 'true' }, at + 1), word(one.word, this.to),
      typeof one.confidence === 'number' && h('span', { class: 'soft number' }, percent(one.confidence)),
      one.back && h('span', { class: 'soft' }, ' ← ', word(one.back.word, this.from))))));
  }

  /** Decides about the pair at hand and goes on to the next one. */
  decide(state, target) {
    const pair = this.pairs[this.at];
    if (!pair) return;
    const kept = target ?? this.decisions.of(pair.source)?.target ?? pair.target;
    this.decisions.decide(pair.source, kept, state);
    this.app.announce(`${pair.source}: ${state}`);
    this.drawItem(this.at);
    this.drawProgress();
    const next = this.next(this.at);
    this.choose(next >= 0 ? next : this.at);
  }

  take(text) {
    const pair = this.pairs[this.at];
    if (pair) this.decide(text === pair.target ? 'accepted' : 'corrected', text);
  }

  undo() {
    this.decisions.forget(this.pairs[this.at]?.source);
    this.drawProgress();
    this.choose(this.at);
  }

  key(event) {
    if (event.target.closest?.('a, button') && event.key === 'Enter') return false;
    const number = Number(event.key);
    if (event.key === 'a') this.decide('accepted');
    else if (event.key === 'r') this.decide('rejected');
    else if (event.key === 'u') this.undo();
    else if (event.key === 'n') this.choose(this.next(this.at));
    else if (event.key === 'e') this.field?.input.focus();
    else if (event.key === 'ArrowDown') this.choose(this.at + 1);
    else if (event.key === 'ArrowUp') this.choose(this.at - 1);
    else if (number >= 1 && this.candidates[number - 1]) this.take(this.candidates[number - 1].word);
    else return false;
    return true;
  }

  export() {
    const url = URL.createObjectURL(new Blob([this.decisions.tsv()], { type: 'text/tab-separated-values' }));
    const link = h('a', { href: url, download: `${this.from}-${this.to}.tsv` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    const pairs = this.decisions.count('accepted') + this.decisions.count('corrected');
    show(this.message, `${count(pairs)} pairs written. Align with them: `, h('code', {}, `sememe align … --lexicon ${this.from}-${this.to}.tsv`));
  }

  async import(text) {
    const read = this.decisions.read(text);
    // Told when the list shows it: a message that comes first contradicts the counts beside it.
    await this.load();
    this.message.textContent = read ? `${count(read)} pairs read.` : 'This file has no pairs of words.';
  }
}
