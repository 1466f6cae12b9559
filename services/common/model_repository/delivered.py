"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "1b119d2cea1486f64cf2138cdd1aca6522dcd65325a0a9baeda3090b1282e238"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
