"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "573d2cd21f49d5d84188934ec789159592a559e3bd9a31b17930055355ff7a53"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
