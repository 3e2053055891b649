"""Run the pages of `docs/tutorials`, write what each block prints below it, and save what the last one draws.

A page's `python` blocks run in their order in one namespace, in a folder of their own. The indented text after a block,
if there is any, is replaced by what the block prints. The figure that is open at the end goes to the picture of the
page, if it has one. The pictures of the gallery that other pages show are drawn here too, by their own scripts.

    python docs/make_tutorials.py [page ...]
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import sys
import tempfile
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from PIL import Image

DOCS = Path(__file__).resolve().parent
GALLERY = DOCS.parent / "examples" / "gallery"
#: Pictures of the gallery that pages show: the name in docs/images, and the script.
SHOWN = {
    "counts-and-quantiles": "rarities/plot_counts_and_quantiles",
    "far-cluster": "rarities/plot_far_cluster",
    "intervals": "rarities/plot_intervals",
    "margins": "rarities/plot_margins",
}
# A block, and what is printed below it: lines that are indented by four, after an empty one.
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?P<printed>\n(?: {4}[^\n]*\n|\n(?= {4}))+)?", re.M | re.S)
PICTURE = re.compile(r"!\[[^\]]*\]\(\.\./images/([\w.-]+)\)")


def main(*names: str) -> None:
    """Run the named pages, or all, and draw the named pictures of the gallery."""
    pages = [path for path in sorted((DOCS / "tutorials").glob("*.md")) if not names or path.stem in names]
    for page in pages:
        run_page(page)
    for picture, script in SHOWN.items():
        if not names or picture in names:
            runpy.run_path(str(GALLERY / f"{script}.py"))
            save(DOCS / "images" / f"{picture}.png")


def run_page(page: Path) -> None:
    """Run the blocks of a page, and bring its outputs and its picture up to date."""
    namespace = {"__name__": "__main__"}
    start = time.process_time()

    def filled(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], page.name, "exec"), namespace)
        lines = printed.getvalue().rstrip().splitlines()
        below = "".join(f"    {line}".rstrip() + "\n" for line in lines)
        return f"```python\n{block['code']}```\n" + (f"\n{below}" if below else "")

    text = page.read_text()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        page.write_text(BLOCK.sub(filled, text))
    picture = PICTURE.search(text)
    if picture:
        save(DOCS / "images" / picture[1])
    print(f"{page.stem}: {time.process_time() - start:.1f} s of this process")


def save(file: Path) -> None:
    """Save the open figure with a palette of its own, a quarter of the size and no difference to see."""
    plt.savefig(file, dpi=100)
    plt.close("all")
    with Image.open(file) as picture:
        picture.convert("RGB").quantize(96, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{os.path.relpath(file)}: {file.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main(*sys.argv[1:])
