"""Findings as SARIF 2.1.0 (OASIS), which code hosts and pipelines show beside the lines."""

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from services.common.injection.rule_set import rule_set

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Final = {"high": "error", "medium": "warning", "low": "note"}


def sarif_document(files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the findings of ``groundtrail scan`` as one run.

    Args:
        files: as ``--json`` lists them.
    """
    found = [(one["path"], item) for one in files for item in one["findings"]]
    known = {rule.rule_id: rule.tells for rule in rule_set().rules}
    named = sorted({item["rule_id"] for _, item in found})
    rules = [{"id": name, "shortDescription": {"text": known.get(name, name)}} for name in named]
    driver = {
        "name": "groundtrail scan",
        "semanticVersion": version("groundtrail"),
        "version": rule_set().fingerprint,
        "rules": rules,
    }
    unread = [
        {"level": "error", "message": {"text": f"{one['path']}: {one['error']}"}} for one in files if one.get("error")
    ]
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(path, item, named.index(item["rule_id"])) for path, item in found],
        "invocations": [{"executionSuccessful": not unread, "toolExecutionNotifications": unread}],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(path: str, item: dict[str, Any], index: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": Path(path).as_posix()}}
    if item["line"]:
        place["region"] = {
            "startLine": item["line"],
            "startColumn": item["column"],
            "endLine": item["end_line"],
            "endColumn": item["end_column"],
            "snippet": {"text": item["excerpt"]},
        }
    location: dict[str, Any] = {"physicalLocation": place}
    if item["place"]:
        location["logicalLocations"] = [{"name": item["place"]}]
    return {
        "ruleId": item["rule_id"],
        "ruleIndex": index,
        "level": _LEVELS[item["level"]],
        "message": {"text": f"{item['tells']}: {item['excerpt']}"},
        "locations": [location],
        "properties": {"weight": item["weight"], "patternClass": item["pattern_class"], "layers": item["layers"]},
    }


def write_sarif(path: Path, document: dict[str, Any]) -> None:
    """Write the document to a file."""
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
