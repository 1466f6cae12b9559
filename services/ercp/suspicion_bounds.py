"""Reading the bounds of suspicion that ship with the package (ADR 0117)."""

import json
from importlib import resources

from services.ercp.domain.suspecting import SuspicionBounds


def load_bounds() -> SuspicionBounds:
    """Return the bounds of ``services/ercp/data/suspicion.json``; read once, at composition."""
    document = json.loads(resources.files("services.ercp").joinpath("data/suspicion.json").read_text(encoding="utf-8"))
    return SuspicionBounds.of(document["bounds"])
