"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "732e44438238be441816e5b5a469f04b211d532b0a2b31d2defeb34f78231ebf"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
