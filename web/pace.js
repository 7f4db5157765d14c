// How many points are drawn while the map moves. Without a GPU a frame of all points takes a third of a second; a share of
// them, the most frequent words, keeps up with the hand. All are drawn when the map stands still.

import { debounced } from './dom.js';

/** Milliseconds of a frame that is too slow, and of one that leaves room for more points. */
const [SLOW, FAST] = [30, 12];
/** Milliseconds after which the map stands still. */
const STILL = 250;
const LEAST = 0.02;

export class Pace {
  /** `redraw` draws once more, when the map stands still. */
  constructor(redraw) {
    this.share = 1;
    this.isStill = false;
    this.rest = debounced(() => {
      this.isStill = true;
      redraw();
    }, STILL);
  }

  /** Draws a frame by `draw`, which is given the share of the points to draw and returns when they are drawn. */
  frame(draw) {
    const start = performance.now();
    if (this.isStill) {
      // What it takes to draw all points says nothing about the next movement.
      this.isStill = false;
      draw(1);
      return;
    }
    const drawn = this.share;
    draw(drawn);
    const took = performance.now() - start;
    if (took > SLOW) this.share = Math.max(LEAST, drawn / 2);
    if (took < FAST) this.share = Math.min(1, drawn * 1.25);
    if (drawn < 1) this.rest();
  }
}
