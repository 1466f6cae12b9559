"""spaCy without its command line.

``import spacy`` imports the whole of its commands for the sake of one function: training, downloads, two HTTP clients
and a template engine, 0.7 s of processor and 14 MB in every process that reads texts. They are left out while it is
imported; who imports ``spacy.cli`` afterwards gets it.
"""

import importlib
import sys
from types import ModuleType
from typing import Any, Final

_COMMANDS: Final = "spacy.cli"
_INFO: Final = "spacy.cli.info"


def import_spacy() -> Any:
    """Return the module ``spacy``."""
    if "spacy" in sys.modules:
        return sys.modules["spacy"]
    commands, info = ModuleType(_COMMANDS), ModuleType(_INFO)
    commands.__path__ = []
    info.info = _info  # type: ignore[attr-defined]
    left_out = {name: module for name, module in ((_COMMANDS, commands), (_INFO, info)) if name not in sys.modules}
    sys.modules.update(left_out)
    try:
        return importlib.import_module("spacy")
    finally:
        for name, module in left_out.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _info(*arguments: Any, **options: Any) -> Any:
    """Be ``spacy.info``: import it when it is called."""
    return importlib.import_module(_INFO).info(*arguments, **options)
