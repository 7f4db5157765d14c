// Lines from words to their translations on the map.

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
