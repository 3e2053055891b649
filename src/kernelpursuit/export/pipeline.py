"""A converter for skl2onnx, so that a `Pipeline` with a scaler and one of our estimators becomes one ONNX file."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpursuit.estimators import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.export.describe import describe
from kernelpursuit.export.onnx_graph import Graph
from kernelpursuit.export.onnx_model import OPSET, build, labels_of
from kernelpursuit.export.writing import names_of


def register_skl2onnx() -> None:
    """Register the converters of our estimators with skl2onnx; once in a process is enough.

    After it, `skl2onnx.to_onnx(pipeline, X)` and `convert_sklearn` take pipelines that end in one of them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.export import register_skl2onnx
    >>> import skl2onnx
    >>> X, y = load_diabetes(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), KernelPursuitRegressor(gamma="scale", max_atoms=20)).fit(X, y)
    >>> register_skl2onnx()
    >>> onnx_model = skl2onnx.to_onnx(pipeline, X[:1])
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError("Pipelines need skl2onnx: pip install 'kernelpursuit[onnx]'.") from None
    options = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
    update_registered_converter(KernelPursuitRegressor, "KernelPursuitRegressor", _shape_regressor, _convert)
    update_registered_converter(
        KernelPursuitClassifier, "KernelPursuitClassifier", _shape_classifier, _convert, options=options
    )


def _shape_regressor(operator: Any) -> None:
    """Predictions have the float type of the rows."""
    kind, n_targets = _float_of(operator), operator.raw_operator.model_.path.n_targets
    operator.outputs[0].type = kind([operator.inputs[0].get_first_dimension(), n_targets])


def _shape_classifier(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    n, classifier = operator.inputs[0].get_first_dimension(), operator.raw_operator
    are_words = labels_of(_described(classifier)).dtype == object
    operator.outputs[0].type = (StringTensorType if are_words else Int64TensorType)([n])
    operator.outputs[1].type = _float_of(operator)([n, len(classifier.classes_)])


def _float_of(operator: Any) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return DoubleTensorType if isinstance(operator.inputs[0].type, DoubleTensorType) else FloatTensorType


def _described(estimator: Any) -> Any:
    return describe(estimator.model_, names_of(estimator))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of one estimator to a graph of skl2onnx."""
    from onnx import TensorProto
    from skl2onnx.common.data_types import DoubleTensorType

    is_double = isinstance(operator.inputs[0].type, DoubleTensorType)
    graph = Graph(prefix=scope.get_unique_variable_name("kp"))
    X = graph.op("Cast", operator.inputs[0].full_name, to=TensorProto.DOUBLE)
    outputs = build(_described(operator.raw_operator), graph, X)
    for place, one in zip(operator.outputs, outputs.values()):
        is_label = one == outputs.get("label")
        kind = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
        graph.op("Identity", one) if is_label else graph.op("Cast", one, to=kind)
        graph.call_last(place.full_name)
    kinds = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "O": TensorProto.STRING}
    for word, array in graph.constants.items():
        values = np.ravel(array).tolist()
        values = [one.encode() for one in values] if array.dtype == object else values
        container.add_initializer(word, kinds[array.dtype.kind], list(array.shape), values)
    for number, node in enumerate(graph.nodes):
        name = f"{graph.prefix}_n{number}"
        container.add_node(node.kind, list(node.inputs), [node.output], op_version=OPSET, name=name, **node.attributes)
