"""The site: `make docs` builds it into docs/_build/html, with warnings as errors."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from docutils import nodes

project = "rdplearn"
author = copyright = "The rdplearn developers"
version = release = metadata.version("rdplearn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
highlight_language = "none"  # blocks without a language are output of commands
suppress_warnings = ["misc.highlighting_failure"]  # shell lines with quotes over two lines

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # numpydoc's Parameters say it in words
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "rdplearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
}


def skip_names_of_others(app, what, name, obj, skip, options):
    """Leave out what scikit-learn and Python give to every class: their own pages describe it."""
    del app, what, options
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None) or "rdplearn"
    return True if name.startswith("_") or not home.startswith("rdplearn") else skip


def write_index_for_agents(app, exception):
    """Write llms.txt: every page with its first sentence, and where its plain text is."""
    if exception is not None or app.builder.name != "html":
        return
    lines = [f"# {project}", "", f"> {metadata.metadata(project)['Summary']}", "", "## Pages", ""]
    for name in sorted(app.env.titles):
        source = Path(app.env.doc2path(name)).suffix
        first = next(app.env.get_doctree(name).findall(nodes.paragraph), nodes.paragraph()).astext()
        sentence = " ".join(first.split()).split(". ")[0].rstrip(".:")
        lines.append(f"- [{app.env.titles[name].astext()}](_sources/{name}{source}.txt): {sentence}")
    Path(app.outdir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app):
    """Tell Sphinx about both."""
    app.connect("build-finished", write_index_for_agents)
    app.connect("autodoc-skip-member", skip_names_of_others)
