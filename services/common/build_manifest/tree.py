"""The files that count as installed code, and their digests.

Counted is every file below the packages ``services``, ``crp`` and ``ercp``, whatever its suffix: a shared library
beside a module would be imported in its place. Left out are byte-code caches (``__pycache__``), which an installer
writes anew, and ``services/_resources``: its weights are pinned by MANIFEST.json, and it lies elsewhere in a checkout,
where the same code must give the same digest.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

PACKAGES: Final = ("services", "crp", "ercp")
_CACHE: Final = "__pycache__"
_RESOURCES: Final = "services/_resources"


def is_code(path: str) -> bool:
    """Say whether a file counts as code; ``path`` is below the packages' parent, with forward slashes."""
    top, slash, _ = path.partition("/")
    return bool(slash) and top in PACKAGES and f"/{_CACHE}/" not in path and not path.startswith(f"{_RESOURCES}/")


def installed_roots() -> dict[str, Path]:
    """Return where each package is installed, in a wheel and in a checkout alike, without importing it.

    Raises:
        FileNotFoundError: a package is not installed.
    """
    roots: dict[str, Path] = {}
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        places = list(spec.submodule_search_locations or ()) if spec is not None else []
        if not places:
            msg = f"the package {package} is not installed"
            raise FileNotFoundError(msg)
        roots[package] = Path(places[0])
    return roots


def tree_digests(roots: Mapping[str, Path]) -> dict[str, str]:
    """Return SHA-256 by path of every file of code, e.g. ``services/dpe/app.py``, in the order of the paths.

    Raises:
        OSError: a file cannot be read.
    """
    digests = {
        path: _sha256(place)
        for package, root in roots.items()
        for path, place in _files(package, root)
        if is_code(path)
    }
    return dict(sorted(digests.items()))


def _sha256(place: str) -> str:
    with open(place, "rb", buffering=0) as stream:  # noqa: PTH123 - hundreds of files at start: a Path each costs more
        return hashlib.sha256(stream.read()).hexdigest()


def _files(package: str, root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path of every file below the package, and where it lies; links are followed, as imports do."""
    top = str(root)
    for folder, below, names in os.walk(top, followlinks=True):
        below[:] = [name for name in below if name != _CACHE]
        prefix = package + folder.removeprefix(top).replace(os.sep, "/")
        for name in names:
            yield f"{prefix}/{name}", os.path.join(folder, name)  # noqa: PTH118 - as above
