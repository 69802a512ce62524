"""Draws the pictures of the README, the crate's docs and the guide, as SVG.

    python3 src/guide/pictures/draw.py

Each picture stands alone in a page of a forge, and is part of a page of the docs. `svg:root` is true in the first case
only: the text is then dark or light as the reader's system is, and in the docs it has the colour of the page's text.
`times.svg` has the figures of performance.md, and `decoded.svg` those of benches/results.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent
# One colour for each row of a table; they are seen on white and on black.
COLOURS = ["#4c8ed9", "#e08a3c", "#4fae6a", "#c95d8f", "#8b7bd8", "#b59a2f"]
GREY = "#888888"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


class Picture:
    def __init__(self, width, height, text):
        self.size = (width, height)
        self.text = text
        self.parts = []

    def cell(self, x, y, text, colour=None, width=34, height=24):
        fill = f'fill="{colour}" fill-opacity=".35"' if colour else 'fill="none"'
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {fill} stroke="{colour or GREY}"/>'
        )
        self.label(x + width / 2, y + height / 2 + 5, text, anchor="middle")

    def label(self, x, y, text, anchor="start", size=13, weight="normal"):
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">{text}</text>'
        )

    def arrow(self, points, colour="currentColor", dashed=False):
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>')
        (x0, y0), (x, y) = points[-2:]
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        dx, dy = (x - x0) / length * 7, (y - y0) / length * 7
        left, right = (x - dx - dy / 2, y - dy + dx / 2), (x - dx + dy / 2, y - dy - dx / 2)
        corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in [(x, y), left, right])
        self.parts.append(f'<polygon points="{corners}" fill="{colour}"/>')

    def box(self, x, y, width, height, colour=GREY, fill=True):
        inside = f'fill="{colour}" fill-opacity=".12"' if fill else 'fill="none"'
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" {inside} stroke="{colour}"/>'
        )

    def write(self, name):
        width, height = self.size
        # Markdown ends a block of HTML at an empty line.
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="0 0 {width} {height}" width="{width}" '
            f'role="img" aria-label="{self.text}" style="max-width:100%;height:auto" fill="currentColor" '
            f'font-family="{FONT}">',
            f"<title>{self.text}</title>",
            "<style>svg:root{color:#1f2328}@media(prefers-color-scheme:dark){svg:root{color:#e6edf3}}</style>",
            *self.parts,
            "</svg>",
        ]
        (HERE / name).write_text("\n".join(lines) + "\n")


def operations():
    """The three operations: the same colours in params and output."""
    picture = Picture(
        690,
        330,
        "Gather copies whole rows by their numbers, GatherNd elements or rows by coordinates, and GatherElements one "
        "element for each index, from the index's own row",
    )
    table = [["10", "11"], ["20", "21"], ["30", "31"]]

    def params(x, y, colour_of):
        for row, cells in enumerate(table):
            picture.label(x - 10, y + row * 26 + 17, str(row), anchor="end", size=11)
            for column, text in enumerate(cells):
                picture.cell(x + column * 34, y + row * 26, text, colour_of(row, column))

    for column, (title, like) in enumerate(
        [("Gather", "tf.gather, np.take"), ("GatherNd", "tf.gather_nd"), ("GatherElements", "torch.gather")]
    ):
        x = 20 + column * 230
        picture.label(x, 20, title, size=15, weight="bold")
        picture.label(x, 38, like, size=11)
        picture.label(x + 18, 66, "params", size=11)
        picture.label(x, 176, "indices", size=11)
        picture.label(x + 100, 176, "output", size=11)
    # Whole rows.
    params(38, 74, lambda row, _: COLOURS[row] if row != 1 else None)
    for n, row in enumerate([2, 0, 2]):
        y = 186 + n * 26
        picture.cell(20, y, str(row), COLOURS[row])
        picture.arrow([(60, y + 12), (112, y + 12)], COLOURS[row])
        for column in range(2):
            picture.cell(120 + column * 34, y, table[row][column], COLOURS[row])
    # Coordinates.
    places = [(2, 0), (0, 1)]
    params(268, 74, lambda row, column: COLOURS[row] if (row, column) in places else None)
    for n, (row, column) in enumerate(places):
        y = 186 + n * 26
        picture.cell(250, y, str(row), COLOURS[row])
        picture.cell(284, y, str(column), COLOURS[row])
        picture.arrow([(322, y + 12), (342, y + 12)], COLOURS[row])
        picture.cell(350, y, table[row][column], COLOURS[row])
    # Along axis 1.
    picked = [0, 1, 1]
    params(498, 74, lambda row, column: COLOURS[row] if picked[row] == column else None)
    for row, column in enumerate(picked):
        y = 186 + row * 26
        picture.cell(480, y, str(column), COLOURS[row])
        picture.arrow([(520, y + 12), (572, y + 12)], COLOURS[row])
        picture.cell(580, y, table[row][column], COLOURS[row])
    picture.label(20, 290, "an index names a row", size=12)
    picture.label(250, 290, "an index row names a place", size=12)
    picture.label(480, 290, "axis 1: an index picks", size=12)
    picture.label(480, 306, "in its own row", size=12)
    picture.write("operations.svg")


def owners():
    """Who owns buffers, who submits and who waits."""
    picture = Picture(
        690,
        250,
        "Three ways in. plan.gather: your slices, the calling thread, no GPU. Gatherer: your device, buffers and encoder; it "
        "only records, and you submit and wait. Executor: it owns tensors, submits and waits",
    )
    rows = ["owns the memory", "records", "submits", "waits"]
    columns = [
        ("plan.gather(..)", "CPU", ["you: slices", "-", "-", "the call"]),
        ("Gatherer", "your own device", ["you: buffers", "Gatherer", "you", "you"]),
        ("Executor", "a GPU, or the CPU", ["Executor: tensors", "Executor", "Executor", ".wait() or .await"]),
    ]
    for n, row in enumerate(rows):
        picture.label(16, 102 + n * 38, row, size=12)
    for column, (title, where, cells) in enumerate(columns):
        x = 150 + column * 180
        colour = COLOURS[column]
        picture.box(x, 8, 168, 234, colour)
        picture.label(x + 84, 34, title, anchor="middle", size=15, weight="bold")
        picture.label(x + 84, 54, where, anchor="middle", size=11)
        for n, cell in enumerate(cells):
            picture.box(x + 10, 80 + n * 38, 148, 32, GREY if "you" not in cell else COLOURS[5])
            picture.label(x + 84, 101 + n * 38, cell, anchor="middle", size=12)
    picture.write("owners.svg")


def strides():
    """Positions among interleaved vertices, by a start and a stride."""
    picture = Picture(
        690,
        190,
        "Interleaved vertices of 5 floats: position, then texture coordinates. A range that starts at the first position, a "
        "slice of 3 and a stride of 5 gather positions only",
    )
    names = ["x", "y", "z", "u", "v"]
    for vertex in range(3):
        for n, name in enumerate(names):
            x = 20 + (vertex * 5 + n) * 43
            colour = COLOURS[vertex] if n < 3 else None
            picture.cell(x, 50, f"{name}{vertex}", colour, width=43, height=30)
    picture.label(20, 20, "the vertex buffer, as params", size=12)
    picture.arrow([(20, 30), (20, 47)])
    picture.label(28, 40, "start of the range", size=11)
    picture.arrow([(25, 94), (145, 94)], COLOURS[0])
    picture.label(30, 110, "slice: 3 floats", size=11)
    picture.arrow([(22, 126), (232, 126)])
    picture.label(30, 142, "with_params_stride(5)", size=11)
    picture.label(330, 112, "indices [2, 0]", size=12)
    for n, vertex in enumerate([2, 0]):
        for k in range(3):
            x = 330 + (n * 3 + k) * 43
            picture.cell(x, 142, f"{names[k]}{vertex}", COLOURS[vertex], width=43, height=30)
    picture.label(330, 136, "output", size=11)
    picture.write("strides.svg")


def windows():
    """A table larger than a binding, and one larger than a buffer."""
    picture = Picture(
        690,
        250,
        "A table in one buffer that is larger than a binding is bound in windows, one dispatch each, without your doing. A table "
        "larger than a buffer lies in shards, one buffer and plan each, which you make",
    )
    picture.label(20, 22, "larger than a binding: windows", size=14, weight="bold")
    picture.label(20, 40, "one buffer; nothing to do", size=11)
    for window in range(3):
        y = 54 + window * 52
        picture.box(20, y, 120, 46, COLOURS[window])
        picture.label(80, y + 28, f"window {window}", anchor="middle", size=12)
        picture.arrow([(146, y + 23), (190, y + 23)], COLOURS[window])
        picture.label(198, y + 27, f"dispatch {window}", size=12)
    picture.parts.append('<rect x="14" y="48" width="132" height="164" fill="none" stroke="currentColor"/>')
    picture.label(80, 232, "a buffer", anchor="middle", size=12)
    picture.label(370, 22, "larger than a buffer: shards", size=14, weight="bold")
    picture.label(370, 40, "you split the table", size=11)
    for shard in range(3):
        y = 54 + shard * 56
        picture.box(370, y, 120, 44, COLOURS[shard])
        picture.label(430, y + 26, f"shard {shard}", anchor="middle", size=12)
        picture.parts.append(
            f'<rect x="364" y="{y - 5}" width="132" height="54" fill="none" stroke="currentColor"/>'
        )
        picture.arrow([(502, y + 22), (540, y + 22)], COLOURS[shard])
    picture.box(548, 54, 120, 156)
    picture.label(608, 128, "one output", anchor="middle", size=12)
    picture.label(608, 146, "gather_shards(..)", anchor="middle", size=11)
    picture.write("windows.svg")


def chart(picture, title, names, bars, most, step):
    """Bars in groups, each group with its name below."""
    height, left, top = 190, 56, 44
    picture.label(left, 20, title, size=13, weight="bold")
    for value in range(0, most + 1, step):
        y = top + height - value / most * height
        picture.parts.append(f'<path d="M{left} {y:.1f} H680" stroke="{GREY}" stroke-opacity=".4"/>')
        picture.label(left - 8, y + 4, str(value), anchor="end", size=11)
    colours = [*COLOURS[:2], GREY]
    for n, (name, values) in enumerate(bars):
        x = left + 10 + n * 69
        for k, value in enumerate(values):
            bar = value / most * height
            picture.parts.append(
                f'<rect x="{x + k * 18}" y="{top + height - bar:.1f}" width="16" height="{bar:.1f}" '
                f'fill="{colours[k]}"/>'
            )
        picture.label(x + 26, top + height + 18, name, anchor="middle", size=11)
    x = left
    for k, name in enumerate(names):
        picture.parts.append(f'<rect x="{x}" y="{top + height + 36}" width="12" height="12" fill="{colours[k]}"/>')
        picture.label(x + 18, top + height + 47, name, size=11)
        x += 40 + 7 * len(name)


def times():
    """GB/s of output by the size of a slice, on one thread: this crate, the fastest other library and a loop."""
    page = (HERE.parent / "performance.md").read_text()
    # The bytes of a slice, and the MiB of the output, by the table of workloads.
    workloads = [
        ("W1", "4 B", 16),
        ("W7u8", "16 B", 16),
        ("W7f16", "32 B", 32),
        ("W3", "64 B", 64),
        ("W6", "256 B", 16),
        ("W4", "512 B", 97.65625),
        ("W5", "2 KiB", 97.65625),
        ("K1", "4 KiB", 32),
        ("K2", "8 KiB", 32),
    ]
    bars = []
    for name, size, mib in workloads:
        row = re.search(rf"^\| {name} (?:\| [^|]+ ){{3}}\| (\S+), (\S+) [^|]+ \| (\S+) \|", page, re.M)
        bars.append((size, [mib * 2**20 / 1e6 / float(number.strip("*")) for number in row.groups()]))
    names = ["wgpu-gather", "fastest of NumPy, torch, JAX, ONNX Runtime", "a loop of copies"]
    figures = "; ".join(f"{size}: {a:.1f}, {b:.1f}, {c:.1f}" for size, (a, b, c) in bars)
    picture = Picture(690, 300, f"GB/s of output on one thread, by slice size. {', '.join(names)}: {figures}")
    chart(picture, "GB/s of output, one thread of a Zen 3, 2026-11-27", names, bars, 10, 2)
    picture.write("times.svg")


def decoded():
    """Decoded numbers in a second, on one thread: this crate and ggml."""
    page = (HERE.parents[2] / "benches/results/zen3-2026-11-27.md").read_text()
    bars = []
    for encoding in ["F16", "BF16", "Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS", "MXFP4"]:
        row = re.search(rf"^\| {encoding} \| (\S+), \S+ \| (\S+) \|", page, re.M)
        bars.append((encoding, [25.6e6 / float(number) / 1e6 for number in row.groups()]))
    names = ["wgpu-gather gather_encoded_into", "ggml get_rows"]
    figures = "; ".join(f"{encoding}: {a:.1f}, {b:.1f}" for encoding, (a, b) in bars)
    picture = Picture(690, 300, f"Billions of decoded f32 in a second, on one thread. {', '.join(names)}: {figures}")
    chart(picture, "10^9 decoded f32 in a second, one thread of a Zen 3, 2026-11-27", names, bars, 2, 1)
    picture.write("decoded.svg")


for draw in [operations, owners, strides, windows, times, decoded]:
    draw()
