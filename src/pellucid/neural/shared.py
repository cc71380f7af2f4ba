"""Names of ``core`` that users of networks look for here."""

from pellucid.core.loops.early_stopping import EarlyStopping

__all__ = ["EarlyStopping"]
