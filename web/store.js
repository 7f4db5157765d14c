// What survives a reload. Browsers may forbid it; then nothing is kept, and everything else works.

const PREFIX = 'sememe.';

/** The kept value, or `undefined`. */
export function recall(key) {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keeps a value; says whether that was possible. */
export function remember(key, value) {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
