"""Figure 1 of the paper, drawn by us, and the figures of `docs/how_it_works.md`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FRAMEWORK, DIGITS, MEMBERS, VOICES = "framework.svg", "digits_tsne.svg", "how_members.svg", "how_voices.png"
_INK, _PHI, _ETA, _LOSS = "#222222", "#dbe9f6", "#e6e6e6", "#fbe3d0"
Box = tuple[float, float, float, float, str, tuple[str, ...]]  # left, top, width, height, colour, lines of text
Arrow = tuple[tuple[float, float], tuple[float, float]]


def draw_framework(path: Path) -> None:
    """Write the framework as an SVG: two branches of one φ that learns, a fixed η, and the losses between them."""
    boxes: list[Box] = [
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
    ]
    arrows: list[Arrow] = [
        ((110, 82), (170, 45)), ((110, 82), (170, 119)), ((110, 218), (170, 181)), ((110, 218), (170, 255)),
        ((320, 45), (390, 78)), ((320, 181), (390, 92)), ((320, 119), (390, 208)), ((320, 255), (390, 222)),
        ((540, 85), (610, 140)), ((540, 215), (610, 160)), ((245, 280), (390, 325)),
    ]  # fmt: skip
    title = "Random distance prediction: φ learns to predict the inner products of a random mapping η"
    _write_svg(path, title, (800, 370), boxes, arrows)


def draw_members(path: Path) -> None:
    """Write how the default judges a row as an SVG: three voices, put on one scale, of which the largest counts."""
    boxes: list[Box] = [
        (15, 50, 80, 50, "none", ("a row",)),
        (130, 15, 190, 50, _ETA, ("η, a random mapping", "drawn once, never trained")),
        (130, 85, 190, 50, _PHI, ("φ, a network", "learns to give the same")),
        (370, 50, 160, 50, _LOSS, ("novelty", "how far is φ from η?")),
        (15, 195, 80, 50, "none", ("two rows",)),
        (130, 160, 190, 50, _ETA, ("η", "how alike are they?")),
        (130, 230, 190, 50, _PHI, ("φ", "learns to give the same")),
        (370, 195, 160, 50, _LOSS, ("distance", "how far, in φ, from others?")),
        (15, 320, 305, 50, "none", ("the cells of a row, if it is a table", "one by one, and next to each other")),
        (370, 320, 160, 50, _LOSS, ("cells", "is one cell odd?")),
        (580, 185, 110, 70, "none", ("how rare?", "one scale for all")),
        (720, 185, 120, 70, _LOSS, ("the score", "the largest counts")),
    ]
    arrows: list[Arrow] = [
        ((95, 75), (130, 40)), ((95, 75), (130, 110)), ((320, 40), (370, 68)), ((320, 110), (370, 82)),
        ((95, 220), (130, 185)), ((95, 220), (130, 255)), ((225, 210), (225, 230)), ((320, 255), (370, 228)),
        ((320, 345), (370, 345)), ((530, 75), (580, 200)), ((530, 220), (580, 220)), ((530, 345), (580, 240)),
        ((690, 220), (720, 220)),
    ]  # fmt: skip
    title = "A row is judged by novelty, by distance and by its cells; the largest surprise is its score"
    _write_svg(path, title, (855, 385), boxes, arrows)


def _write_svg(path: Path, title: str, size: tuple[int, int], boxes: list[Box], arrows: list[Arrow]) -> None:
    """Write boxes with words in them, and arrows between them."""
    width, height = size
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" role="img">',
        f"<title>{title}</title>",
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{_INK}"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for (x1, y1), (x2, y2) in arrows:
        parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{_INK}" marker-end="url(#tip)"/>')
    for left, top, wide, high, colour, lines in boxes:
        parts.append(
            f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" rx="6" fill="{colour}" stroke="{_INK}"/>'
        )
        first = top + high / 2 + (5 if len(lines) == 1 else -3)
        for place, line in enumerate(lines):
            font = 15 if place == 0 else 11
            parts.append(
                f'<text x="{left + wide / 2}" y="{first + 17 * place:g}" font-size="{font}" fill="{_INK}" '
                f'text-anchor="middle">{line}</text>'
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def voice_ranks(rows: np.ndarray, places: np.ndarray, seed: int = 0) -> dict[str, np.ndarray]:
    """Rank places, from 0, the least unusual: by novelty members, distance members, and both. Shape (n_places,)."""
    from rdplearn import RDPDetector

    detector = RDPDetector(random_state=seed).fit(rows)
    by_member, n_novelty = detector.member_scores(places), detector.chosen_.n_members
    normal = {
        "novelty": by_member[:, :n_novelty].mean(axis=1),
        "distance": by_member[:, n_novelty:].mean(axis=1),
        "both": detector.score_samples(places),
    }
    return {name: np.argsort(np.argsort(-values, kind="stable")) for name, values in normal.items()}


def draw_voices(path: Path, n_rows: int = 300, n_places: int = 80, seed: int = 0) -> None:
    """Draw what each voice finds unusual on a slope and on a ring: dark is unusual."""
    from experiments.plots import new_figures, save_figure

    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    shapes = {
        "a slope": rng.normal(size=(n_rows, 1)) * [1, 1] + 0.15 * rng.normal(size=(n_rows, 2)),
        "a ring": np.c_[np.cos(angle), np.sin(angle)] + 0.06 * rng.normal(size=(n_rows, 2)),
    }
    figure, panels = new_figures(len(shapes), 3, 9, 5.2)
    for row, (shape, rows) in zip(panels, shapes.items(), strict=True):
        low, high = rows.min(axis=0) - 0.6, rows.max(axis=0) + 0.6
        across, up = (np.linspace(low[side], high[side], n_places) for side in (0, 1))
        places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        for axes, (voice, ranks) in zip(row, voice_ranks(rows, places, seed).items(), strict=True):
            axes.contourf(across, up, -ranks.reshape(n_places, n_places), levels=8, cmap="bone")
            axes.scatter(*rows.T, s=2, color="darkorange")
            axes.set(xticks=[], yticks=[], title=f"{shape}: {voice}")
            axes.title.set_fontsize(10)
    save_figure(figure, path)


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
