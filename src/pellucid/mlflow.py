"""An MLflow flavour that keeps our model file: no pickle, every value checked at loading.

``mlflow.sklearn.log_model`` takes our models as well; this flavour stores the file of
``pellucid.save`` instead, and `mlflow.pyfunc` can serve it.
"""

import os
from typing import Any

import pellucid
from pellucid.persist import load, save

FLAVOR = "pellucid"
FILE = "model.pellucid"


def save_model(
    model: Any, path: str, mlflow_model: Any = None, signature: Any = None, **options: Any
) -> None:
    """Write a folder that MLflow reads: our model file and the description of both flavours.

    Parameters
    ----------
    model : fitted estimator
    path : str
        A folder that does not exist yet.
    mlflow_model : mlflow.models.Model, optional
        The description to add to; MLflow gives it.
    signature : mlflow.models.ModelSignature, optional
        What goes in and comes out.
    **options
        What else MLflow hands to a flavour; not used.
    """
    from mlflow import pyfunc
    from mlflow.models import Model

    os.makedirs(path)
    save(model, os.path.join(path, FILE))
    described = Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        described.signature = signature
    described.add_flavor(FLAVOR, version=pellucid.__version__, data=FILE)
    pyfunc.add_to_model(described, loader_module="pellucid.mlflow", data=FILE)
    described.save(os.path.join(path, "MLmodel"))


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Keep a model with the run that is active; returns what MLflow knows about it.

    Parameters
    ----------
    model : fitted estimator
    name : str, default="model"
        The name of the logged model.
    **options
        As for ``mlflow.models.Model.log``: ``signature``, ``registered_model_name``, ...
    """
    import sys

    from mlflow.models import Model

    return Model.log(
        artifact_path=None, name=name, flavor=sys.modules[__name__], model=model, **options
    )


def load_model(model_uri: str) -> Any:
    """The model of an address such as ``runs:/RUN/model``, by ``pellucid.load``.

    Parameters
    ----------
    model_uri : str
        Where the model is.
    """
    from mlflow.artifacts import download_artifacts

    return load(os.path.join(download_artifacts(model_uri), FILE))


def _load_pyfunc(path: str) -> Any:
    """What ``mlflow.pyfunc`` asks for."""
    return load(path if os.path.isfile(path) else os.path.join(path, FILE))
