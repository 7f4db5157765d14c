// Lines on the map: from words to their translations, and between words of the dictionary.

import { h } from './dom.js';

/** Lines of the dictionary in one picture: more of them would only cover it. */
const MOST = 3000;

/** Draws the lines of `points`, those of the `chosen` one heavier; `links` finds their translations. */
export function drawLines(context, { points, chosen, links, isShown, isSeen, place, colour }) {
  for (const point of new Set([...points, ...(chosen >= 0 ? [chosen] : [])])) {
    if (!isShown(point)) continue;
    const isChosen = point === chosen;
    context.strokeStyle = `rgb(${colour(point).join(' ')} / ${isChosen ? 0.9 : 0.35})`;
    context.lineWidth = isChosen ? 2 : 1.2;
    for (const link of links(point)) {
      // Lines that lead out of the picture only cover it.
      if (isChosen ? !isShown(link.point) : !isSeen(link.point)) continue;
      context.beginPath();
      context.moveTo(...place(point));
      context.lineTo(...place(link.point));
      context.stroke();
    }
  }
}

/** Draws the pairs of the dictionary of which both words are seen, the first ones if they are many. */
export function drawPairs(context, { pairs, isSeen, place, colour }) {
  context.lineWidth = 1;
  let drawn = 0;
  for (const [from, to] of pairs) {
    if (!isSeen(from) || !isSeen(to)) continue;
    context.strokeStyle = `rgb(${colour(from).join(' ')} / 0.3)`;
    context.beginPath();
    context.moveTo(...place(from));
    context.lineTo(...place(to));
    context.stroke();
    drawn += 1;
    if (drawn === MOST) return;
  }
}

/** The boxes by which a person asks for lines, and what the address says of them. */
export class LineBoxes {
  constructor(changed) {
    const box = () => h('input', { type: 'checkbox', onchange: changed });
    [this.translations, this.pairs] = [box(), box()];
    const label = (text, input, title) => h('label', { class: 'check', title }, input, text);
    this.labels = [
      label('Join translations', this.translations, 'Labelled words and their best translations'),
      label('Join the dictionary', this.pairs, 'The words of the dictionary that the space was fitted to'),
    ];
    this.offerDictionary(false);
  }

  get hasLines() { return this.translations.checked; }
  get hasPairs() { return this.pairs.checked; }

  /** Not every space knows its dictionary. */
  offerDictionary(isKnown) { this.labels[1].hidden = !isKnown; }

  read({ lines, pairs }) { [this.translations.checked, this.pairs.checked] = [lines === '1', pairs === '1']; }
  params() { return { lines: this.hasLines ? 1 : null, pairs: this.hasPairs ? 1 : null }; }
}
