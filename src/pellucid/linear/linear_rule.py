"""The linear rules of ``inference.decisions.linear_rule``, shared with the kernel machines."""

from pellucid.inference.decisions.linear_rule import (
    Explanation,
    LinearClassifier,
    class_weights,
    encode_known,
)

__all__ = ["Explanation", "LinearClassifier", "class_weights", "encode_known"]
