"""Where the byte code of a run lies when nothing may be written beside the sources.

PYTHONDONTWRITEBYTECODE keeps ``__pycache__`` out of a checkout. It also has every process that a test starts compile
all that it imports once more, the libraries included, which installers like uv do not compile: four seconds of
processor for a server. So the variable's wish is met in another way: byte code goes below ``.cache``, for this process
and all that it starts. Without the variable everything stays as Python does it.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parents[1] / ".cache" / "bytecode"


def keep() -> None:
    """Have byte code kept, outside the tree, when the environment asks for none in it."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        sys.pycache_prefix = sys.pycache_prefix or str(FOLDER)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
        sys.dont_write_bytecode = False


def drop_temporary() -> None:
    """Drop the byte code of what lay in folders of tests: the next run names other folders."""
    if sys.pycache_prefix == str(FOLDER):
        below = FOLDER / Path(tempfile.gettempdir()).resolve().relative_to("/")
        shutil.rmtree(below, ignore_errors=True)
