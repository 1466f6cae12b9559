"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "a9223e784d72aa2d771fc3c64dd48bb8be00761f40243498328a4f563e30a891"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
