"""TODO src/pellucid/persist/onnx."""
