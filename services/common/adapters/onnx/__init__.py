"""Models in the process, computed by ONNX Runtime."""
