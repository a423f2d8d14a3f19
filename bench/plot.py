"""Growth, as a picture: lines over two logarithmic axes, in SVG that follows the colours of the page around it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

Line = Sequence[tuple[float, float]]
WIDTH, HEIGHT, LEFT, BELOW, ABOVE, RIGHT = 640, 360, 64, 44, 36, 150
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")


def plot(title: str, across: str, up: str, lines: Mapping[str, Line]) -> str:
    """A picture of each line's points, joined in their order. All values are above zero."""
    xs = _decades(x for line in lines.values() for x, _ in line)
    ys = _decades(y for line in lines.values() for _, y in line)

    def place(x: float, y: float) -> tuple[float, float]:
        right, high = WIDTH - LEFT - RIGHT, HEIGHT - ABOVE - BELOW
        left = LEFT + right * (math.log10(x) - xs[0]) / (xs[-1] - xs[0])
        top = HEIGHT - BELOW - high * (math.log10(y) - ys[0]) / (ys[-1] - ys[0])
        return round(left, 1), round(top, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor" color="#777">',
        f"<title>{escape(title)}</title>",
        _text(LEFT, 20, title, size=14),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, anchor="middle"),
        _text(LEFT - 8, ABOVE - 2, up, anchor="end"),
    ]
    for power in xs:
        (x, bottom), (_, top) = place(10**power, 10 ** ys[0]), place(10**power, 10 ** ys[-1])
        parts += [_rule(x, bottom, x, top), _text(x, bottom + 16, f"{10**power:g}", anchor="middle")]
    for power in ys:
        (left, y), (right, _) = place(10 ** xs[0], 10**power), place(10 ** xs[-1], 10**power)
        parts += [_rule(left, y, right, y), _text(left - 8, y + 4, f"{10**power:g}", anchor="end")]
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [place(*point) for point in line]
        path = " ".join(f"{x},{y}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
        y = ABOVE + 20 * number
        parts.append(f'<rect x="{WIDTH - RIGHT + 12}" y="{y}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(WIDTH - RIGHT + 30, y + 11, name))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _decades(values: Iterable[float]) -> range:
    """Powers of ten from below the least to above the most."""
    known = [math.log10(value) for value in values]
    first = math.floor(min(known))
    return range(first, max(math.ceil(max(known)), first + 1) + 1)


def _text(x: float, y: float, words: str, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" stroke-opacity="0.25"/>'
