"""Text models over any encoder backend: tokenising, windows, calibration. The backend only runs tensors."""
