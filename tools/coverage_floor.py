"""Fail when the branch coverage of the pure code (services/*/domain, services/common/reading) is under its floor.

python tools/coverage_floor.py .coverage.json
"""

import json
import sys
from pathlib import Path
from typing import Any

FLOOR_PERCENT = 97.0
SHARED = "services/common/reading/"
"""What domains share of the same kind."""


def domain_coverage(report: dict[str, Any]) -> tuple[float, list[tuple[str, float]]]:
    """Return the percentage of lines and branches covered in all domain modules, and each module's."""
    covered = total = 0
    modules = []
    for name, data in sorted(report["files"].items()):
        if not _is_pure(name.replace("\\", "/")):
            continue
        summary = data["summary"]
        module_covered = summary["covered_lines"] + summary["covered_branches"]
        module_total = summary["num_statements"] + summary["num_branches"]
        covered += module_covered
        total += module_total
        modules.append((name, 100.0 * module_covered / module_total if module_total else 100.0))
    folders = {name.replace("\\", "/").partition("/domain/")[0] for name, _ in modules}
    missing = sorted({path.parent.as_posix() for path in Path("services").glob("*/domain")} - folders)
    if missing:
        sys.exit(f"no domain module of {', '.join(missing)} in the report: was it made by `make test`?")
    return 100.0 * covered / total, modules


def _is_pure(name: str) -> bool:
    return "/domain/" in name or SHARED in name


def main() -> None:
    """Read the report and compare with the floor."""
    percent, modules = domain_coverage(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    print(f"domain coverage (lines and branches): {percent:.1f}% (floor {FLOOR_PERCENT}%)")
    if percent < FLOOR_PERCENT:
        for name, value in sorted(modules, key=lambda row: row[1])[:10]:
            print(f"  {value:5.1f}%  {name}")
        sys.exit(1)


if __name__ == "__main__":
    main()
