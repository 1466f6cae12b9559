"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "8f6e5515264319c70b6f45b35deb62cab32e809f958f6834d2b3a9a2766bbca7"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
