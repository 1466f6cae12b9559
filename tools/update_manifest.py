"""Write the files' sizes and digests into ``model_repository/MANIFEST.json``, or check that they are right.

Run it after a weight, tokenizer, configuration or golden file or the manifest itself was changed on purpose, and say in
the commit why it was. The digest of the delivered manifest goes into the code (``model_repository/delivered.py``).

    python tools/update_manifest.py [--check] [--root model_repository]
"""

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DELIVERED = ROOT / "model_repository"
PIN = ROOT / "services" / "common" / "model_repository" / "delivered.py"
_ROLES = {
    "tokenizer.json": "tokenizer",
    "combiner.json": "combiner",
    "config.pbtxt": "config",
    "golden.json": "golden",
    "heads_golden.json": "golden",
    "sentence_heads.json": "heads",
    "1/LICENSE": "licence",
    "1/LICENSES_SOURCES": "licence",
}


def describe(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of all files that are read at run time, and of the golden vectors, ordered by path."""
    beside = tuple(name for name in _ROLES if "/" not in name)
    names = [name for name in beside if (folder / name).is_file()]
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


def pinned(manifest: str) -> str:
    """Return the text of the module that pins the manifest."""
    digest = hashlib.sha256(manifest.encode()).hexdigest()
    return re.sub(r'"[0-9a-f]{64}"', f'"{digest}"', PIN.read_text(encoding="utf-8"))


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
    delivered = options.root.resolve() == DELIVERED
    if options.check:
        stale = after != before or (delivered and PIN.read_text(encoding="utf-8") != pinned(after))
        print(
            f"{path} is out of date, or not the one that is pinned: run tools/update_manifest.py"
            if stale
            else "up to date"
        )
        return int(stale)
    path.write_text(after, encoding="utf-8")
    if delivered:
        PIN.write_text(pinned(after), encoding="utf-8")
    total = sum(file["bytes"] for model in manifest["models"] for file in model["files"])
    print(f"{path}: {len(manifest['models'])} models, {total:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
