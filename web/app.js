// The page: chooses the backend, shows the view that the address names, and holds what all views share.

import { Http } from './api.js';
import { Local } from './local.js';
import { compareView } from './compare.js';
import { dictionaryView } from './dictionary.js';
import { failure, h, icon, show } from './dom.js';
import { errorsView } from './errors.js';
import { factorsView } from './factors.js';
import { Gold } from './gold.js';
import { openHelp } from './help.js';
import { mapView } from './map.js';
import { go, href, route } from './route.js';
import { recall, remember } from './store.js';
import { translateView } from './translate.js';

const VIEWS = {
  translate: { title: 'Translate', open: translateView },
  map: { title: 'Map', open: mapView },
  factors: { title: 'Factors', open: factorsView },
  errors: { title: 'Errors', open: errorsView },
  dictionary: { title: 'Dictionary', open: dictionaryView },
  compare: { title: 'Compare', open: compareView },
};
const THEMES = ['auto', 'light', 'dark'];

const main = document.getElementById('view');
const status = document.getElementById('status');

const app = {
  api: null,
  spaces: [],
  space: null,
  gold: null,
  /** What a screen reader says. */
  announce: (text) => { status.textContent = text; },
};

/** The view that is open: `close` ends what it started, `keys` handles a key and says whether it did. */
let open = {};
let opened = '';

async function navigate() {
  const { view, params } = route();
  if (!VIEWS[view] || !app.api.views.includes(view)) {
    history.replaceState(null, '', href('translate', params));
    return navigate();
  }
  const space = app.spaces.find((one) => one.name === params.space) ?? app.spaces[0];
  if (app.space !== space) {
    app.space = space;
    app.gold = new Gold(space);
    opened = '';
  }
  document.title = `${params.word ?? VIEWS[view].title} · sememe`;
  drawTabs(view);
  if (opened === view && open.update) return open.update(params);
  open.close?.();
  opened = view;
  main.className = `view-${view}`;
  show(main);
  window.scrollTo(0, 0);
  open = {};
  open = VIEWS[view].open(app, main, params) ?? {};
}

/** Parameters that every address has: the space, where several are served. */
app.base = () => (app.spaces.length > 1 ? { space: app.space.name } : {});
app.href = (view, params) => href(view, { ...app.base(), ...params });
app.go = (view, params) => go(view, { ...app.base(), ...params });

function drawTabs(current) {
  const tab = (name) => h('a', { href: app.href(name), 'aria-current': name === current ? 'page' : null }, VIEWS[name].title);
  const tabs = document.getElementById('tabs');
  show(tabs, app.api.views.map(tab));
  const { offsetLeft, offsetWidth } = tabs.querySelector('[aria-current]');
  tabs.scrollLeft = offsetLeft + offsetWidth / 2 - tabs.clientWidth / 2;
}

function setTheme(theme) {
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset.theme = theme;
  remember('theme', theme);
  open.redraw?.();
}

function drawTools() {
  let theme = THEMES.includes(recall('theme')) ? recall('theme') : 'auto';
  const name = () => `Theme: ${theme}`;
  const button = h('button', {
    class: 'quiet', type: 'button', 'aria-label': name(), title: name(),
    onclick: () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      setTheme(theme);
      button.setAttribute('aria-label', name());
      button.title = name();
    },
  }, icon('theme'));
  setTheme(theme);
  const spaces = app.spaces.length > 1 && h('select', {
    'aria-label': 'Space', onchange: (event) => go(route().view, { space: event.target.value }),
  }, app.spaces.map((space) => h('option', { value: space.name }, space.name)));
  if (spaces) spaces.value = app.space?.name ?? app.spaces[0].name;
  const help = h('button', {
    class: 'quiet', type: 'button', 'aria-label': 'Keyboard shortcuts', title: 'Keyboard shortcuts (?)',
    onclick: () => openHelp(app),
  }, '?');
  show(document.getElementById('tools'), spaces, button, help);
}

/** Shortcuts of all views: `/` to search, `?` for help, `g` and a letter for a view. */
let isGoing = false;
function onkey(event) {
  const isTyping = event.target.matches?.('input, textarea, select') || document.querySelector('dialog[open]');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = isGoing && app.api.views.find((name) => name[0] === event.key);
  isGoing = event.key === 'g';
  if (view) app.go(view);
  else if (isGoing) return;
  else if (event.key === '?') openHelp(app);
  else if (event.key === '/') (main.querySelector('input[role=combobox]') ?? main.querySelector('input'))?.focus();
  else if (!open.keys?.(event)) return;
  event.preventDefault();
}

async function start() {
  try {
    app.api = Local.isEmbedded() ? new Local() : new Http();
    app.spaces = (await app.api.spaces()).spaces;
    if (!app.spaces.length) throw new Error('No space is served.');
    app.space = null;
    await navigate();
    drawTools();
    document.documentElement.dataset.ready = 'true';
  } catch (error) {
    show(main, failure(error));
    return;
  }
  window.addEventListener('hashchange', () => {
    navigate().catch((error) => show(main, failure(error)));
    const spaces = document.querySelector('#tools select');
    if (spaces) spaces.value = app.space.name;
  });
  document.addEventListener('keydown', onkey);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => open.redraw?.());
}

start();
