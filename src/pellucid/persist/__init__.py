"""Model files: JSON and plain arrays in a sealed archive, never pickle.

``save`` writes a fitted model, ``load`` brings it back with bit-equal predictions, ``inspect``
says what a file holds without building anything, ``predict_only`` copies a model without what its
training left behind. Loading runs no code that the file names: a class must be on the list of
``allowed``, an array must be numbers or text, and whatever else is found raises
``ModelFileError``. ``to_onnx`` writes a fitted model for programs without Python.
"""

from pellucid.persist.copies import predict_only
from pellucid.persist.format import ModelFileError
from pellucid.persist.onnx.export import to_onnx
from pellucid.persist.reader import inspect, load
from pellucid.persist.writer import save

__all__ = ["ModelFileError", "inspect", "load", "predict_only", "save", "to_onnx"]
