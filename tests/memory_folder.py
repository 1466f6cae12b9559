"""Where tests keep their files: in memory, where there is a file system for it.

A third of a run's time on the wall was waiting for the disk: thousands of stores that sync each write. What a killed
process leaves is the same in memory; what a lost power supply leaves no test can tell. GROUNDTRAIL_TEST_ON_DISK=1
keeps the files on the disk, as ``make test-faults`` does; PYTEST_DEBUG_TEMPROOT or ``--basetemp`` names a folder.
"""

import os
import shutil
from pathlib import Path
from typing import Final

VARIABLE: Final = "GROUNDTRAIL_TEST_ON_DISK"
ROOT_VARIABLE: Final = "PYTEST_DEBUG_TEMPROOT"
MEMORY: Final = Path("/dev/shm")
LEAST_BYTES: Final = 4 << 30


def choose(memory: Path = MEMORY) -> bool:
    """Have pytest keep its folders in memory if nobody chose another place and it has room; say whether it does."""
    if os.environ.get(VARIABLE) == "1" or ROOT_VARIABLE in os.environ:
        return False
    try:
        has_room = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= LEAST_BYTES
    except OSError:
        return False
    if has_room:
        os.environ[ROOT_VARIABLE] = str(memory)
    return has_room
