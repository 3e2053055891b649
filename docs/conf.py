"""How the pages become a site: `make docs` writes it to `build/site`, to be read from the folder."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from kernelpursuit import __version__

sys.path.insert(0, str(Path(__file__).parent))  # for gallery_order

project = "kernelpursuit"
author = "The kernelpursuit developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["*.py"]
templates_path = ["_templates"]
default_role = "literal"  # what docstrings put between backticks is code
smartquotes = False
toc_object_entries_show_parents = "hide"

# -- Pages in Markdown -------------------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# -- Reference ---------------------------------------------------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# -- Gallery -----------------------------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.ReadingOrder",
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "min_reported_time": 5,
}

# -- Looks -------------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "kernelpursuit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_context = {"default_mode": "auto"}


# -- Words from elsewhere ----------------------------------------------------------------------------------------------
def without_roles(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep the words of roles that scikit-learn's inherited docstrings use, whose targets are on its own site."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r":(?:term|ref):`([^`<]*?)\s*(?:<[^>]*>)?`", r"\1", line)


def signature_of_init(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Show what `__init__` takes, also of classes whose `__new__` checks the names first."""
    if what != "class":
        return signature, returns
    told = inspect.signature(obj)
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in told.parameters.values()]
    return str(told.replace(parameters=parameters, return_annotation=inspect.Signature.empty)), None


def is_left_out(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """Leave out the methods that scikit-learn makes for routing metadata: the same on every estimator."""
    return skip or name == "get_metadata_routing" or bool(re.fullmatch(r"set_\w+_request", name))


def with_links_of_the_site(app: Any, relative_path: Any, parent: str, content: list[str]) -> None:
    """Let pages of the repository's root lead to pages of the site, and name other files without a link."""
    content[0] = re.sub(r"\]\(docs/", "](", content[0])
    content[0] = re.sub(r"\]\(CHANGELOG\.md\)", "](changes.md)", content[0])
    content[0] = re.sub(r"\]\(SECURITY\.md\)", "](security.md)", content[0])
    content[0] = re.sub(r"\[([^\]]+)\]\((?!https?:|#|[\w/-]+\.md)[^)]+\)", r"\1", content[0])


def lead_to_gallery(app: Any, name: str, content: list[str]) -> None:
    """Let links to scripts of the gallery, which lead somewhere in the repository too, lead to their pages."""
    content[0] = re.sub(r"\]\((?:\.\./)+examples/gallery/([\w/]+)\.py\)", r"](/gallery/\1.rst)", content[0])
    content[0] = re.sub(r"\]\((?:\.\./)+examples/gallery\)", "](/gallery/index.rst)", content[0])


def setup(app: Any) -> None:
    """Connect the above."""
    app.connect("source-read", lead_to_gallery)
    app.connect("autodoc-process-docstring", without_roles)
    app.connect("autodoc-process-signature", signature_of_init)
    app.connect("autodoc-skip-member", is_left_out)
    app.connect("include-read", with_links_of_the_site)
