"""The parameters of the detector, checked before the work: what scikit-learn's own checks cannot tell."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from rdplearn._model.mapping import check_mapping, with_options
from rdplearn._training.torch_options import torch_options
from rdplearn._views.view import VIEW_NAMES, names_in
from rdplearn.callbacks import check_callbacks
from rdplearn.defaults import is_open, turns

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector


def check_parameters(detector: RDPDetector) -> None:
    """Raise an error that names the parameter, the rule, the value and the remedy if something cannot be."""
    detector._validate_params()
    check_callbacks(detector.callbacks, "RDPDetector")
    if isinstance(detector.max_samples, Integral) and detector.max_samples < 2:
        raise ValueError(
            "The 'max_samples' parameter of RDPDetector must be an integer from 2, or a float in (0, 1] for a share of "
            f"the rows. Got {detector.max_samples!r}: pass 1.0 for all rows, or a larger number."
        )
    wanted = torch_options(detector)
    if not detector.distance_weight and detector.novelty_weight == 0 and not wanted.auxiliary_losses:
        raise ValueError(
            "At least one of 'distance_weight' and 'novelty_weight' of RDPDetector must be positive. Got 0 for "
            "both: there would be nothing to learn."
        )
    if detector.false_alarm_rate is not None and not (detector.contamination == "auto" or is_clean(detector)):
        raise ValueError(
            "'contamination' and 'false_alarm_rate' of RDPDetector set the same threshold. Got "
            f"{detector.contamination!r} and {detector.false_alarm_rate!r}: leave one of them at its default."
        )
    for view in given_turns(detector, "views"):
        if not isinstance(view, str) or not set(names_in(view)) <= set(VIEW_NAMES):
            raise ValueError(
                f"The 'views' parameter of RDPDetector must name views among {', '.join(VIEW_NAMES)}, or several "
                f"of them joined by '+'. Got {view!r}: correct the name."
            )
    for mapping in given_turns(detector, "mapping"):
        check_mapping(mapping, "RDPDetector", in_turn=True)
        n_targets = with_options(mapping).n_targets
        if n_targets not in (None, detector.n_components) and detector.novelty_weight > 0:
            raise ValueError(
                "The 'n_targets' of RandomMapping must equal 'n_components' of RDPDetector when the novelty loss is "
                f"on. Got {n_targets} and {detector.n_components}: pass n_components={n_targets}, or novelty_weight=0."
            )


def given_turns(detector: RDPDetector, name: str) -> list[Any]:
    """What the user wants members to take turns in; nothing if that is left open."""
    given = getattr(detector, name)
    if is_open(given):
        return []
    if not turns(given):
        raise ValueError(f"The {name!r} parameter of RDPDetector must not be empty. Got {given!r}: name at least one.")
    return turns(given)


def is_calibrated(detector: RDPDetector) -> bool:
    """Whether the line is drawn on rows that no member sees."""
    return detector.false_alarm_rate is not None or is_clean(detector)


def is_clean(detector: RDPDetector) -> bool:
    """Whether the user knows that all rows of the fit are normal."""
    return detector.contamination == "none"
