"""eli5: weights and predictions explained, for the classes that are no virtual subclasses."""

from importlib import import_module
from types import ModuleType

NAMES = ("LogisticRegression",)  # scikit-learn's class takes no others into its family


def tell(eli5_sklearn: ModuleType) -> None:
    """Our class of a name is explained as scikit-learn's."""
    import pellucid

    weights = import_module("eli5.sklearn.explain_weights")
    prediction = import_module("eli5.sklearn.explain_prediction")
    pairs = (
        (weights.register, weights.explain_linear_classifier_weights),
        (prediction.register, prediction.explain_prediction_linear_classifier),
    )
    for name in NAMES:
        for register, explain in pairs:
            register(getattr(pellucid, name))(explain)
