"""Fitted models as ONNX graphs. Start with ``export.py``; one file per kind of model."""
