"""Generate the Python stubs of ``proto/`` into ``gen/`` (committed, never edited), without any network.

python tools/gen_protos.py            write gen/
python tools/gen_protos.py --check    fail when gen/ differs from what proto/ gives
"""

import argparse
import filecmp
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
GEN = ROOT / "gen"
GOOGLEAPIS = ROOT / "third_party" / "googleapis"
"""``google/api`` and ``google/rpc`` as googleapis-common-protos has them: the second module of buf.yaml."""


def generate(out: Path) -> None:
    """Run protoc over every file of ``proto/`` and make each folder a package."""
    files = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    with resources.as_file(resources.files("grpc_tools") / "_proto") as well_known:
        code = protoc.main(
            [
                "protoc",
                f"-I{PROTO}",
                f"-I{GOOGLEAPIS}",
                f"-I{well_known}",
                f"--python_out={out}",
                f"--pyi_out={out}",
                f"--grpc_python_out={out}",
                *files,
            ]
        )
    if code != 0:
        sys.exit(code)
    for path in out.rglob("*_pb2_grpc.py"):
        proto = PROTO / str(path.relative_to(out)).replace("_pb2_grpc.py", ".proto")
        if "\nservice " not in proto.read_text(encoding="utf-8"):
            path.unlink()
    for folder in {path.parent for path in out.rglob("*_pb2.py")}:
        for package in (folder, *folder.parents):
            if package == out:
                break
            (package / "__init__.py").touch()
            (package / "py.typed").touch()


def differences(fresh: Path) -> list[str]:
    """Return the files that differ between ``fresh`` and the committed ``gen/``."""
    names = {str(path.relative_to(base)) for base in (fresh, GEN) for path in base.rglob("*") if path.is_file()}
    names = {name for name in names if "__pycache__" not in name}
    return sorted(
        name
        for name in names
        if not ((fresh / name).is_file() and (GEN / name).is_file())
        or not filecmp.cmp(fresh / name, GEN / name, shallow=False)
    )


def main() -> None:
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        if arguments.check:
            changed = differences(fresh)
            if changed:
                sys.exit("gen/ is not what proto/ gives; run `make generate`:\n  " + "\n  ".join(changed))
            return
        for name in differences(fresh):
            if (fresh / name).is_file():
                (GEN / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(fresh / name, GEN / name)
            else:
                (GEN / name).unlink()


if __name__ == "__main__":
    main()
