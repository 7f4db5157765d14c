"""Small line charts as SVG."""

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 480, 280, 50, 40, 30


def draw(path, charts):
    """Charts below each other, two in a row: of each a title, and a list of `(x, y)`."""
    columns, rows = min(2, len(charts)), -(-len(charts) // 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * WIDTH} {rows * HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{columns * WIDTH}" height="{rows * HEIGHT}" fill="white"/>']
    for number, (title, points) in enumerate(charts):
        lines += [f'<g transform="translate({number % 2 * WIDTH} {number // 2 * HEIGHT})">', *chart(title, points), "</g>"]
    path.write_text("\n".join([*lines, "</svg>\n"]))


def chart(title, points):
    across, up = max(x for x, _ in points), max(y for _, y in points) * 1.1
    wide, high = (WIDTH - LEFT - 30) / across, (HEIGHT - BOTTOM - TOP) / up
    at = [(LEFT + x * wide, HEIGHT - BOTTOM - y * high) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    texts = [(WIDTH / 2, 18, title)]
    texts += [(x, HEIGHT - BOTTOM + 16, f"{label:,}") for x, label in apart(at, [label for label, _ in points])]
    highest = max(y for _, y in points)
    texts += [(LEFT - 20, HEIGHT - BOTTOM - part * highest * high + 4, shortened(part * highest)) for part in (0.25, 0.5, 0.75, 1)]
    return [
        f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - 10}" fill="none" stroke="black"/>',
        f'<polyline points="{line}" fill="none" stroke="steelblue" stroke-width="2"/>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="steelblue"/>' for x, y in at),
        *(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{text}</text>' for x, y, text in texts)]


def apart(at, labels):
    """The places of labels that do not overlap, from the right."""
    shown, next_place = [], float("inf")
    for (x, _), label in reversed(list(zip(at, labels))):
        if next_place - x > 8 * len(f"{label:,}"):
            shown.append((x, label))
            next_place = x
    return shown


def shortened(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
