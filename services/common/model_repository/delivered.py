"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "cf21bab47d5d18609151ccc578230b29406695a64f7044ae7694f68020de1b56"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
