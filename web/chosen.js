// What the map shows beside it of the word that is chosen.

import { h, icon, percent } from './dom.js';
import { colour, label, languageName, word } from './language.js';

/** The word, a place for its translations, and where to go on. */
export function chosenWord(app, view, text, translations, close) {
  return [
    h('button', { class: 'quiet', type: 'button', 'aria-label': 'Close', onclick: close }, icon('close')),
    h('h2', {}, word(text, view)), h('p', {}, label(app.space, view)), translations,
    h('p', {}, h('a', { href: app.href('translate', { view, word: text }) }, 'All candidates')),
  ];
}

/** A translation, which can be gone to on the map. */
export function translation(app, data, { point, confidence }, find) {
  const view = data.views[data.viewOf(point)].name;
  const text = data.wordOf(point);
  return h('li', { class: colour(app.space, view) }, h('span', { class: 'swatch' }),
    h('button', { class: 'link', type: 'button', onclick: () => find({ view, word: text }) }, word(text, view)),
    h('span', { class: 'soft' }, typeof confidence === 'number' ? percent(confidence) : languageName(view)));
}
