"""Pipelines over blocks: every step is fitted from the blocks that the steps before it make.

``pipelines`` fits a scikit-learn Pipeline or ColumnTransformer; ``transformed`` holds the blocks in
between, which are transformed where they are read.
"""

from pellucid._lazy import lazy_names

_HOME = {"fit_blocks": "pipelines"}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
