// A field that completes words of all views as one types, in any script.

import { debounced, h, icon, show } from './dom.js';
import { colour, languageName, word } from './language.js';

const LIMIT = 8;
let boxes = 0;

/** A combobox. `onpick` gets `{view, word}`; `view` restricts it to one view. */
export function searchBox(app, { label, placeholder, view, value, onpick, keeps = true }) {
  const id = `search-${(boxes += 1)}`;
  let options = [];
  let active = -1;
  let asked = null;

  const list = h('ul', { id: `${id}-list`, class: 'options', role: 'listbox', 'aria-label': label, hidden: true });
  const input = h('input', {
    id, type: 'search', role: 'combobox', placeholder, value: value ?? '', autocomplete: 'off', autocapitalize: 'none',
    spellcheck: 'false', dir: 'auto', 'aria-label': label, 'aria-autocomplete': 'list', 'aria-expanded': 'false',
    'aria-controls': `${id}-list`, enterkeyhint: 'search',
  });

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const activate = (index) => {
    active = index;
    for (const [at, option] of [...list.querySelectorAll('[role=option]')].entries()) {
      option.setAttribute('aria-selected', String(at === index));
      if (at === index) {
        input.setAttribute('aria-activedescendant', option.id);
        option.scrollIntoView({ block: 'nearest' });
      }
    }
  };
  const pick = (option) => {
    asked?.abort();
    asked = null;
    input.value = keeps ? option.word : '';
    close();
    onpick(option);
  };
  const offer = (found, isSuggestion) => {
    options = found;
    const items = found.map((option, at) => h('li', {
      id: `${id}-${at}`, role: 'option', 'aria-selected': 'false',
      onmousedown: (event) => { event.preventDefault(); pick(option); },
    }, word(option.word, option.view), h('span', { class: `label ${colour(app.space, option.view)}` },
      h('span', { class: 'swatch' }), languageName(option.view))));
    const heading = (text) => h('li', { class: 'hint', role: 'presentation' }, text);
    show(list, isSuggestion && heading(found.length ? 'Not a word here. Did you mean' : 'Not a word of this space'), items);
    list.hidden = false;
    active = -1;
    input.setAttribute('aria-expanded', 'true');
    app.announce(found.length ? `${found.length} words` : 'No such word');
  };
  const complete = async () => {
    const prefix = input.value.trim();
    asked?.abort();
    if (!prefix) return close();
    asked = new AbortController();
    const mine = asked;
    try {
      const answer = await app.api.complete({ space: app.space.name, view, prefix, limit: LIMIT }, { signal: mine.signal });
      if (mine !== asked || document.activeElement !== input) return;
      if (answer.completions.length) offer(answer.completions, false);
      else offer(answer.suggestions, true);
    } catch (error) {
      if (error.name !== 'AbortError') close();
    }
  };
  const later = debounced(complete, 70);

  /** The word as it is written, wherever it is; else the first completion. */
  const enter = async () => {
    const text = input.value.trim();
    if (!text) return;
    if (active >= 0) return pick(options[active]);
    asked?.abort();
    asked = null;
    const answer = await app.api.complete({ space: app.space.name, view, prefix: text, limit: LIMIT }).catch(() => null);
    const found = answer?.completions ?? [];
    const exact = found.find((one) => one.word === text) ?? found[0];
    if (exact) pick(exact);
    else if (answer) offer(answer.suggestions, true);
  };
  input.addEventListener('input', later);
  input.addEventListener('blur', () => setTimeout(close, 100));
  input.addEventListener('keydown', (event) => {
    const last = options.length - 1;
    if (event.key === 'ArrowDown' && !list.hidden) activate(active >= last ? 0 : active + 1);
    else if (event.key === 'ArrowUp' && !list.hidden) activate(active <= 0 ? last : active - 1);
    else if (event.key === 'ArrowDown') complete();
    else if (event.key === 'Enter') enter();
    else if (event.key === 'Escape' && !list.hidden) close();
    else if (event.key === 'Escape') { input.blur(); return; } else return;
    event.preventDefault();
  });
  const box = h('div', { class: 'search' }, icon('search'), input, list);
  box.input = input;
  return box;
}
