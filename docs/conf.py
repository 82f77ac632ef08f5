"""The site: `make docs` builds it into docs/_build/html, with warnings as errors."""

from __future__ import annotations

import importlib
import inspect
import re
from importlib import metadata
from pathlib import Path

from docutils import nodes
from plotly.offline import get_plotlyjs
from sphinx.errors import ExtensionError

project = "rdplearn"
author = copyright = "The rdplearn developers"
version = release = metadata.version("rdplearn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
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

# The gallery: every example is executed, and one that fails fails the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
}

html_theme = "pydata_sphinx_theme"
html_title = "rdplearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {name: [] for name in ("index", "getting_started", "how_it_works")}  # they have no pages below them
toc_object_entries_show_parents = "hide"
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


def prepare_docstring(app, what, name, obj, options, lines):
    """Write groups of parameters, such as **Everyday**, in capitals: numpydoc takes them for names.

    And write formulas, which are short, as they are: a page needs nothing from a network then.
    """
    del app, what, name, obj, options
    for place, line in enumerate(lines):
        plain = re.sub(r":math:`([^`]+)`", lambda formula: "``" + re.sub(r"[{}\\]", "", formula[1]) + "``", line)
        lines[place] = plain.strip("*").upper() if re.fullmatch(r"\*\*\w+\*\*", plain) else plain


def describe_constant(app, what, name, obj, options, lines):
    """Give a constant the comment of its line, or its value: without a docstring it would get that of its type."""
    del app, options
    if what == "data" and (not lines or "\n".join(lines).strip() == inspect.getdoc(type(obj))):
        module, _, constant = name.rpartition(".")
        source = inspect.getsource(importlib.import_module(module))
        comment = re.search(rf"^{constant}\b[^#\n]*#\s*(.+)$", source, flags=re.MULTILINE)
        lines[:] = [f"{comment[1][0].upper()}{comment[1][1:]}." if comment else f"``{obj!r}``", ""]


def take_our_plotly(app, docname, source):
    """Let the charts of the gallery take Plotly from this site: a page needs nothing from a network then."""
    del app
    if docname.startswith("gallery/"):
        source[0] = re.sub(r'src="https://cdn\.plot\.ly/[^"]+"[^>]*>', 'src="../_static/plotly.min.js">', source[0])


def write_plotly(app, exception):
    """Write the Plotly that is installed beside the pages."""
    if exception is None and app.builder.name == "html":
        Path(app.outdir, "_static", "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")


def keep_figures_together(app, doctree):
    """Let no line end between the two figures of a cell, such as 0.699 / 0.282, or within 95% of 3,295."""
    del app
    for cell in doctree.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            joined = re.sub(r"(?<=\d) / (?=[+-]?\d)|(?<=%) of (?=\d)", lambda gap: gap[0].replace(" ", "\xa0"), text)
            text.parent.replace(text, nodes.Text(joined))


def first_sentence(doctree):
    """The first sentence of a page that says what it is about, not how the page is made."""
    paragraphs = (
        node for node in doctree.findall(nodes.paragraph) if not isinstance(node.parent, (nodes.entry, nodes.note))
    )
    texts = (" ".join(paragraph.astext().split()) for paragraph in paragraphs)
    said = next((text for text in texts if not text.startswith(("Generated by", "Written by"))), "")
    return said.split(". ")[0].rstrip(".:")


def write_index_for_agents(app, exception):
    """Write llms.txt: every page with its first sentence; of written pages the plain text, of names their page."""
    if exception is not None or app.builder.name != "html":
        return
    listed = {"Pages": [], "Names": []}
    for name in sorted(app.env.titles):
        of_a_name = name.startswith("api/")
        title = name.removeprefix("api/") if of_a_name else app.env.titles[name].astext()
        is_text = not of_a_name and name != "changelog"  # which is a file of the repository, included
        place = f"{name}.html" if not is_text else f"_sources/{name}{Path(app.env.doc2path(name)).suffix}.txt"
        sentence = first_sentence(app.env.get_doctree(name))
        listed["Names" if of_a_name else "Pages"].append(f"- [{title}]({place}): {sentence}")
    silent = [line for lines in listed.values() for line in lines if line.endswith(": ")]
    if silent:
        raise ExtensionError(f"Begin these pages with a sentence that says what they are about: {silent}")
    parts = [f"# {project}", f"> {metadata.metadata(project)['Summary']}"]
    parts += [f"## {heading}\n\n" + "\n".join(lines) for heading, lines in listed.items()]
    Path(app.outdir, "llms.txt").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def setup(app):
    """Tell Sphinx about all of it."""
    app.connect("autodoc-process-docstring", describe_constant, priority=0)
    app.connect("autodoc-process-docstring", prepare_docstring, priority=1)  # before numpydoc
    app.connect("source-read", take_our_plotly)
    app.connect("doctree-read", keep_figures_together)
    app.connect("build-finished", write_plotly)
    app.connect("build-finished", write_index_for_agents)
    app.connect("autodoc-skip-member", skip_names_of_others)
