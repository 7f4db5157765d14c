// A word and its candidates in every other view: how sure, by which criterion, and why.

import { count, failure, h, icon, percent, show } from './dom.js';
import { examples } from './examples.js';
import { colour, label, languageName, word } from './language.js';
import { HUB, hints } from './hints.js';
import { searchBox } from './search.js';

const CANDIDATES = 8;
const NEIGHBOURS = 12;

const MARKS = {
  mutual: ['mutual', 'Each is the best translation of the other.'],
  training: ['training', 'The pair was in the dictionary that the space was fitted to.'],
  gold: ['gold', 'The pair is in the dictionary that you loaded.'],
  induced: ['induced', '`sememe lexicon induce` would write this pair.'],
  hub: ['hub', 'Near to so many words that its nearness says little.'],
};

function mark(name) {
  const [text, title] = MARKS[name];
  return h('span', { class: `mark mark-${name}`, title }, text);
}

/** The marks of a candidate; `induced` says little where the pair is given or mutual anyway. */
function marks(candidate, gold) {
  const has = {
    gold: gold.has(candidate.word),
    training: candidate.training,
    mutual: candidate.mutual,
    induced: candidate.induced && !candidate.training,
    hub: candidate.hub?.percentile >= HUB && candidate.ranks.nn < candidate.ranks.csls,
  };
  return Object.keys(has).filter((name) => has[name]).map(mark);
}

const hasConfidence = (candidate) => typeof candidate.confidence === 'number';

/** A line under a word, as long as its confidence. */
function bar(value) {
  return h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', { style: { width: `${100 * value}%` } }));
}

const CRITERIA = [
  ['nn', 'cosine', 'Rank by cosine similarity'],
  ['csls', 'CSLS', 'Rank by CSLS, which corrects for hubs'],
  ['pmi', 'PMI', 'Rank by pointwise mutual information under the model'],
];

function row(app, from, view, candidate, gold, criteria) {
  const { ranks } = candidate;
  const rank = ([name]) => h('td', { class: `rank${ranks[name] === 1 ? ' first' : ''}` }, count(ranks[name]));
  const back = candidate.back;
  const isBack = back && back.word === from.word;
  return h('tr', {},
    h('th', { scope: 'row' },
      h('a', { href: app.href('translate', { view, word: candidate.word }) }, word(candidate.word, view)),
      hasConfidence(candidate) && bar(candidate.confidence),
      h('span', { class: 'marks' }, marks(candidate, gold))),
    h('td', { class: 'confidence' }, hasConfidence(candidate) && percent(candidate.confidence)),
    criteria.map(rank),
    h('td', { class: `back${isBack ? ' same' : ''}` }, back && word(back.word, from.view)));
}

function card(app, from, answer) {
  const { view, candidates } = answer;
  const gold = app.gold.translations(from.view, view, from.word);
  const criteria = CRITERIA.filter(([name]) => candidates.some((one) => typeof one.ranks[name] === 'number'));
  const head = h('tr', {},
    h('th', { scope: 'col' }, 'candidate'), h('th', { scope: 'col', class: 'confidence', title: 'How likely the candidate is right' }, 'sure'),
    criteria.map(([, name, title]) => h('th', { scope: 'col', class: 'rank', title }, name)),
    h('th', { scope: 'col', class: 'back', title: 'The best translation of the candidate' }, 'way back'));
  const missed = [...gold].filter((one) => !candidates.some((candidate) => candidate.word === one));
  const unsure = candidates[0] && hasConfidence(candidates[0]) && candidates[0].confidence < 0.15;
  return h('section', { class: `card ${colour(app.space, view)}`, 'aria-label': languageName(view) },
    h('h3', {}, label(app.space, view)),
    candidates.length
      ? h('div', { class: 'scroll' }, h('table', { class: 'candidates' }, h('thead', {}, head),
        h('tbody', {}, candidates.map((candidate) => row(app, from, view, candidate, gold, criteria)))))
      : h('p', { class: 'soft' }, 'No candidates.'),
    unsure && h('p', { class: 'soft note' }, 'None of these is likely: perhaps the word has no translation among the words here.'),
    missed.length > 0 && h('p', { class: 'soft note' }, 'Your dictionary says ',
links(app, view, missed), '.'));
}

function links(app, view, words) {
  return words.map((text, at) => [at > 0 && ', ', h('a', { href: app.href('translate', { view, word: text }) }, word(text, view))]);
}

export function translateView(app, main, params) {
  const search = searchBox(app, {
    label: 'Word', placeholder: 'Type a word in any language', onpick: (picked) => app.go('translate', { view: picked.view, word: picked.word }),
  });
  const content = h('div', { class: 'content' });
  show(main, h('h1', { class: 'hidden' }, 'Translate'), h('div', { class: 'searching' }, search), content);
  let asked = null;

  async function update({ view, word: text }) {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    main.classList.toggle('is-empty', !text);
    if (!text) {
      search.input.value = '';
      search.input.focus({ preventScroll: true });
      return examples(app, content, signal);
    }
    const from = { view: view ?? app.space.views[0].name, word: text };
    search.input.value = text;
    content.setAttribute('aria-busy', 'true');
    try {
      // It says which words it does not know, where the candidates of an unknown word would be an error.
      const around = await app.api.neighbors({ space: app.space.name, from: from.view, to: from.view, words: [text], k: NEIGHBOURS, criterion: 'nn' }, { signal });
      if (around.unknown.length) {
        app.announce('No such word');
        return show(content, unknown(app, from, around.suggestions[text] ?? []));
      }
      const answer = await app.api.explain({ space: app.space.name, from: from.view, word: text, k: CANDIDATES }, { signal });
      const near = around.neighbors[0].hits.map((hit) => hit.word);
      const hinted = h('div', { class: 'hints' });
      const size = app.space.views.find((one) => one.name === from.view)?.words;
      show(content,
        h('div', { class: `headword ${colour(app.space, from.view)}` },
          h('h2', {}, word(text, from.view)),
          h('p', { class: 'about' }, label(app.space, from.view),
            h('span', { class: 'soft' }, `word ${count(answer.row + 1)} of ${count(size)}`),
            answer.training && mark('training'),
            app.api.views.includes('map') && h('a', { class: 'onmap', href: app.href('map', { word: `${from.view}:${text}` }) }, icon('pin'), 'Show on the map')),
          near.length > 0 && h('p', { class: 'near' }, `Near it in ${languageName(from.view)}: `, links(app, from.view, near))),
        hinted,
        h('div', { class: 'cards' }, answer.to.map((one) => card(app, from, one))));
      app.announce(`Translations of ${text}`);
      await hints(app, from, answer, hinted, signal);
    } catch (error) {
      if (error.name !== 'AbortError') show(content, failure(error));
    } finally {
      if (!signal.aborted) content.removeAttribute('aria-busy');
    }
  }
  update(params);
  return { update, close: () => asked?.abort() };
}

/** A word that the view does not have, and the closest spellings. */
function unknown(app, from, spellings) {
  return [
    h('p', { class: 'notice', role: 'alert' }, word(from.word, from.view), ` is not among the words of ${languageName(from.view)} here.`),
    spellings.length > 0 && h('p', { class: 'suggestions' }, 'Did you mean ', links(app, from.view, spellings), '?'),
  ];
}
