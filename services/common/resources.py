"""Where the files that are delivered with Groundtrail lie: models and the example handbook.

In a wheel they are inside the package (``services/_resources``), in a checkout at its root.
"""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent.parent


def resource_path(name: str) -> Path:
    """Return the folder or file ``name``, e.g. ``model_repository`` or ``examples/handbook``.

    Raises:
        FileNotFoundError: it is neither in the installed package nor in the checkout; the message names both places.
    """
    places = (_PACKAGE / "_resources" / name, _PACKAGE.parent / name)
    for place in places:
        if place.exists():
            return place
    msg = f"{name} was not delivered with this installation: neither {places[0]} nor {places[1]} exists"
    raise FileNotFoundError(msg)
