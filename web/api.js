// What the views ask for. `Http` asks the server; `Local` of local.js answers out of the page itself. Both have the same
// methods.

/** An answer other than success, with the sentence that the server gave. */
export class Refused extends Error {
  constructor(message, code, details) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

const TOKEN = 'sememe.token';

/** Keeps the token of `#token=T` for this tab, and takes it out of the address. */
function token() {
  const given = location.hash.match(/^#token=(.+)$/);
  try {
    if (given) {
      sessionStorage.setItem(TOKEN, decodeURIComponent(given[1]));
      history.replaceState(null, '', location.pathname);
    }
    return sessionStorage.getItem(TOKEN);
  } catch {
    return given ? decodeURIComponent(given[1]) : null;
  }
}

const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(given).toString();
};

/** Milliseconds until a server that is still preparing a space is asked again. */
const PAUSE = 1000;

export class Http {
  constructor() {
    this.token = token();
    this.views = ['translate', 'map', 'factors', 'errors', 'dictionary', 'compare'];
    this.lists = new Map();
  }

  async ask(path, { body, signal } = {}) {
    const headers = {};
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (body) headers['Content-Type'] = 'application/json';
    let response;
    try {
      response = await fetch(path, { method: body ? 'POST' : 'GET', headers, signal, body: body && JSON.stringify(body) });
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new Refused('The server does not answer. Is `sememe serve` still running?', 'unreachable');
    }
    if (response.ok) return response;
    const problem = await response.json().then((answer) => answer.error, () => undefined);
    if (response.status === 401) {
      throw new Refused('This server asks for a token: open the address that `sememe serve` printed.', 'token');
    }
    if (problem?.code === 'preparing') {
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
      return this.ask(path, { body, signal });
    }
    throw new Refused(problem?.message ?? `The server answered ${response.status}.`, problem?.code, problem);
  }

  get(path, values, options) {
    return this.ask(`${path}?${query(values)}`, options).then((response) => response.json());
  }

  post(path, body, options) {
    return this.ask(path, { body, ...options }).then((response) => response.json());
  }

  spaces() { return this.get('v1/spaces', {}); }
  complete(values, options) { return this.get('v1/complete', values, options); }
  translate(body, options) { return this.post('v1/translate', body, options); }
  neighbors(body, options) { return this.post('v1/neighbors', body, options); }
  explain(body, options) { return this.post('v1/explain', body, options); }
  factors(values, options) { return this.get('v1/factors', values, options); }
  axis(body, options) { return this.post('v1/axis', body, options); }
  errors(body, options) { return this.post('v1/errors', body, options); }
  compare(body, options) { return this.post('v1/compare', body, options); }
  induce(body, options) { return this.post('v1/induce', body, options); }
  map(values, options) { return this.get('v1/map', values, options); }

  /** The coordinates of all points, x and y after each other. */
  async points(values, options) {
    const response = await this.ask(`v1/map/points?${query(values)}`, options);
    return new Float32Array(await response.arrayBuffer());
  }

  /** The pairs of the dictionary that the space was fitted to: two points each, after each other. */
  async lines(values, options) {
    const response = await this.ask(`v1/map/lines?${query(values)}`, options);
    return new Uint32Array(await response.arrayBuffer());
  }

  /** All words of a view, in the order of their rows. */
  words({ space, view }) {
    const key = JSON.stringify([space, view]);
    if (!this.lists.has(key)) {
      const list = this.ask(`v1/words?${query({ space, view })}`)
        .then((response) => response.text())
        .then((text) => text.replace(/\n$/, '').split('\n'));
      list.catch(() => this.lists.delete(key));
      this.lists.set(key, list);
    }
    return this.lists.get(key);
  }
}
