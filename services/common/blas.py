"""How many threads NumPy's matrix products use.

OpenBLAS takes every core for a product of a few hundred rows, and its threads wait for each other by spinning: with
several requests at once, each of which does such products, the cores are busy waiting. A service divides its work by
requests, so one thread a product is right for it. It also makes a product's last bits the same in every process of a
deployment, whatever services share it: reports are compared byte for byte.
"""

import ctypes
import logging
import os
import sys
from pathlib import Path
from typing import Final

_LOG: Final = logging.getLogger(__name__)
_SETTERS: Final = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def limit_blas_threads(threads: int) -> bool:
    """Let this process's matrix products use so many threads, and say whether that could be set.

    NumPy's own wheels bring an OpenBLAS that can be told while it runs. Of another library OPENBLAS_NUM_THREADS,
    MKL_NUM_THREADS or the like has to be set before the process starts. A process that has not loaded NumPy yet may
    never need it: there its libraries are told by the environment, in case they come.
    """
    if "numpy" not in sys.modules:
        os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
        return True
    package = Path(str(sys.modules["numpy"].__file__)).parent
    for folder in (package.with_name("numpy.libs"), package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))  # loaded already: this gives the same one
            for name in _SETTERS:
                if hasattr(library, name):
                    getattr(library, name)(ctypes.c_int(threads))
                    return True
    _LOG.info("matrix products keep their number of threads: no OpenBLAS of NumPy's own was found")
    return False
