"""Names of ``core`` that users of deep models look for here."""

from pellucid.core.loops.early_stopping import EarlyStopping

__all__ = ["EarlyStopping"]
