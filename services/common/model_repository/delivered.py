"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "719f655ed213633a41a9e4a4284e446ad9b6cecfef8a118511b582ac2e6d327e"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
