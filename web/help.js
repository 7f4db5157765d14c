// The list of keyboard shortcuts.

import { h } from './dom.js';

const KEYS = [
  ['Everywhere', [
    [['/'], 'search'],
    [['g', 't'], 'Translate'], [['g', 'm'], 'Map'], [['g', 'f'], 'Factors'],
    [['g', 'e'], 'Errors'], [['g', 'd'], 'Dictionary'], [['g', 'c'], 'Compare'],
    [['?'], 'this list'],
  ]],
  ['Map', [
    [['←', '↑', '↓', '→'], 'move'], [['+', '−'], 'zoom'], [['0'], 'show everything'],
    [['.', ','], 'next and previous labelled word'], [['Enter'], 'translate the chosen word'],
  ]],
  ['Dictionary', [
    [['↑', '↓'], 'previous and next pair'], [['a'], 'accept'], [['r'], 'reject'],
    [['1', '…', '8'], 'take another candidate'], [['e'], 'type another word'], [['u'], 'undecided again'],
    [['n'], 'next undecided pair'],
  ]],
];

/** Opens the list; Escape closes it. */
export function openHelp(app) {
  const known = (keys) => keys[0] !== 'g' || app.api.views.some((view) => view[0] === keys[1]);
  const rows = (keys) => keys.filter(([one]) => known(one)).map(([one, what]) =>
    h('div', {}, h('dt', {}, one.map((key) => h('kbd', {}, key))), h('dd', {}, what)));
  const sections = KEYS.map(([title, keys]) => h('section', {}, h('h3', {}, title), h('dl', { class: 'keys' }, rows(keys))));
  const dialog = h('dialog', { class: 'help', 'aria-labelledby': 'help-title', onclose: () => dialog.remove() },
    h('h2', { id: 'help-title' }, 'Keyboard'),
    h('div', { class: 'columns' }, sections),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')));
  document.body.append(dialog);
  dialog.showModal();
}
