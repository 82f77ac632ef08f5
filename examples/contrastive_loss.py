"""A contrastive auxiliary loss: each row's features should tell its nearest row from all others of the batch.

    python examples/contrastive_loss.py

The paper's formulation lets any loss be added that the task suggests. Here the task is to group handwritten digits, and
the loss is that of contrastive learning, with the nearest row of the batch in the role of the second view: a softmax
over the similarities of features must find it. Nobody tells the transformer which digit is which.
"""

from __future__ import annotations

import sys

import torch
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from rdplearn import RDPTransformer, TorchOptions
from rdplearn.evaluation import clustering_scores

TEMPERATURE = 0.2
NEVER = 1e9  # a row is not its own neighbour


def find_the_nearest(rows: Tensor, features: Tensor, targets: Tensor, partner: Tensor) -> Tensor:
    """Cross-entropy of finding each row's nearest row by features.

    rows : (n_rows, n_columns), as φ sees them; features : (n_rows, n_components). The targets of η and the random
    partners are for other losses.
    """
    itself = NEVER * torch.eye(len(rows), device=rows.device)
    nearest = (torch.cdist(rows, rows) + itself).argmin(dim=1)
    unit = F.normalize(features, dim=1)
    return F.cross_entropy(unit @ unit.T / TEMPERATURE - itself, nearest)


def agreement(weight: float, n_rows: int | None, n_steps: int, seed: int = 0) -> float:
    """Normalised mutual information of ten groups with the ten digits."""
    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = pixels[:n_rows], digits[:n_rows]
    transformer = RDPTransformer(
        n_components=16,
        n_steps=n_steps,
        engine="torch",
        torch=TorchOptions(auxiliary_losses={"contrast": (find_the_nearest, weight)}) if weight else None,
        random_state=seed,
    )
    groups = KMeans(10, n_init=5, random_state=seed).fit_predict(transformer.fit_transform(pixels))
    return float(clustering_scores(digits, groups)["nmi"])


def main(n_rows: int | None = None, n_steps: int = 400) -> dict[float, float]:
    """Compare features with and without the loss."""
    results = {weight: agreement(weight, n_rows, n_steps) for weight in (0.0, 0.1)}
    for weight, nmi in results.items():
        print(f"contrastive loss with weight {weight:g}: NMI {nmi:.3f}")
    return results


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
