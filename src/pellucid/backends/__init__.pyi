"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.backends.current import use as use
from pellucid.backends.dask_backend import Dask as Dask
from pellucid.backends.joblib_backend import Joblib as Joblib
from pellucid.backends.ray_backend import Ray as Ray
from pellucid.backends.serial import Serial as Serial
from pellucid.backends.spark_backend import Spark as Spark
from pellucid.backends.torch_backend import Torch as Torch

__all__: list[str]
_HOME: dict[str, str]
