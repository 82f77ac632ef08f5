"""How charts look: one template for light pages and one for dark ones, which hold every colour of every chart."""

from __future__ import annotations

from typing import Any, Literal

Theme = Literal["light", "dark"]

FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", sans-serif'
# The first colour is that of the matter at hand, the second that of its opposite; groups of rows take them in turn.
COLOURS = {
    "light": ["#b8430f", "#2f6690", "#5b7f3a", "#8a5a9e", "#b98a12", "#16837a", "#a8345f", "#6b6f76"],
    "dark": ["#f2884b", "#7db4dc", "#9cc278", "#c39ad6", "#e0b84c", "#5cc4b8", "#ec7fa4", "#a9adb3"],
}
# Between light and dark, fit for both: what is not the matter at hand.
ORDINARY, ORDINARY_FILL = "#7b8e9b", "rgba(123, 142, 155, 0.35)"
INK = {"light": "#1f262c", "dark": "#e4e7ea"}
QUIET_INK = {"light": "#5d6871", "dark": "#9aa5ae"}
RULES = {"light": "#e2e4e6", "dark": "#2f373e"}
# From the many ordinary rows to the rarest.
RARITY = {
    "light": [[0.0, "#c3ccd3"], [0.25, "#93a6b4"], [0.5, "#c99a6b"], [0.75, "#c4602a"], [1.0, "#8c1d04"]],
    "dark": [[0.0, "#3d4850"], [0.25, "#5d7383"], [0.5, "#b98a5e"], [0.75, "#ee8a4d"], [1.0, "#ffd2a6"]],
}


def template(theme: Theme) -> dict[str, Any]:
    """The Plotly template of a theme, as plain values.

    Examples
    --------
    >>> template("dark")["layout"]["font"]["color"]
    '#e4e7ea'
    """
    axis = {
        "gridcolor": RULES[theme],
        "linecolor": RULES[theme],
        "zerolinecolor": RULES[theme],
        "tickcolor": RULES[theme],
        "tickfont": {"color": QUIET_INK[theme]},
        "title": {"font": {"color": QUIET_INK[theme], "size": 13}, "standoff": 8},
        "automargin": True,
        "ticks": "",
    }
    quiet = {
        "tickfont": {"color": QUIET_INK[theme]},
        "title": {"font": {"color": QUIET_INK[theme], "size": 13}},
    }
    return {
        "layout": {
            "font": {"family": FONTS, "size": 13, "color": INK[theme]},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": COLOURS[theme],
            "coloraxis": {
                "colorscale": RARITY[theme],
                "colorbar": {"outlinewidth": 0, "thickness": 8, "ticks": "", "ypad": 4} | quiet,
            },
            "hoverlabel": {"align": "left", "font": {"family": FONTS, "size": 13}},
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "title": {"text": ""}},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": QUIET_INK[theme], "activecolor": COLOURS[theme][0]},
            "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
            "xaxis": axis,
            "yaxis": axis,
            "shapedefaults": {"line": {"color": COLOURS[theme][0]}, "fillcolor": COLOURS[theme][0]},
        }
    }
