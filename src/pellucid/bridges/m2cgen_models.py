"""m2cgen: models as source code of other languages, by the names of their classes."""

from types import ModuleType

NAMES = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ElasticNet",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Ridge",
)


def tell(assemblers: ModuleType) -> None:
    """Our class of a name is read as scikit-learn's: its attributes are the same."""
    known = assemblers.SUPPORTED_MODELS
    for name in NAMES:
        if f"sklearn_{name}" in known:
            known.setdefault(f"pellucid_{name}", known[f"sklearn_{name}"])
