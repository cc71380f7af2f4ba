"""Our models in the tools around scikit-learn that keep lists of what they know.

Each file tells one tool about our classes: ``m2cgen_models``, ``onnx_converters`` (skl2onnx),
``mlflow_models``, ``eli5_models``. Nothing is imported before the tool is: ``install`` leaves a
note for when it comes. Read ``m2cgen_models`` first. Tools that look at what a class is find their
answer in ``core.runtime.stand_ins``.
"""

from importlib import import_module
from types import ModuleType

from pellucid.core.runtime.stand_ins import when_imported

TOOLS = {
    "eli5.sklearn": "eli5_models",
    "m2cgen.assemblers": "m2cgen_models",
    "mlflow.sklearn": "mlflow_models",
    "skl2onnx": "onnx_converters",
}


def install() -> None:
    """Have every tool told about our classes as soon as it is imported."""
    for tool, home in TOOLS.items():

        def tell(module: ModuleType, home: str = home) -> None:
            import_module(f"pellucid.bridges.{home}").tell(module)

        when_imported(tool, tell)
