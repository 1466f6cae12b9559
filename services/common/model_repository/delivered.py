"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "258fc69d81ac3a192798f23c10575b7fd23a337993ea339ebbd5c6a74b75e007"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
