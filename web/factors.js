// What the latent dimensions mean: the words at both ends of each, and axes between words that a person chooses.

import { count, failure, h, icon, percent, show, svg } from './dom.js';
import { colour, label, languageName, word } from './language.js';
import { parsed, spelled } from './route.js';
import { searchBox } from './search.js';

const PAGE = 10;
const TOP = 8;
const OWN_TOP = 16;

function words(app, view, list) {
  return list.map((one, at) => [at > 0 && ' ', h('a', { class: 'chipless', href: app.href('translate', { view, word: one.word }) }, word(one.word, view))]);
}

/** The words at both ends, a line for each view. */
function ends(app, views, names = ['−', '+']) {
  // Two languages tell equally much, which is the correlation.
  const shown = (share) => views.length > 2 && typeof share === 'number';
  const line = ({ view, positive, negative, share }) => h('tr', { class: colour(app.space, view) },
    h('td', { class: 'end low' }, words(app, view, negative)),
    h('th', { scope: 'row' }, label(app.space, view), shown(share) && h('span', { class: 'soft share', title: 'How much of this factor the language tells by itself' }, percent(share))),
    h('td', { class: 'end high' }, words(app, view, positive)));
  return h('table', { class: 'ends' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'low' }, names[0]), h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'language')),
      h('th', { scope: 'col', class: 'high' }, names[1]))),
    h('tbody', {}, views.map(line)));
}

/** A factor and its place among all of them, from 0. */
function factor(app, one, place) {
  const title = `Factor ${place + 1}`;
  return h('section', { class: 'card factor', 'aria-label': title },
    h('h3', {}, title, one.correlation !== null && h('span', { class: 'correlation', title: 'How alike the languages are in this factor' },
      h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', { style: { width: `${100 * Math.max(0, one.correlation)}%` } })),
      `correlation ${one.correlation.toFixed(2)}`)),
    ends(app, one.views));
}

/** All correlations as a strip of bars; a click shows the factors from there. */
function strip(app, correlations, from) {
  const bar = (value, at) => svg('rect', {
    x: at, width: 0.8, y: 40 - 40 * Math.max(0, value), height: 40 * Math.max(0, value),
    class: at >= from && at < from + PAGE ? 'here' : null,
  });
  const drawing = svg('svg', { viewBox: `0 0 ${correlations.length} 40`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, correlations.map(bar));
  drawing.addEventListener('click', (event) => {
    const box = drawing.getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * correlations.length);
    app.go('factors', { from: Math.max(0, Math.floor(at / PAGE) * PAGE) });
  });
  return h('div', { class: 'strip', title: 'Correlations of all factors' }, drawing);
}

function pages(app, from, latent, name) {
  const link = (to, text) => to >= 0 && to < latent && h('a', { class: 'button', href: app.href('factors', { from: to }) }, text);
  return h('nav', { class: 'pages', 'aria-label': name }, link(from - PAGE, 'Previous'),
    h('span', { class: 'soft' }, `${from + 1}–${Math.min(latent, from + PAGE)} of ${count(latent)}`), link(from + PAGE, 'Next'));
}

/** The words of one end of a person's own axis. */
function pole(app, title, list, changed) {
  const chip = (one, at) => h('span', { class: `chip ${colour(app.space, one.view)}` }, h('span', { class: 'swatch' }), word(one.word, one.view),
    h('button', { class: 'quiet', type: 'button', 'aria-label': `Remove ${one.word}`, onclick: () => changed(list.filter((_, other) => other !== at)) }, icon('close')));
  return h('div', { class: 'pole' }, h('h3', {}, title), h('p', { class: 'chips' }, list.map(chip)),
    searchBox(app, { label: `Add a word to ${title}`, placeholder: 'Add a word', keeps: false, onpick: (picked) => changed([...list, picked]) }));
}

/** Pairs of words that make a telling axis in many spaces. */
const OWN = [['man', 'woman'], ['small', 'big'], ['summer', 'winter'], ['animal', 'machine']];

async function starters(app, place, signal) {
  const known = await Promise.all(OWN.map(async (pair) => {
    const found = await Promise.all(pair.map((prefix) => app.api.complete({ space: app.space.name, prefix, limit: 4 }, { signal })
      .then(({ completions }) => completions.find((one) => one.word === prefix))));
    return found.every(Boolean) && found;
  }));
  show(place, known.filter(Boolean).map(([a, b]) => h('a', { class: 'chip', href: app.href('factors', { a: spelled(a), b: spelled(b) }) },
    word(a.word, a.view), ' ↔ ', word(b.word, b.view))));
}

export function factorsView(app, main, params) {
  let asked = null;
  const own = h('section', { class: 'card own', 'aria-label': 'Your own axis' });
  const list = h('div', { class: 'factors' });
  show(main, h('h1', {}, 'Factors'),
    h('p', { class: 'lead' }, 'Each dimension of the shared space, strongest first, with the words at its two ends in every language.'), own, list);

  async function drawOwn({ a, b, from }, signal) {
    const poles = [a, b].map((text) => (text ?? '').split(' ').map((one) => parsed(one, app.space)).filter(Boolean));
    const change = (at) => (changed) => {
      const next = poles.map((pole, index) => (index === at ? changed : pole).map(spelled).join(' '));
      app.go('factors', { a: next[0], b: next[1], from });
    };
    const result = h('div', {});
    show(own, h('h2', {}, 'Your own axis'),
      h('div', { class: 'poles' }, pole(app, 'one end', poles[0], change(0)), pole(app, 'the other end', poles[1], change(1))), result);
    if (!poles[0].length || !poles[1].length) {
      const chips = h('p', { class: 'chips' });
      show(result, chips);
      return starters(app, chips, signal);
    }
    const answer = await app.api.axis({ space: app.space.name, positive: poles[1], negative: poles[0], top: OWN_TOP }, { signal });
    const name = (list) => list.map((one) => one.word).join(', ');
    show(result, ends(app, answer.views, [`← ${name(poles[0])}`, `${name(poles[1])} →`]),
      h('p', {}, h('a', { class: 'button', href: app.href('factors', {}) }, 'Clear')));
    return undefined;
  }

  async function update(given) {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    const from = Math.max(0, Math.floor(Number(given.from) || 0));
    try {
      const drawn = drawOwn(given, signal);
      // Waited for below, if that is reached.
      drawn.catch(() => {});
      const answer = await app.api.factors({ space: app.space.name, from, count: PAGE, top: TOP }, { signal });
      show(list, answer.correlations?.length > 1 && strip(app, answer.correlations, from), pages(app, from, answer.latent, 'Factors'),
        answer.factors.map((one, at) => factor(app, one, from + at)), pages(app, from, answer.latent, 'More factors'));
      app.announce(`Factors ${from + 1} to ${from + answer.factors.length}`);
      await drawn;
    } catch (error) {
      if (error.name !== 'AbortError') own.append(failure(error));
    }
  }
  update(params);
  return { update, close: () => asked?.abort() };
}
