"""Which MANIFEST.json this code was released with; ``tools/update_manifest.py`` writes this file."""

from typing import Final

MANIFEST_SHA256: Final = "969095c7dfd0b81bffa88d4664153ec2b0963588a52e1b9dd89f6c35f36e1f70"
"""SHA-256 of the delivered ``model_repository/MANIFEST.json``, which pins every other file of it."""
