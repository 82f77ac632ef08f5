"""Parameters as scikit-learn asks for them, without importing it: reading a table needs none of it."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Self

from rdplearn.errors import TableError, unknown_choice

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Parameters:
    """For a class whose `__init__` stores its arguments under their names: `clone` and pipelines take its objects.

    Examples
    --------
    >>> class Ruler(Parameters):
    ...     def __init__(self, *, unit="cm"):
    ...         self.unit = unit
    >>> Ruler().set_params(unit="inch").get_params()
    {'unit': 'inch'}
    >>> Ruler(), Ruler(unit="inch")
    (Ruler(), Ruler(unit='inch'))
    """

    def __repr__(self) -> str:
        """The parameters that are not as by default."""
        usual = {name: parameter.default for name, parameter in signature(type(self)).parameters.items()}
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(given)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; none of them has parameters of its own, so `deep` changes nothing."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; a fitted object is to be fitted again."""
        for name, value in parameters.items():
            if name not in self._parameter_names():
                raise TableError(unknown_choice("name", "set_params", name, self._parameter_names()))
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, categorical=True, allow_nan=True),
        )

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return list(signature(cls).parameters)
