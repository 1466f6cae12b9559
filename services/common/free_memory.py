"""Giving back what was freed: glibc keeps it, and after a model was loaded that is as much as the model itself.

ONNX Runtime restores an encoder's weights in several steps and frees what each of them started from; of three encoders
236 MB of 701 MB stayed with the process for nothing (ADR 0091).
"""

import ctypes
import sys
from typing import Final

_LIBC: Final = "libc.so.6"


def release_free_memory() -> bool:
    """Give what the process has freed back to the system and say whether there was a way to; some 20 ms, in any thread.

    Only glibc has one; elsewhere nothing happens.
    """
    if sys.platform != "linux":
        return False
    try:
        trim = ctypes.CDLL(_LIBC).malloc_trim
    except (OSError, AttributeError):  # musl, for instance
        return False
    trim(ctypes.c_size_t(0))
    return True
