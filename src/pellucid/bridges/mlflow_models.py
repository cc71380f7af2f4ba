"""MLflow: ``mlflow.sklearn.log_model`` and ``autolog`` with our models, and nothing to set.

MLflow writes a model with skops, which asks which types are trusted. For a model that is saved
here, the types of ours that it holds are; they are written beside it, so that it can be loaded in a
process that has not imported Pellucid. Types of anybody else are asked for as before.
"""

from functools import wraps
from types import ModuleType
from typing import Any


def tell(flavor: ModuleType) -> None:
    """Wrap the two functions that ask which types and which estimators there are."""
    save, known = flavor.save_model, flavor._gen_estimators_to_patch

    @wraps(save)
    def save_model(sk_model: Any, *args: Any, **options: Any) -> Any:
        if options.get("skops_trusted_types") is None:
            found = own_types(sk_model)
            if found:
                options["skops_trusted_types"] = found
        return save(sk_model, *args, **options)

    @wraps(known)
    def estimators() -> list[type]:
        return [*known(), *own_estimators()]

    flavor.save_model = save_model  # type: ignore[attr-defined]
    flavor._gen_estimators_to_patch = estimators  # type: ignore[attr-defined]


def own_types(model: Any) -> list[str]:
    """The types of ours in a model that skops would ask about."""
    import skops.io

    asked = skops.io.get_untrusted_types(data=skops.io.dumps(model))
    return [name for name in asked if name.startswith("pellucid.")]


def own_estimators() -> list[type]:
    """Every public estimator of ours that predicts."""
    import pellucid

    found = []
    for name, home in pellucid._HOME.items():
        if name[0].isupper() and not home.startswith(("deep", "lab", "plots", "study")):
            value = getattr(pellucid, name)
            if isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "predict"):
                found.append(value)
    return found
