// Elements without markup: everything that a space or a person wrote goes into the page as text, never as HTML.

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
  else if (name === 'style') for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
  else if (name === 'value') element.value = value;
  else element.setAttribute(name, value === true ? '' : value);
}

/** An element with attributes, listeners (`onclick`) and children; strings become text. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  return fill(element, children);
}

/** The same for drawings. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  return fill(element, children);
}

/** Replaces what is inside an element. */
export function show(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

/** A function that runs `work` once calls have paused for `wait` milliseconds. */
export function debounced(work, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), wait);
  };
}

export const count = (number) => number.toLocaleString('en');
export const percent = (share) => `${Math.round(100 * share)} %`;

const SHAPES = {
  search: 'M11 4a7 7 0 1 0 4.2 12.6l4.1 4.1M11 4a7 7 0 0 1 5.6 11.2',
  pin: 'M12 21s-6.5-6-6.5-11a6.5 6.5 0 1 1 13 0c0 5-6.5 11-6.5 11zM12 12.4a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8z',
  theme: 'M12 3.5a8.5 8.5 0 1 0 0 17zM12 3.5a8.5 8.5 0 0 1 0 17',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  close: 'M6 6l12 12M18 6L6 18',
  swap: 'M7 4L3.5 7.5 7 11M3.5 7.5H20M17 13l3.5 3.5L17 20M20.5 16.5H4',
  back: 'M9 7L4 12l5 5M4 12h16',
};

/** A small line drawing that says nothing by itself: its button has the name. */
export function icon(name) {
  return svg('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: SHAPES[name] }));
}

/** A message where a view cannot go on. */
export function failure(error) {
  return h('p', { class: 'notice', role: 'alert' }, error.message);
}
