// Addresses: `#/translate?view=en&word=house`. Whatever can be seen has one that can be shared.

/** The view and the parameters that the address names. */
export function route() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return { view: path, ...{ params: Object.fromEntries(new URLSearchParams(query ?? '')) } };
}

/** The address of a view; parameters without a value are left out. */
export function href(view, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, value);
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ''}`;
}

/** Goes to an address as a link would. */
export function go(view, params) {
  location.hash = href(view, params);
}

/** Writes what is seen into the address without going anywhere. */
export function record(view, params) {
  history.replaceState(null, '', href(view, params));
}

/** `en:house`, a word and its view in one parameter. */
export const spelled = ({ view, word }) => `${view}:${word}`;

/** The word and its view of `en:house`, if there is such a view. */
export function parsed(text, space) {
  const view = space.views.map((one) => one.name).find((name) => text.startsWith(`${name}:`));
  return view === undefined ? undefined : { view, word: text.slice(view.length + 1) };
}
