"""Estimators and models with the interface of ``pyspark.ml``."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import pyarrow as pa
from pyspark import keyword_only
from pyspark.errors import UnsupportedOperationException
from pyspark.ml.base import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasMaxIter, HasOutputCols, HasTol
from pyspark.ml.util import MLReader, MLWriter
from pyspark.sql.types import ArrayType, FloatType, StructField, StructType

from .. import batches as steps
from .._base import Aligner
from .._defaults import DEFAULTS
from ..estimators import IBFA as LocalIBFA
from ..estimators import MBFA as LocalMBFA
from ._columns import check_vectors, is_udt
from ._moments import moments
from ._workers import Batches, task_function

#: The columns of a saved model, beside the files of the space.
COLUMNS_FILE = "spark.json"


def _as_is(value: Any) -> Any:
    return value


class _Columns(HasInputCols, HasOutputCols):
    """Columns of vectors, one for each view, of latent vectors, and of ids."""

    idCol: Param[str] = Param(
        Params._dummy(), "idCol", "a column by which errors name rows.", typeConverter=TypeConverters.toString
    )

    def _names(self) -> tuple[list[str], list[str], str | None]:
        if not self.isSet("inputCols"):
            raise ValueError("inputCols is not set: which columns hold the vectors of the views?")
        inputs = self.getInputCols()
        outputs = self.getOutputCols() if self.isSet("outputCols") else [f"{name}_latent" for name in inputs]
        if len(outputs) != len(inputs):
            raise ValueError(f"outputCols has {len(outputs)} names for {len(inputs)} inputCols")
        return inputs, outputs, self.getOrDefault("idCol") if self.isSet("idCol") else None


class _Fit(Estimator, _Columns):  # type: ignore[type-arg]
    """What both estimators have."""

    nComponents: Param[Any] = Param(Params._dummy(), "nComponents", "the latent size, 'auto' or None.", _as_is)
    shrinkage: Param[Any] = Param(Params._dummy(), "shrinkage", "'oas', 'none', or a number from 0 to 0.99.", _as_is)
    normalize: Param[Any] = Param(Params._dummy(), "normalize", "None, or 'unit' for vectors of length 1.", _as_is)
    _local: type[Aligner]
    _model: type[_Model]

    def _given(self) -> dict[str, Any]:
        """Parameters of the estimator in :mod:`sememe`."""
        names = {"nComponents": "n_components", "maxIter": "max_iter"}
        ours = ["nComponents", "shrinkage", "normalize", "exponent", "dewhiten", "maxIter", "tol"]
        return {names.get(name, name): self.getOrDefault(name) for name in ours if self.hasParam(name)}

    def setParams(self, **given: Any) -> Any:
        """Changes parameters; returns the estimator."""
        return self._set(**given)

    def _fit(self, dataset: Any) -> Any:
        inputs, outputs, id = self._names()
        if len(inputs) < 2:
            raise ValueError("one view cannot be aligned with itself: give at least two inputCols")
        given = self._given()
        sums = moments(dataset, inputs, idCol=id, normalize=given["normalize"])
        model = self._model(self._local().set_params(**given).fit(sums))
        return self._copyValues(model._set(outputCols=outputs))


class _Model(Model, _Columns):
    """A fitted model."""

    def __init__(self, model: Aligner):
        super().__init__()
        self._model = model
        self._set(inputCols=model.views_)

    @property
    def model(self) -> Aligner:
        """The fitted estimator of :mod:`sememe`, with all attributes and methods that it has on one machine."""
        return self._model

    def _transform(self, dataset: Any) -> Any:
        inputs, outputs, id = self._names()
        check_vectors(dataset, inputs, [] if id is None else [id])
        taken = [name for name in outputs if name in dataset.columns]
        if taken:
            raise ValueError(f"there is a column {taken[0]!r} already; choose other outputCols")
        state, columns = self._model, dict(zip(self._model.views_, inputs))
        names = dict(zip(self._model.views_, outputs))

        def project(batches: Batches) -> Batches:
            for batch in batches:
                latent = pa.record_batch(steps.project(batch, state, columns, outputs=names, id=id))
                schema = pa.schema([*batch.schema, *latent.schema])
                yield pa.RecordBatch.from_arrays([*batch.columns, *latent.columns], schema=schema)

        added = [StructField(name, ArrayType(FloatType())) for name in outputs]
        plain, wrapped = _without_udts(dataset)
        return wrapped(plain.mapInArrow(task_function(project), StructType([*plain.schema.fields, *added])))

    def save(self, path: str) -> None:
        """Writes the folder that :meth:`sememe.IBFA.save` writes, with the names of the columns beside."""
        self.write().save(path)

    def write(self) -> MLWriter:
        """A writer, as ``pyspark.ml`` has them."""
        return _Writer(self)

    @classmethod
    def load(cls, path: str) -> Any:
        """Reads what :meth:`save` wrote, or a space of :mod:`sememe` or of the command, whose views are then the columns."""
        return cls.read().load(path)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """A reader, as ``pyspark.ml`` has them."""
        return _Reader(cls)


def _without_udts(dataset: Any) -> tuple[Any, Any]:
    """Spark returns no vectors of its own type from functions on batches: they are arrays meanwhile, unless the engine has no such
    functions and stores them as they are."""
    from pyspark.sql import functions as F

    vectors = [field.name for field in dataset.schema.fields if is_udt(field.dataType)]
    if not vectors:
        return dataset, _as_is
    from pyspark.ml.functions import array_to_vector, vector_to_array

    def unless_null(function: Any, name: str) -> Any:
        """Spark's own functions fail on nulls, which are missing views."""
        return F.when(F.col(name).isNotNull(), function(F.col(name)))

    plain = dataset.withColumns({name: unless_null(vector_to_array, name) for name in vectors})
    try:
        plain.schema
    except UnsupportedOperationException:
        return dataset, _as_is
    restored = {name: unless_null(array_to_vector, name) for name in vectors}
    return plain, lambda result: result.withColumns(restored)


def _local_path(path: str) -> str:
    if "://" in path and not path.startswith("file://"):
        raise ValueError(f"{path} is no folder of this machine: models are small, so save there, and copy")
    return path.removeprefix("file://")


class _Writer(MLWriter):
    def __init__(self, model: _Model):
        super().__init__()
        self._model = model

    def save(self, path: str) -> None:
        folder = _local_path(path)
        if os.path.exists(folder) and not self.shouldOverwrite:
            raise FileExistsError(f"{folder} exists; use write().overwrite().save(path)")
        self.saveImpl(folder)

    def saveImpl(self, path: str) -> None:
        inputs, outputs, id = self._model._names()
        if os.path.exists(path) and not os.path.exists(os.path.join(path, COLUMNS_FILE)):
            raise ValueError(f"{path} holds no model of sememe.spark and is not replaced; name another folder")
        above = os.path.dirname(os.path.abspath(path))
        os.makedirs(above, exist_ok=True)
        # A folder appears when it is complete; one that it replaces goes with the temporary one.
        with tempfile.TemporaryDirectory(dir=above, prefix=".sememe-") as beside:
            complete = os.path.join(beside, "model")
            self._model.model.save(complete)
            with open(os.path.join(complete, COLUMNS_FILE), "w", encoding="utf-8") as file:
                json.dump({"inputCols": inputs, "outputCols": outputs, "idCol": id}, file, indent=1)
            if os.path.exists(path):
                os.rename(path, os.path.join(beside, "replaced"))
            os.rename(complete, path)


class _Reader(MLReader[Any]):
    def __init__(self, kind: type[_Model]):
        super().__init__()
        self._kind = kind

    def load(self, path: str) -> Any:
        folder = _local_path(path)
        model = self._kind(self._kind._local.load(folder))  # type: ignore[attr-defined]
        described = os.path.join(folder, COLUMNS_FILE)
        if os.path.exists(described):
            with open(described, encoding="utf-8") as file:
                columns = json.load(file)
            model._set(**{name: value for name, value in columns.items() if value is not None})
        return model


class IBFAModel(_Model):
    """A fitted :class:`IBFA`."""

    _local = LocalIBFA


class MBFAModel(_Model):
    """A fitted :class:`MBFA`."""

    _local = LocalMBFA


class IBFA(_Fit):
    """Inter-battery factor analysis of two columns of vectors: :class:`sememe.IBFA` for rows on many machines.

    Parameters
    ----------
    inputCols
        The columns of vectors, which are the views: array<float>, array<double> or VectorUDT. A null is a missing view.
    outputCols
        The columns of latent vectors (array<float>); by default the names of ``inputCols`` with ``_latent``.
    idCol
        A column by which errors name rows.
    nComponents, shrinkage, normalize, exponent, dewhiten
        As for :class:`sememe.IBFA`. Held-out pairs, which ``shrinkage="auto"`` uses there, are not kept: ``"oas"`` is used instead.
    """

    exponent: Param[Any] = Param(Params._dummy(), "exponent", "the weight of latent coordinates.", _as_is)
    dewhiten: Param[bool] = Param(Params._dummy(), "dewhiten", "undo the whitening.", TypeConverters.toBoolean)
    _local, _model = LocalIBFA, IBFAModel

    @keyword_only
    def __init__(
        self,
        *,
        inputCols: list[str] | None = None,
        outputCols: list[str] | None = None,
        idCol: str | None = None,
        nComponents: int | str | None = None,
        shrinkage: float | str | None = "oas",
        normalize: str | None = None,
        exponent: float | None = None,
        dewhiten: bool = DEFAULTS["dewhiten"],
    ):
        super().__init__()
        self._setDefault(nComponents=None, shrinkage="oas", normalize=None, exponent=None, dewhiten=DEFAULTS["dewhiten"])
        self._set(**self._input_kwargs)  # type: ignore[attr-defined]


class MBFA(_Fit, HasMaxIter, HasTol):
    """Multiple-battery factor analysis of any number of columns of vectors: :class:`sememe.MBFA` for rows on many machines.

    Parameters
    ----------
    inputCols, outputCols, idCol, nComponents, shrinkage, normalize
        As for :class:`IBFA`.
    maxIter, tol
        As ``max_iter`` and ``tol`` of :class:`sememe.MBFA`.
    """

    _local, _model = LocalMBFA, MBFAModel

    @keyword_only
    def __init__(
        self,
        *,
        inputCols: list[str] | None = None,
        outputCols: list[str] | None = None,
        idCol: str | None = None,
        nComponents: int | str | None = None,
        shrinkage: float | str | None = "oas",
        normalize: str | None = None,
        maxIter: int = DEFAULTS["max_iter"],
        tol: float = DEFAULTS["tol"],
    ):
        super().__init__()
        self._setDefault(
            nComponents=None, shrinkage="oas", normalize=None, maxIter=DEFAULTS["max_iter"], tol=DEFAULTS["tol"]
        )
        self._set(**self._input_kwargs)  # type: ignore[attr-defined]
