"""A map of handwritten digits: the 2-D t-SNE of learned features next to that of the raw pixels.

    python examples/digits_map.py digits_map.html

Nobody told the transformer which digit is which; the colours are put on afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.metrics import silhouette_score

from rdplearn import RDPTransformer

COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")


def digit_maps(n_rows: int | None = None, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The two maps, each (n_rows, 2), and the digit of every row."""
    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = pixels[:n_rows], digits[:n_rows]
    features = RDPTransformer(random_state=seed).fit_transform(pixels)
    tsne = TSNE(init="pca", random_state=seed)
    return {"raw pixels": tsne.fit_transform(pixels), "learned features": tsne.fit_transform(features)}, digits


def draw(maps: dict[str, np.ndarray], digits: np.ndarray) -> go.Figure:
    """Both maps side by side, coloured by digit."""
    titles = [f"{name} (silhouette of the digits {silhouette_score(m, digits):.2f})" for name, m in maps.items()]
    figure = make_subplots(cols=len(maps), subplot_titles=titles)
    for column, places in enumerate(maps.values(), start=1):
        for digit in np.unique(digits):
            here = digits == digit
            marker = {"color": COLOURS[digit], "size": 4}
            points = go.Scattergl(
                x=places[here, 0],
                y=places[here, 1],
                mode="markers",
                marker=marker,
                name=str(digit),
                showlegend=column == 1,
            )
            figure.add_trace(points, row=1, col=column)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure.update_layout(title="Handwritten digits, t-SNE", template="simple_white", width=1200, height=620)


def main(path: Path, n_rows: int | None = None) -> None:
    """Write the picture as one standalone page."""
    maps, digits = digit_maps(n_rows)
    draw(maps, digits).write_html(path, include_plotlyjs=True)
    print(f"{len(digits)} digits: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "digits_map.html"))
