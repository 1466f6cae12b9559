"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "7215decf2ddd1c58905f03edd57dfaba13931d24fd2cf36c0b1b0e4ce2b6707f"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
