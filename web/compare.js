// Two spaces: which words have other neighbours in the second than in the first.

import { count, failure, h, percent, show } from './dom.js';
import { languageName, viewField, word } from './language.js';

const NEIGHBOURS = 10;
const LIMIT = 200;

function row(app, other, from, to, one) {
  const common = new Set(one.before.filter((text) => one.after.includes(text)));
  const list = (words, kind, { name }) => h('td', { 'data-name': name }, words.map((text, at) => [at > 0 && ' ',
    word(text, to, { class: `word ${common.has(text) ? 'common' : kind}` })]));
  return h('tr', {},
    h('th', { scope: 'row' }, h('a', { href: app.href('translate', { view: from, word: one.word }) }, word(one.word, from))),
    h('td', { class: 'confidence' }, h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', { style: { width: `${100 * one.overlap}%` } })),
      h('span', { class: 'number' }, percent(one.overlap))),
    list(one.before, 'gone', app.space), list(one.after, 'come', other));
}

export function compareView(app, main, params) {
  const others = app.spaces.filter((space) => space !== app.space);
  show(main, h('h1', {}, 'Compare'), h('p', { class: 'lead' }, 'Which words have other neighbours in another space: before and after a change, with one model or another.'));
  if (!others.length) {
    main.append(h('div', { class: 'drop' }, h('p', {}, 'This needs two spaces. Serve both: '), h('pre', {}, h('code', {}, 'sememe serve before after'))));
    return {};
  }
  const other = others.find((space) => space.name === params.other) ?? others[0];
  const shared = app.space.views.filter((view) => other.views.some((one) => one.name === view.name)).map((view) => view.name);
  if (!shared.length) {
    main.append(failure(new Error(`${app.space.name} and ${other.name} have no language in common.`)));
    return {};
  }
  const from = shared.includes(params.from) ? params.from : shared[0];
  const to = shared.includes(params.to) ? params.to : from;
  const go = (changed) => app.go('compare', { other: other.name, from, to, ...changed });
  const common = { views: app.space.views.filter((view) => shared.includes(view.name)) };
  const spaces = h('select', { onchange: () => go({ other: spaces.value }) }, others.map((space) => h('option', { value: space.name }, space.name)));
  spaces.value = other.name;
  const result = h('div', { class: 'result' }, h('p', { class: 'soft' }, 'Comparing…'));
  main.append(
    h('div', { class: 'fields' }, h('p', { class: 'field' }, h('span', {}, 'Before'), h('strong', {}, app.space.name)),
      h('label', { class: 'field' }, h('span', {}, 'After'), spaces),
      viewField(common, { name: 'Words of', value: from, onchange: (value) => go({ from: value }) }),
      viewField(common, { name: 'Neighbours in', value: to, onchange: (value) => go({ to: value }) })),
    result);
  const asked = new AbortController();
  const body = { space: app.space.name, other: other.name, from, to, k: NEIGHBOURS, limit: LIMIT };
  app.api.compare(body, { signal: asked.signal }).then((answer) => {
    const figure = (value, name) => h('div', { class: 'figure' }, h('strong', {}, value), h('span', {}, name));
    const head = ['word', 'kept', `neighbours in ${app.space.name}`, `neighbours in ${other.name}`];
    show(result,
      h('div', { class: 'figures' }, figure(percent(answer.mean_overlap), 'of neighbours stay, on average'), figure(count(answer.unchanged), 'words keep all'),
        figure(count(answer.words), 'words compared')),
      answer.changed.length > 0
        ? h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Changed words' }, h('table', { class: 'list compared' },
          h('thead', {}, h('tr', {}, head.map((text) => h('th', { scope: 'col' }, text)))),
          h('tbody', {}, answer.changed.map((one) => row(app, other, from, to, one)))))
        : h('p', {}, `No word of ${languageName(from)} changed its neighbours.`));
    app.announce(`${answer.changed.length} words changed`);
  }).catch((error) => { if (error.name !== 'AbortError') show(result, failure(error)); });
  return { close: () => asked.abort() };
}
