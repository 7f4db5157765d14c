// Completions and closest spellings among the words of a page of one file.

const DISTANCE = 2;

const folded = (text) => text.normalize('NFC').toLowerCase();

export class Completion {
  constructor(words) {
    this.words = words;
    this.folded = words.map(folded);
    this.order = [...words.keys()].sort((a, b) => (this.folded[a] < this.folded[b] ? -1 : this.folded[a] > this.folded[b] ? 1 : a - b));
  }

  /** The most frequent words that begin with a prefix, in any case; the prefix itself first. */
  complete(prefix, limit) {
    const wanted = folded(prefix);
    let [low, high] = [0, this.order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.folded[this.order[middle]] < wanted) low = middle + 1;
      else high = middle;
    }
    const rows = [];
    while (low < this.order.length && this.folded[this.order[low]].startsWith(wanted)) rows.push(this.order[low++]);
    const isSame = (row) => Number(this.words[row] === prefix) * 2 + Number(this.folded[row] === wanted);
    return rows.sort((a, b) => isSame(b) - isSame(a) || a - b).slice(0, limit);
  }

  /** The words with the fewest edits from `text`, at most two: their rows, and how many edits. */
  suggest(text, limit) {
    const wanted = [...folded(text)];
    const found = [];
    for (const [row, word] of this.folded.entries()) {
      if (Math.abs(word.length - wanted.length) > DISTANCE) continue;
      const distance = edits(wanted, [...word]);
      if (distance <= DISTANCE) found.push([distance, row]);
    }
    return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, limit).map(([distance, row]) => ({ row, distance }));
  }
}

/** The edits between two words, a swap of neighbours being one, up to a little more than counts. */
function edits(a, b) {
  let earlier = [];
  let before = [...b.keys(), b.length];
  for (let i = 0; i < a.length; i += 1) {
    const now = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      now.push(Math.min(now[j] + 1, before[j + 1] + 1, before[j] + (a[i] === b[j] ? 0 : 1), isSwap ? earlier[j - 1] + 1 : Infinity));
    }
    if (Math.min(...now, ...before) > DISTANCE) return DISTANCE + 1;
    [earlier, before] = [before, now];
  }
  return before[b.length];
}
