"""Draw every picture of docs/gallery.md.

python examples/gallery.py [folder]
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
#: What is no example of the gallery.
OTHERS = {"demo", "gallery", "intervals", "picture"}


def main(folder: str | Path = HERE.parent / "docs" / "images" / "gallery") -> None:
    for name in sorted(path.stem for path in HERE.glob("*.py") if path.stem not in OTHERS):
        print(f"{name}")
        importlib.import_module(name).main(folder)
        target = Path(folder) / f"{name}.png"
        # A palette of its own: a quarter of the size, and no difference to see.
        with Image.open(target) as picture:
            picture.convert("RGB").quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
