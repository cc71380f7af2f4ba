"""skl2onnx: the graph of our own exporter, put into the graph that skl2onnx builds.

Our trees need the operators of ai.onnx.ml 5, which skl2onnx does not write: decision trees and
forests take its own converters for float32 rows, which read the attributes that ours have too.
Boosting it cannot write; ``pellucid.persist.to_onnx`` can, and all of the others to the bit.
"""

from types import ModuleType
from typing import Any

from pellucid.persist.allowed import find_class
from pellucid.persist.onnx.export import PREDICTORS, onnx_bytes
from pellucid.persist.onnx.transformers import TRANSFORMERS
from pellucid.persist.onnx.trees import PREDICTORS as TREES


def tell(skl2onnx: ModuleType) -> None:
    """Register a converter for every class of ours that has an exact form."""
    from skl2onnx._supported_operators import sklearn_operator_name_map
    from skl2onnx.common._registration import get_converter, get_shape_calculator

    theirs = {cls.__name__: alias for cls, alias in sklearn_operator_name_map.items()}
    for name in [*PREDICTORS, *TRANSFORMERS]:
        if not name.startswith("pellucid."):
            continue
        cls: Any = find_class(name)
        if "GradientBoosting" in name:
            continue
        options = OPTIONS if hasattr(cls, "predict_proba") else None
        if cls.__name__ in TREES:
            alias = theirs[cls.__name__]
            known = get_shape_calculator(alias), get_converter(alias)
            sklearn_operator_name_map[cls] = alias
        else:
            known = shapes, convert
            skl2onnx.update_registered_converter(
                cls, f"Pellucid{cls.__name__}", *known, overwrite=True, options=options
            )


OPTIONS = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [0, 1]}


def shapes(operator: Any) -> None:
    """What comes out: the columns of a transformer, a number, or a label and probabilities."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    model, given = operator.raw_operator, operator.inputs[0].type
    n = given.shape[0]
    if hasattr(model, "classes_"):
        words = getattr(model.classes_, "dtype", None)
        label = Int64TensorType if words is not None and words.kind in "iub" else StringTensorType
        operator.outputs[0].type = label([n])
        operator.outputs[1].type = type(given)([n, len(model.classes_)])
    elif hasattr(model, "predict"):
        operator.outputs[0].type = type(given)([n, getattr(model, "n_outputs_", 1)])
    else:
        operator.outputs[0].type = type(given)([n, None])


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Our graph with names of its own: float64 inside, the type of the input outside."""
    import onnx

    inner = onnx.load_from_string(onnx_bytes(operator.raw_operator)).graph
    given = operator.inputs[0]
    double, outer = onnx.TensorProto.DOUBLE, element_type(given.type, onnx)
    names = {"X": scope.get_unique_variable_name("double")}
    container.add_node("Cast", given.full_name, names["X"], to=double, name=unique(scope, "Cast"))
    for one in inner.initializer:
        names[one.name] = scope.get_unique_variable_name(one.name)
        copied = onnx.TensorProto()
        copied.CopyFrom(one)
        copied.name = names[one.name]
        container.initializers.append(copied)
    for node in inner.node:
        for name in node.output:
            names[name] = scope.get_unique_variable_name(name)
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        container.add_node(
            node.op_type,
            [names.get(name, name) for name in node.input],
            [names[name] for name in node.output],
            op_domain=node.domain,
            op_version=5 if node.domain else 18,
            name=unique(scope, node.op_type),
            **attributes,
        )
    for wanted, found in zip(operator.outputs, inner.output, strict=False):
        last = names[found.name]
        kind = found.type.tensor_type.elem_type
        if len(found.type.tensor_type.shape.dim) == 1 and kind == double:  # numbers as a column
            column = scope.get_unique_variable_name("column")
            shape = scope.get_unique_variable_name("shape")
            container.add_initializer(shape, onnx.TensorProto.INT64, [2], [-1, 1])
            container.add_node("Reshape", [last, shape], column, name=unique(scope, "Reshape"))
            last = column
        to: Any = outer if kind == double else kind
        if kind == onnx.TensorProto.BOOL:
            to = onnx.TensorProto.INT64
        container.add_node("Cast", last, wanted.full_name, to=to, name=unique(scope, "Cast"))


def unique(scope: Any, kind: str) -> str:
    return scope.get_unique_operator_name(kind)


def element_type(kind: Any, onnx: Any) -> int:
    types = onnx.TensorProto
    return types.DOUBLE if "Double" in type(kind).__name__ else types.FLOAT
