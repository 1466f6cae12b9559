"""Reading the versioned gazetteer that ships with the package (ADR 0016)."""

import json
from importlib import resources
from typing import Final

from services.dpe.domain.names import Gazetteer

_SECTIONS: Final = ("countries", "months", "currencies", "units", "standards_bodies")


def load_gazetteer() -> Gazetteer:
    """Return the gazetteer of ``services/dpe/data/gazetteer.json``; read once, at composition."""
    document = json.loads(resources.files("services.dpe").joinpath("data/gazetteer.json").read_text(encoding="utf-8"))
    return Gazetteer.of(document["version"], (name for section in _SECTIONS for name in document[section]))
