"""Write the files' sizes and digests into ``model_repository/MANIFEST.json``, or check that they are right.

Run it after a weight, tokenizer or configuration file was changed on purpose, and say in the commit why it was.

    python tools/update_manifest.py [--check] [--root model_repository]
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

_ROLES = {
    "tokenizer.json": "tokenizer",
    "combiner.json": "combiner",
    "config.pbtxt": "config",
    "1/LICENSE": "licence",
    "1/LICENSES_SOURCES": "licence",
}


def describe(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of all files that are read at run time, ordered by path."""
    names = [name for name in ("combiner.json", "config.pbtxt", "tokenizer.json") if (folder / name).is_file()]
    names += [p.relative_to(folder).as_posix() for p in (folder / "1").rglob("*") if p.is_file()]
    return [
        {
            "path": name,
            "role": _ROLES.get(name, "weights"),
            "bytes": (folder / name).stat().st_size,
            "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
        }
        for name in sorted(names)
    ]


def dump(manifest: dict[str, Any]) -> str:
    """Return the file's text."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Update or check; 1 = the manifest is out of date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the manifest is out of date")
    parser.add_argument("--root", type=Path, default=Path("model_repository"))
    options = parser.parse_args()
    path: Path = options.root / "MANIFEST.json"
    before = path.read_text(encoding="utf-8")
    manifest = json.loads(before)
    for model in manifest["models"]:
        model["files"] = describe(options.root / model["name"])
    after = dump(manifest)
    if options.check:
        print("up to date" if after == before else f"{path} is out of date: run tools/update_manifest.py")
        return int(after != before)
    path.write_text(after, encoding="utf-8")
    total = sum(file["bytes"] for model in manifest["models"] for file in model["files"])
    print(f"{path}: {len(manifest['models'])} models, {total:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
