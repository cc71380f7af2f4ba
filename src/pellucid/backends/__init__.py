"""Where the blocks of a fit are summarised: here, in processes, or on a cluster.

A backend is only ``map(function, items) -> iterator in order``; merging follows a fixed tree, so
every backend gives the same bits. ``serial.py`` is the shortest one.

>>> from pellucid.backends import Serial
>>> list(Serial().map(abs, [-2, 3]))
[2, 3]
"""

from pellucid._lazy import lazy_names

_HOME = {"Dask": "dask_backend", "Joblib": "joblib_backend", "Serial": "serial"}
_HOME |= {"Ray": "ray_backend", "Spark": "spark_backend"}
_HOME |= {"Torch": "torch_backend", "use": "current"}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
