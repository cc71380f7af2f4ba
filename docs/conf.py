"""Sphinx's settings; ``make site`` copies this folder to ``build/site`` first (tools/website)."""

import json
import os
import sys
from pathlib import Path

ROOT = Path(os.environ["PELLUCID_ROOT"])
sys.path.insert(0, str(ROOT))
MADE = json.loads((Path(__file__).parent / "made.json").read_text())

project = "Pellucid"
author = "The Pellucid developers"
copyright = author
version = release = MADE["version"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "tools.website.mathml",
    "tools.website.reference",
    "tools.website.sources",
]
exclude_patterns = ["_static", "**.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
source_root = str(ROOT / "src")
source_files = MADE["source_files"]
language = "en"
keep_warnings = True

myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_url_schemes = ["http", "https", "mailto", "source"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_typehints = "none"
add_module_names = False
toc_object_entries_show_parents = "hide"  # "fit", not "LogisticRegression.fit", in the list beside

html_theme = "pydata_sphinx_theme"
html_title = "Pellucid"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static/scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_domain_indices = False
html_sidebars = {"api/*": [], "_source/**": [], "index": [], "search": [], "topics": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navigation_depth": 2,
    "show_nav_level": 1,
    "collapse_navigation": True,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],  # the field would have two names for one thing
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}


def load_late(app, page, template, context, doctree):
    """Let the pictures of the gallery's first page wait until they are scrolled to."""
    if page == "gallery/index":
        context["body"] = context["body"].replace("<img ", '<img loading="lazy" ')


def setup(app):
    """Sphinx calls this."""
    app.connect("html-page-context", load_late)
