"""The site of `make docs`: the pages of the repository, where they lie, and what docstrings say.

The source folder is the repository, so that links between pages are the same there and here.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import goblin

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "goblin"
author = "the goblin authors"
release = version = goblin.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "method_table"]

root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md", "csrc/README.md", "tests/fuzz/README.md"]
exclude_patterns = [".*", "benchmarks", "build", "dist", "goblin", "notebooks"]
nitpicky = True

# Single backticks in docstrings are code. Their prose says the types; in signatures every one would
# be a name of numpy or typing that no page here explains, once for each overload.
default_role = "code"
autodoc_typehints = "none"
smartquotes = False  # "str" is what to write
autodoc_member_order = "alphabetical"

myst_heading_anchors = 3
# Prompts and what is printed are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"goblin {release}"
html_extra_path = ["site"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
pygments_style = "tango"
pygments_dark_style = "github-dark"

HEADING = re.compile(r"^## (.+)$")
ENTRY = re.compile(r"^- \[(.+?)\]\((.+?)\.md\)")


def tighten(app: Sphinx, page: str, source: list[str]) -> None:
    """Examples end with an empty line, for doctest; readers need none."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def sidebar(app: Sphinx, page: str, source: list[str]) -> None:
    """Make the lists of the index, which read well as they are, the tables of contents, too."""
    if page != root_doc:
        return
    trees: dict[str, list[str]] = {}
    for line in source[0].splitlines():
        if heading := HEADING.match(line):
            caption = heading[1]
        elif entry := ENTRY.match(line):
            trees.setdefault(caption, []).append(f"{entry[1]} <{entry[2]}>")
    for caption, entries in trees.items():
        lines = ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```"]
        source[0] += "\n".join([*lines, ""])


def without_constructor(
    app: Sphinx, what: str, name: str, thing: object, options: object, *signature: str
) -> tuple[str, str] | None:
    """Readers and what they give are made by goblin alone."""
    made_here = what == "class" and name.endswith(("Batch", "Reader", "Rows", "Trace"))
    return ("", "") if made_here else None


def nothing_public_is_left_out(app: Sphinx, env: BuildEnvironment) -> None:
    known = env.get_domain("py").objects
    for name in goblin.__all__:
        is_alias = getattr(goblin, name).__name__ != name
        if f"goblin.{name}" not in known and not is_alias:
            logging.getLogger(__name__).warning("goblin.%s is in no page of the reference", name)


def setup(app: Sphinx) -> None:
    app.connect("source-read", tighten)
    app.connect("source-read", sidebar)
    app.connect("autodoc-process-signature", without_constructor)
    app.connect("env-check-consistency", nothing_public_is_left_out)
