// What an empty page offers: words to begin with, false friends, and where to go on.

import { h, show } from './dom.js';
import { SURE } from './hints.js';
import { colour, languageName, word } from './language.js';

const SHOWN = 6;
/** Rows of frequent words that are neither function words nor rare. */
const FREQUENT = [150, 6000];
/** Words that are liked as examples, where a space has them. */
const LIKED = {
  en: ['house', 'river', 'bread', 'winter'], fr: ['maison', 'fleuve', 'pain', 'hiver'], de: ['haus', 'fluss', 'brot', 'winter'],
  es: ['casa', 'agua', 'pan', 'invierno'], it: ['casa', 'fiume', 'pane', 'inverno'], pt: ['casa', 'rio', 'inverno'], fi: ['talo', 'joki', 'leipä', 'talvi'],
  ru: ['дом', 'река', 'хлеб', 'зима'], el: ['σπίτι', 'νερό'], ar: ['بيت', 'ماء'], he: ['בית', 'מים'], zh: ['房子', '水'], ja: ['家', '水'], ko: ['집', '물'],
};
const ASKED = 150;

const isWordlike = (text) => /^\p{Ll}{4,12}$/u.test(text) || /^\p{Lo}{2,8}$/u.test(text);

function chip(app, view, text) {
  return h('a', { class: `chip ${colour(app.space, view)}`, href: app.href('translate', { view, word: text }) },
    h('span', { class: 'swatch' }), word(text, view), h('span', { class: 'hidden' }, `, ${languageName(view)}`));
}

/** A few words of every view, those that everybody knows first. */
function starters(lists) {
  const each = Math.max(1, Math.floor(8 / lists.length));
  return lists.flatMap(({ view, words }) => {
    const known = new Set(words);
    const liked = (LIKED[view] ?? []).filter((one) => known.has(one));
    const others = words.slice(...FREQUENT).filter(isWordlike).filter((_, at) => at % 97 === 0);
    return [...liked, ...others].slice(0, each).map((text) => ({ view, word: text }));
  });
}

/** Words spelled alike in two views that the space surely translates by others, both ways; the surest first. */
async function alike(app, [from, to], signal) {
  const rows = new Set(to.words.slice(0, FREQUENT[1]));
  const shared = from.words.slice(0, FREQUENT[1]).filter((text) => isWordlike(text) && rows.has(text)).slice(0, ASKED);
  if (!shared.length) return [];
  const sure = async (source, target, words) => {
    const answer = await app.api.translate({ space: app.space.name, from: source.view, to: target.view, words, k: 10 }, { signal });
    const isOther = (one) => one.candidates.length && !one.candidates.some((candidate) => candidate.word === one.word);
    return new Map(answer.translations.filter(isOther).map((one) => [one.word, one.candidates[0].confidence ?? SURE]).filter(([, value]) => value >= SURE));
  };
  const forth = await sure(from, to, shared);
  const back = forth.size ? await sure(to, from, [...forth.keys()]) : new Map();
  const least = (text) => Math.min(forth.get(text), back.get(text));
  return [...back.keys()].sort((a, b) => least(b) - least(a)).slice(0, SHOWN).map((text) => ({ view: from.view, word: text }));
}

function group(title, chips) {
  return chips.length > 0 && h('section', { class: 'examples' }, h('h2', {}, title), h('p', { class: 'chips' }, chips));
}

/** Fills the empty page. False friends arrive after the rest. */
export async function examples(app, content, signal) {
  const views = app.space.views.slice(0, 4);
  const friends = h('div', {});
  const begin = h('div', {});
  show(content, begin, friends, places(app));
  try {
    const lists = await Promise.all(views.map(async ({ name }) => ({ view: name, words: await app.api.words({ space: app.space.name, view: name }) })));
    if (signal.aborted) return;
    show(begin, group('Try', starters(lists).map((one) => chip(app, one.view, one.word))));
    if (lists.length < 2) return;
    const found = await alike(app, lists, signal);
    show(friends, group(`Spelled alike in ${languageName(lists[0].view)} and ${languageName(lists[1].view)}, but another word`,
      found.map((one) => chip(app, one.view, one.word))));
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
  }
}

/** The other views, each with what it is for. */
function places(app) {
  const about = {
    map: ['Map', 'All words of all languages in one picture'],
    factors: ['Factors', 'What the dimensions of the space mean'],
    errors: ['Errors', 'Check a dictionary and find its wrong entries'],
    dictionary: ['Dictionary', 'Make a dictionary by accepting and rejecting pairs'],
    compare: ['Compare', 'Which words changed between two spaces'],
  };
  const known = Object.keys(about).filter((name) => app.api.views.includes(name) && (name !== 'compare' || app.spaces.length > 1));
  return h('nav', { class: 'places', 'aria-label': 'What else is here' }, known.map((name) =>
    h('a', { href: app.href(name) }, h('strong', {}, about[name][0]), h('span', {}, about[name][1]))));
}
