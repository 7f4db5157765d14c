// What is surprising about the candidates of a word, in plain words: false friends and hubs.

import { h } from './dom.js';
import { languageName, word } from './language.js';

/** A candidate nearer to everything than this share of its view is called a hub. */
export const HUB = 0.99;
/** The word spelled alike is no false friend if it is among so many candidates. */
const AMONG = 10;
/** It counts only if the space is so sure of what it means: vocabularies hold many foreign words. */
export const SURE = 0.4;

/** Words spelled alike in other views that mean something else there. */
export async function falseFriends(app, from, to, options) {
  const spelled = [...from.word];
  if (spelled.length < 3 || !/\p{L}/u.test(from.word)) return [];
  const isThere = async (view) => {
    const { completions } = await app.api.complete({ space: app.space.name, view, prefix: from.word, limit: 1 }, options);
    return completions[0]?.word === from.word;
  };
  const views = to.filter((one) => !one.candidates.some((candidate) => candidate.word === from.word));
  const there = await Promise.all(views.map((one) => isThere(one.view)));
  const found = views.filter((_, at) => there[at]).map(async ({ view }) => {
    const answer = await app.api.explain({ space: app.space.name, from: view, word: from.word, to: from.view, k: AMONG }, options);
    const meanings = answer.to[0]?.candidates ?? [];
    if (!meanings.length || meanings.some((one) => one.word === from.word) || (meanings[0].confidence ?? 1) < SURE) return null;
    return { view, meanings: meanings.slice(0, 3).filter((one, at) => at === 0 || (one.confidence ?? 1) > 0.05).map((one) => one.word) };
  });
  return (await Promise.all(found)).filter(Boolean);
}

/** The first candidate by cosine that CSLS moved down because it is a hub. */
function hubs(answer) {
  return answer.to.flatMap(({ view, candidates }) => {
    const misled = candidates.filter((one) => one.hub?.percentile >= HUB && one.ranks.nn < one.ranks.csls && one.ranks.nn <= 3);
    return misled.slice(0, 1).map((candidate) => ({ view, candidate }));
  });
}

/** Shows the hints of a word. */
export async function hints(app, from, answer, place, signal) {
  for (const { view, candidate } of hubs(answer)) {
    place.append(h('p', { class: 'hint-box' }, h('strong', {}, 'Hub'), h('span', {}, word(candidate.word, view),
      ` is near to a great many words of ${languageName(from.view)}, so its cosine says little. CSLS moves it from place ${candidate.ranks.nn} to ${candidate.ranks.csls}.`)));
  }
  for (const { view, meanings } of await falseFriends(app, from, answer.to, { signal })) {
    if (signal.aborted) return;
    const link = (text, of) => h('a', { href: app.href('translate', { view: of, word: text }) }, word(text, of));
    place.append(h('p', { class: 'hint-box friend' }, h('strong', {}, 'False friend'),
      h('span', {}, `${languageName(view)} has a word `, link(from.word, view), ' too, but there it is nearer to ',
        meanings.map((one, at) => [at > 0 && ', ', link(one, from.view)]), ` in ${languageName(from.view)}.`)));
  }
}
