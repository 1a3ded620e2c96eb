"""A few shapes of SVG, on a panel of their own so that they can be read on light and on dark pages."""

import html

# Light, dark. Lines and bars keep apart from each other and from the panel in both, and for the colour-blind.
COLOURS = {
    "panel": ("#ffffff", "#161b22"),
    "edge": ("#d0d7de", "#30363d"),
    "ink": ("#1f2328", "#e6edf3"),
    "soft": ("#59636e", "#9198a1"),
    "grid": ("#e4e8ec", "#272d36"),
    "ours": ("#0969da", "#58a6ff"),
    "other": ("#b6bec8", "#545d68"),
    "band": ("#8c959f", "#8c959f"),
    "goal": ("#cf222e", "#ff7b72"),
    "line0": ("#42307d", "#b09cf0"),
    "line1": ("#1f6fb5", "#6cb6ff"),
    "line2": ("#14877b", "#4fd1c1"),
    "line3": ("#5d9732", "#97d05f"),
    "line4": ("#c58a00", "#f2cc60"),
    "line5": ("#c4521c", "#f79357"),
}
FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Helvetica, Arial, sans-serif"


def style():
    rules = []
    for dark in (False, True):
        body = "".join(f".{n}{{fill:{c[dark]}}}.{n}-line{{stroke:{c[dark]};fill:none}}" for n, c in COLOURS.items())
        rules.append(f"@media (prefers-color-scheme:dark){{{body}}}" if dark else body)
    return f"<style>text{{font-family:{FONT};font-size:12px}}.bold{{font-weight:600}}{''.join(rules)}</style>"


class Svg:
    def __init__(self, width, height, title):
        self._size, self._title, self._parts = (width, height), title, []
        self.rect(0, 0, width, height, "edge", round_=7)
        self.rect(1, 1, width - 2, height - 2, "panel", round_=6)

    def rect(self, x, y, width, height, kind, round_=0, opacity=1):
        extra = f' rx="{round_}"' if round_ else ""
        extra += f' opacity="{opacity}"' if opacity != 1 else ""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="{kind}"{extra}/>'
        )

    def line(self, x1, y1, x2, y2, kind, width=1.0, dash=""):
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}-line" '
            f'stroke-width="{width}"{extra}/>'
        )

    def path(self, points, kind, width=2.0):
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polyline points="{text}" class="{kind}-line" stroke-width="{width}"/>')

    def area(self, points, kind, opacity):
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polygon points="{text}" class="{kind}" opacity="{opacity}"/>')

    def dot(self, x, y, kind, radius=3.0):
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def note(self, x, y, text, kind, size):
        """Centred text that can be read across lines: the panel's colour lies round its letters."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="panel-line" text-anchor="middle" stroke-width="4" '
            f'style="font-size:{size}px">{html.escape(text)}</text>'
        )
        self.text(x, y, text, kind, "middle", size)

    def text(self, x, y, text, kind="ink", anchor="start", size=12, turn=0):
        extra = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}" style="font-size:{size}px"{extra}>'
            f"{html.escape(text)}</text>"
        )

    def written(self):
        width, height = self._size
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        return "\n".join([head, f"<title>{html.escape(self._title)}</title>", style(), *self._parts, "</svg>", ""])
