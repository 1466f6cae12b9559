"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "1936e190dd9ff6b0b142e1be8b823f392b01f546e868788e6f82ab6fbb3cd048"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
