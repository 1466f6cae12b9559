"""Fail when proto/ breaks what an earlier commit promised (buf breaking, WIRE_JSON), without any network.

Compares with the newest release tag, else with origin/main, else with HEAD; ``--against REF`` names another commit.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

from gen_protos import GOOGLEAPIS, ROOT

PLACES = ("third_party/googleapis", ".cache/googleapis")  # where buf.yaml names googleapis: today, and before ADR 0137
BUF = Path(sys.executable).with_name("buf")


def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in the repository and return what it said."""
    return subprocess.run(
        ["git", *arguments],  # noqa: S607 - the git on PATH is meant
        cwd=ROOT,
        capture_output=True,
        check=False,
    )


def baseline() -> str | None:
    """Return the commit to compare with, or ``None`` outside a git checkout with commits."""
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v*")
    if tag.returncode == 0:
        return tag.stdout.decode().strip()
    for reference in ("origin/main", "HEAD"):
        if git("rev-parse", "--verify", "--quiet", reference).returncode == 0:
            return reference
    return None


def compare(reference: str) -> int:
    """Lay out the reference's protos and let buf compare; return buf's exit status."""
    archive = git("archive", "--format=zip", reference, "--", "proto", "buf.yaml")
    if archive.returncode != 0:
        print(f"{reference} holds no proto/: nothing to compare with")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(BytesIO(archive.stdout)) as files:
            files.extractall(folder)
        for place in PLACES:
            shutil.copytree(GOOGLEAPIS, Path(folder) / place)
        return subprocess.run([BUF, "breaking", "--against", folder], cwd=ROOT, check=False).returncode


def main() -> None:
    """Parse the command line and exit with buf's status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", help="the commit to compare with")
    reference = parser.parse_args().against or baseline()
    if reference is None:
        print("no git history: nothing to compare with")
        return
    sys.exit(compare(reference))


if __name__ == "__main__":
    main()
