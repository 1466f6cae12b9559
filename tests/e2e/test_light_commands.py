"""Commands that need no model stay light: processor time and memory of the finished process, as the kernel counts them.

Byte code is cached (tests/bytecode.py), as in an installed package. What a processor takes is compared to a process
that imports the libraries which every command needs, measured before and after.
"""

import subprocess
import sys

import pytest

from tests.e2e.processes import environment

LIBRARIES = "import asyncio, sqlite3, ssl, cryptography.hazmat.primitives.asymmetric.ed25519, grpc.aio"
MOST_TIMES = 15.0
"""As long as importing the libraries: these commands take up to eleven times as long, ``ask`` seventy times."""
PEAK_MIB = 150.0
MEASURE = """
import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, file=sys.stderr)
"""
"""Run by a small process of its own: a child's peak counts what its parent held when it was started."""
SESSION = "crp_sess_0123456789abcdef"
NOWHERE = "018f6f0e-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run Python with some arguments and return its exit code, processor seconds and peak of memory."""
    folder = tmp_path_factory.mktemp("light")
    env = environment(folder / "data")

    def one(*arguments):
        found = subprocess.run(
            [sys.executable, "-I", "-S", "-c", MEASURE, sys.executable, *arguments],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        status, cpu_s, peak_mib = found.stderr.splitlines()[-1].split()
        return int(status), float(cpu_s), float(peak_mib)

    return one


HEAVY = ("numpy", "spacy", "onnxruntime", "regex", "services.common.injection", "z3")
"""What no command that only reads sessions has a use for."""


def test_what_reads_sessions_imports_nothing_heavy():
    code = "import sys, services.cli.app, services.allinone.embedded, services.dag.compose; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in told.stdout.split() if name in HEAVY] == []


def test_what_reads_stored_knowledge_imports_no_reading_of_texts():
    code = "import sys, services.cli.app, services.allinone.embedded, services.envelope.stored_compose"
    code += "; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unread = {*HEAVY, "services.common.reading.values", "services.envelope.compose"} - {"numpy"}  # facts hold vectors
    assert [name for name in told.stdout.split() if name in unread] == []


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--version",), 0),
        (("--help",), 0),
        (("version",), 0),
        (("keys", "list"), 0),
        (("systems", "list"), 0),
        (("sessions",), 0),
        (("sessions", "list", "--status", "OPEN"), 0),
        (("sessions", "expire", "--dry-run"), 0),
        (("sessions", "rules"), 0),
        (("checkpoint",), 0),
        (("verify", SESSION), 4),
        (("show", NOWHERE), 4),
        (("dag", SESSION), 4),
        (("export", SESSION, "export.ndjson"), 4),
        (("erase", SESSION, "--reason", "test", "--yes"), 4),
        (("sources", "list"), 0),
        (("sources", "erase", NOWHERE, "--yes"), 4),
        (("facts", "show", NOWHERE), 4),
        (("facts", "quarantine", NOWHERE), 4),
        (("facts", "restore", NOWHERE), 4),
    ],
    ids=lambda value: value[0] + (f"-{value[1]}" if len(value) > 1 else "") if isinstance(value, tuple) else "",
)
def test_a_command_that_needs_no_model_is_light(run, arguments, code):
    run("-c", LIBRARIES)
    run("-m", "services.cli", *arguments)  # writes the byte code of what no other has imported
    _, before_s, _ = run("-c", LIBRARIES)
    status, cpu_s, peak_mib = run("-m", "services.cli", *arguments)
    _, after_s, _ = run("-c", LIBRARIES)
    assert status == code
    assert peak_mib < PEAK_MIB
    assert cpu_s < MOST_TIMES * max(before_s, after_s)
