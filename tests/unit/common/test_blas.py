"""Matrix products and threads, in a fresh process."""

import subprocess
import sys

from services.common.blas import limit_blas_threads
from tests.patience import patient

_SCRIPT = """
import threading, numpy as np
from services.common.blas import limit_blas_threads
from pathlib import Path
print(limit_blas_threads(1))
a = np.ones((2000, 2000), dtype=np.float32)
a @ a
tasks = Path("/proc/self/task")
print(len(list(tasks.iterdir())) if tasks.exists() else 1, float((a @ a)[0, 0]))
"""


def test_products_use_one_thread_and_give_the_same():
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True, timeout=patient(50)
    )
    told, figures = done.stdout.splitlines()
    assert told in {"True", "False"}
    assert float(figures.split()[1]) == 2000.0


def test_a_numpy_without_a_known_library_is_left_as_it_is(monkeypatch, tmp_path):
    (tmp_path / "numpy").mkdir()
    monkeypatch.setattr(sys.modules["numpy"], "__file__", str(tmp_path / "numpy" / "__init__.py"))
    assert limit_blas_threads(1) is False
