"""The hash that ties a DPE report to its window (ADR 0004; SPEC-004 §9.1, SPEC-005 §15)."""

from collections.abc import Mapping
from typing import Any, Final

from services.common.encoding import canonical_json, sha256_hex

UNHASHED_REPORT_FIELDS: Final = frozenset({"hmac", "chain_integrity", "report_hash", "timings"})
"""Top-level fields of the report's JSON form that the hash leaves out: what dag fills in later, and durations."""


def report_hash(report: Mapping[str, Any]) -> str:
    """Return 64 hex digits: SHA-256 over the JCS bytes of the report without ``UNHASHED_REPORT_FIELDS``.

    Args:
        report: the protobuf JSON mapping of ``crp.dpe.v1.DpeReport`` with proto field names and every field without
            presence printed (``services.common.rpc.canonical.message_json``).
    """
    return sha256_hex(
        canonical_json({key: value for key, value in report.items() if key not in UNHASHED_REPORT_FIELDS})
    )


def kept_report(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the form of a report that is hashed and stored: without the words of facts, which answers alone carry.

    They stand in ``quote`` of the evidence and of the omissions (ADR 0097).

    Args:
        report: the protobuf JSON mapping of ``crp.dpe.v1.DpeReport``, as for ``report_hash``.
    """
    cut = {"claims": _unquoted_claim, "omissions": _unquoted}
    return {name: [cut[name](item) for item in value] if name in cut else value for name, value in report.items()}


def _unquoted_claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    parts = {
        name: {**part, "evidence": [_unquoted(item) for item in part["evidence"]]}
        for name in ("attribution", "judgement")
        if (part := claim.get(name)) and "evidence" in part
    }
    return {**claim, **parts}


def _unquoted(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "quote"}
