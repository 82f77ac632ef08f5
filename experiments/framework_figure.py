"""Figure 1 of the paper, drawn by us: the framework as a picture, and t-SNE maps of digits from one command."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FRAMEWORK, DIGITS = "framework.svg", "digits_tsne.svg"
_INK, _PHI, _ETA, _LOSS = "#222222", "#dbe9f6", "#e6e6e6", "#fbe3d0"


def draw_framework(path: Path) -> None:
    """Write the framework as an SVG: two branches of one φ that learns, a fixed η, and the losses between them."""
    boxes = [  # left, top, width, height, colour, lines of text
        (20, 60, 90, 44, "none", ("row xᵢ",)),
        (20, 196, 90, 44, "none", ("row xⱼ",)),
        (170, 20, 150, 50, _PHI, ("φ(xᵢ; Θ)", "one layer, leaky; learns")),
        (170, 94, 150, 50, _ETA, ("η(xᵢ)", "random, never trained")),
        (170, 156, 150, 50, _PHI, ("φ(xⱼ; Θ)", "the same weights")),
        (170, 230, 150, 50, _ETA, ("η(xⱼ)", "the same mapping")),
        (390, 60, 150, 50, _PHI, ("φ(xᵢ) · φ(xⱼ)", "predicted")),
        (390, 190, 150, 50, _ETA, ("η(xᵢ) · η(xⱼ)", "wanted")),
        (610, 120, 170, 60, _LOSS, ("L_rdp, equation 2", "squared difference")),
        (390, 300, 390, 50, _LOSS, ("L_aux, optional, on one branch", "φ against η, or x decoded against x")),
    ]  # fmt: skip
    arrows = [
        ((110, 82), (170, 45)), ((110, 82), (170, 119)), ((110, 218), (170, 181)), ((110, 218), (170, 255)),
        ((320, 45), (390, 78)), ((320, 181), (390, 92)), ((320, 119), (390, 208)), ((320, 255), (390, 222)),
        ((540, 85), (610, 140)), ((540, 215), (610, 160)), ((245, 280), (390, 325)),
    ]  # fmt: skip
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 370" font-family="sans-serif" role="img">',
        "<title>Random distance prediction: φ learns to predict the inner products of a random mapping η</title>",
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{_INK}"/></marker></defs>',
        '<rect width="800" height="370" fill="white"/>',
    ]
    for (x1, y1), (x2, y2) in arrows:
        parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{_INK}" marker-end="url(#tip)"/>')
    for left, top, width, height, colour, lines in boxes:
        parts.append(
            f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="6" fill="{colour}" stroke="{_INK}"/>'
        )
        first = top + height / 2 + (5 if len(lines) == 1 else -3)
        for place, line in enumerate(lines):
            size = 15 if place == 0 else 11
            parts.append(
                f'<text x="{left + width / 2}" y="{first + 17 * place:g}" font-size="{size}" fill="{_INK}" '
                f'text-anchor="middle">{line}</text>'
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def digit_spaces(
    n_rows: int | None = None, seed: int = 0, n_steps: int = 30_000
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Give the digits as pixels, by the paper's preset and by our default, and the digit of each row.

    The picture of the paper is of optdigits; scikit-learn's digits are its test part.
    """
    from sklearn.datasets import load_digits

    from rdplearn import RDPTransformer

    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = pixels[:n_rows], digits[:n_rows]
    paper = RDPTransformer.paper(n_components=256, n_steps=n_steps, random_state=seed)
    return {
        "raw pixels": pixels,
        "RDPTransformer.paper()": paper.fit_transform(pixels),
        "RDPTransformer()": RDPTransformer(random_state=seed).fit_transform(pixels),
    }, digits


def draw_digits(path: Path, n_rows: int | None = None, seed: int = 0, n_steps: int = 30_000) -> dict[str, float]:
    """Draw t-SNE maps side by side; give each one's share of rows whose nearest neighbour in the map is their digit."""
    from sklearn.manifold import TSNE
    from sklearn.neighbors import NearestNeighbors

    from experiments.plots import new_figures, save_figure

    spaces, digits = digit_spaces(n_rows, seed, n_steps)
    figure, panels = new_figures(1, len(spaces), 12, 4.2)
    shares = {}
    for axes, (name, space) in zip(panels, spaces.items(), strict=True):
        places = TSNE(init="pca", random_state=seed).fit_transform(np.asarray(space, dtype=np.float32))
        nearest = NearestNeighbors(n_neighbors=2).fit(places).kneighbors(places, return_distance=False)[:, 1]
        shares[name] = float((digits[nearest] == digits).mean())
        axes.scatter(*places.T, c=digits, cmap="tab10", s=4, linewidths=0)
        axes.set(xticks=[], yticks=[], title=f"{name}: {100 * shares[name]:.1f} % beside their like")
        axes.title.set_fontsize(10)
    save_figure(figure, path)
    return shares
