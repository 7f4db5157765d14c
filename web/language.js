// Views as people see them: their names, colours and words in any script.

import { h } from './dom.js';

const COLOURS = 8;
const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

function code(view) {
  return /^[a-z]{2,3}$/.test(view) && names.of(view) ? view : undefined;
}

/** The language that a view is named after, or else its name. */
export function languageName(view) {
  return code(view) ? names.of(view) : view;
}

/** The class that sets the colour of a view. */
export function colour(space, view) {
  const index = space.views.findIndex((one) => one.name === view);
  return `c${Math.max(0, index) % COLOURS}`;
}

/** The colours of all views as the theme has them now, each as `[red, green, blue]`. */
export function rgb(space) {
  const probe = h('span', { class: 'hidden' });
  document.body.append(probe);
  const colours = space.views.map((view) => {
    probe.className = `hidden swatch ${colour(space, view.name)}`;
    return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  });
  probe.remove();
  return colours;
}

/** A word: isolated from the text around it, in the direction of its own script. */
export function word(text, view, attributes) {
  return h('bdi', { class: 'word', lang: code(view), dir: 'auto', ...attributes }, text);
}

/** A coloured dot and the name of a view. */
export function label(space, view) {
  return h('span', { class: `label ${colour(space, view)}` }, h('span', { class: 'swatch' }), languageName(view));
}

/** A field to choose a view. */
export function viewField(space, { name, value, without, onchange }) {
  const options = space.views.filter((view) => view.name !== without);
  const field = h('select', { onchange: () => onchange(field.value) },
    options.map((view) => h('option', { value: view.name }, languageName(view.name))));
  field.value = value;
  return h('label', { class: 'field' }, h('span', {}, name), field);
}
