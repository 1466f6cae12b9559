"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "19d3bd8e8d29f83e5ca5a1890d106fd1b7acfea8b4cf3c8ae855eeacc495c326"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
