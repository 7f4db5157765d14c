"""The interface that scikit-learn expects of every estimator, without scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any

from typing import TypeVar

Self = TypeVar("Self", bound="Parameterized")


class Parameterized:
    """Parameters are the arguments of ``__init__``, stored unchanged."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls.__init__).parameters.values()
        return {p.name: p.default for p in parameters if p.name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self: Self, **parameters: Any) -> Self:
        """Changes parameters; returns the estimator."""
        known = self._defaults()
        for name in parameters:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(sorted(known))}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = [f"{name}={getattr(self, name)!r}" for name in defaults if getattr(self, name) != defaults[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn calls this.
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False, one_d_labels=False, two_d_labels=True, multi_output=True),
            transformer_tags=TransformerTags(preserves_dtype=["float32"]),
            input_tags=InputTags(allow_nan=True),
        )
