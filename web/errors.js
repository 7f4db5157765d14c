// A dictionary held against the space: how much of it the space finds, and where the two disagree.

import { count, failure, h, percent, show } from './dom.js';
import { parsePairs } from './gold.js';
import { languageName, viewField, word } from './language.js';

const PAGE = 100;

const REASONS = {
  hub: ['hub', 'What was chosen is near to very many words.'],
  synonym: ['synonym', 'What was chosen means nearly the same.'],
  inflection: ['inflection', 'Another form of the same word.'],
  'other sense': ['other sense', 'What was chosen is right for another meaning of the word, or the entry is wrong.'],
  near: ['near', 'Something related was chosen.'],
  far: ['far', 'What was chosen has little to do with it.'],
};

function reason(name) {
  const [text, title] = REASONS[name] ?? [name, ''];
  return h('span', { class: 'mark', title }, text);
}

function row(app, from, to, one) {
  const link = (text, view) => h('a', { href: app.href('translate', { view, word: text }) }, word(text, view));
  const expected = [...new Set([one.gold_word, ...one.gold])].filter(Boolean);
  return h('tr', {},
    h('th', { scope: 'row' }, link(one.word, from)),
    h('td', { 'data-name': 'the space' }, link(one.chosen, to), one.confidence !== null && one.confidence !== undefined && h('span', { class: 'soft number' }, ` ${percent(one.confidence)}`)),
    h('td', { 'data-name': 'the dictionary' }, expected.slice(0, 4).map((text, at) => [at > 0 && ', ', link(text, to)])),
    h('td', { class: 'rank', 'data-name': 'its rank' }, one.gold_rank === null ? '–' : count(one.gold_rank)),
    h('td', { class: 'rank', 'data-name': 'margin' }, one.margin?.toFixed(3) ?? '–'),
    h('td', {}, reason(one.reason)));
}

function summary(answer) {
  const figure = (value, name, title) => h('div', { class: 'figure', title }, h('strong', {}, value), h('span', {}, name));
  const at = Object.entries(answer.precision).map(([k, value]) =>
    figure(`${value.toFixed(1)} %`, k === '1' ? 'right at first' : `among the first ${k}`, `precision at ${k}`));
  return h('div', { class: 'figures' }, at, figure(count(answer.asked), 'words asked'),
    answer.skipped > 0 && figure(count(answer.skipped), 'not in the space'),
    answer.training > 0 && figure(count(answer.training), 'seen in training', 'Entries of the dictionary that the space was fitted to'));
}

/** The errors, the most confident contradiction first, a page at a time; reasons can be chosen. */
function table(app, from, to, errors) {
  let only = null;
  let shown = PAGE;
  const body = h('tbody', {});
  const more = h('button', { type: 'button', onclick: () => { shown += PAGE; draw(); } }, 'More');
  const reasons = [...new Set(errors.map((one) => one.reason))];
  const filters = h('div', { class: 'segments', role: 'group', 'aria-label': 'Reason' });
  const draw = () => {
    const chosen = errors.filter((one) => only === null || one.reason === only);
    show(body, chosen.slice(0, shown).map((one) => row(app, from, to, one)));
    more.hidden = chosen.length <= shown;
    const filter = (name, text, number) => h('button', {
      type: 'button', 'aria-pressed': String(name === only), title: REASONS[name]?.[1], onclick: () => { only = name; shown = PAGE; draw(); },
    }, text, h('span', { class: 'soft' }, ` ${count(number)}`));
    show(filters, filter(null, 'all', errors.length), reasons.map((name) => filter(name, name, errors.filter((one) => one.reason === name).length)));
  };
  draw();
  const head = [['word'], ['the space says'], ['the dictionary says'], ['its rank', 'Place of the dictionary’s word among all words', 'rank'],
    ['margin', 'How much better the space likes its own choice', 'rank'], ['why']];
  return [filters, h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Errors' }, h('table', { class: 'list' },
    h('thead', {}, h('tr', {}, head.map(([text, title, kind]) => h('th', { scope: 'col', title, class: kind }, text)))), body)), more];
}

export function errorsView(app, main, params) {
  const names = app.space.views.map((view) => view.name);
  let from = names.includes(params.from) ? params.from : names[0];
  let to = names.includes(params.to) && params.to !== from ? params.to : names.find((name) => name !== from);
  let asked = null;
  const fields = h('div', { class: 'fields' });
  const loader = h('section', { class: 'drop', 'aria-label': 'Dictionary' });
  const result = h('div', { class: 'result' });
  show(main, h('h1', {}, 'Errors'), h('p', { class: 'lead' },
    'Load a dictionary: the space says how much of it it finds, and which entries it contradicts. Some are errors of the space, some of the dictionary.'),
  fields, loader, result);

  const pair = () => app.go('errors', { from, to });
  function drawFields() {
    show(fields,
      viewField(app.space, { name: 'From', value: from, onchange: (value) => { if (value === to) to = from; from = value; pair(); } }),
      viewField(app.space, { name: 'To', value: to, without: from, onchange: (value) => { to = value; pair(); } }));
  }

  function take(text, name) {
    const { entries, skipped } = parsePairs(text, from, to);
    if (!entries.length) return show(result, failure(new Error('This has no pairs of words: a line is two words with a tab or a space between them.')));
    app.gold.add({ from, to, name, entries, skipped });
    return check();
  }

  function drawLoader() {
    const gold = app.gold.of(from, to);
    const file = h('input', { type: 'file', accept: '.txt,.tsv,.csv,text/plain', class: 'hidden', 'aria-label': 'Dictionary file', onchange: async () => {
      const [chosen] = file.files;
      if (chosen) take(await chosen.text(), chosen.name);
    } });
    const choose = h('button', { type: 'button', class: gold ? '' : 'main', onclick: () => file.click() }, 'Choose a file');
    file.tabIndex = -1;
    if (gold) {
      show(loader, h('p', {}, h('strong', {}, gold.name), ` · ${count(gold.entries.length)} entries`,
        gold.skipped > 0 && ` · ${count(gold.skipped)} lines without a pair`), h('div', { class: 'actions' }, choose,
        h('button', { type: 'button', onclick: () => { app.gold.remove(from, to); show(result); drawLoader(); } }, 'Remove')), file);
      return;
    }
    const format = `${languageName(from)} word, tab or space, ${languageName(to)} word; one pair a line`;
    const text = h('textarea', { rows: 5, placeholder: format, 'aria-label': 'Pairs of words', dir: 'auto', spellcheck: 'false' });
    show(loader, h('p', {}, 'Drop a dictionary here, or ', choose, file), text,
      h('div', { class: 'actions' }, h('button', { type: 'button', onclick: () => take(text.value, 'pasted') }, 'Check these pairs'), example()));
  }

  /** Pairs of frequent words, every sixth of them wrong on purpose: it has the translation of the word before it. */
  function example() {
    return h('button', { type: 'button', onclick: async () => {
      const answer = await app.api.translate({ space: app.space.name, from, to, words: await sample(), k: 1 });
      const known = answer.translations.filter((one) => one.candidates.length);
      const lines = known.map((one, at) => `${one.word}\t${known[at % 6 === 5 ? at - 1 : at].candidates[0].word}`);
      take(lines.join('\n'), 'Example with mistakes');
    } }, 'Try an example with mistakes');
  }

  async function sample() {
    const words = await app.api.words({ space: app.space.name, view: from });
    return words.slice(300).filter((text) => /^[\p{Ll}\p{Lo}]{4,}$/u.test(text)).filter((_, at) => at % 40 === 0).slice(0, 40);
  }

  async function check() {
    drawLoader();
    const gold = app.gold.of(from, to);
    if (!gold) return show(result);
    asked?.abort();
    asked = new AbortController();
    show(result, h('p', { class: 'soft' }, `Asking for ${count(gold.entries.length)} entries…`));
    try {
      const answer = await app.api.errors({ space: app.space.name, from, to, criterion: 'csls', entries: gold.entries }, { signal: asked.signal });
      show(result, summary(answer), answer.errors.length ? table(app, from, to, answer.errors) : h('p', {}, 'The space agrees with every entry.'));
      app.announce(`${answer.errors.length} entries differ`);
    } catch (error) {
      if (error.name !== 'AbortError') show(result, failure(error));
    }
    return undefined;
  }

  loader.addEventListener('dragover', (event) => { event.preventDefault(); loader.classList.add('over'); });
  loader.addEventListener('dragleave', () => loader.classList.remove('over'));
  loader.addEventListener('drop', async (event) => {
    event.preventDefault();
    loader.classList.remove('over');
    const [file] = event.dataTransfer.files;
    if (file) take(await file.text(), file.name);
  });
  drawFields();
  check();
  return { close: () => asked?.abort() };
}
