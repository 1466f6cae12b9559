"""The worst case of several dispatches' headers: what a batch says of itself as a whole (CRP-SPEC-008; ADR 0153).

Header by header, whatever item it comes from: the value of the item for which it is worst, the first of equals. One
that has no better and worse (ids, digests, tokens, counts of claims) says nothing of several answers and is left out.
Pure. What an item did not compute is no value: a header is absent only where no item has it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from services.common.taxonomy import (
    ChainIntegrity,
    DispatchStrategy,
    QualityTier,
    RepetitionLevel,
    RiskLevel,
)
from services.gateway.domain.headers import Header
from services.gateway.domain.vocabulary import OversightMode

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_Key = Callable[[str], Any]


def _high(value: str) -> float:
    """Order by the first number, the highest worst."""
    found = _NUMBER.match(value)
    return float(found[0]) if found else -1.0


def _low(value: str) -> float:
    return -_high(value)


def _ratio(value: str) -> float:
    """Order ``part/whole`` by its ratio, the lowest worst; of nothing there is nothing."""
    part, _, whole = value.partition("/")
    return -(float(part) / float(whole)) if whole.isdigit() and int(whole) else 0.0


def _by(words: Sequence[str]) -> _Key:
    """Order by the first word of a value, as listed from best to worst; a word that is not listed is worse than all."""
    ranks = {word: rank for rank, word in enumerate(words)}
    return lambda value: ranks.get(re.split(r"[;,\s]", value, maxsplit=1)[0], len(ranks))


def _omitted(value: str) -> tuple[float, ...]:
    return tuple(float(count) for count in _NUMBER.findall(value))


def _completeness(value: str) -> tuple[Any, ...]:
    level, _, rest = value.partition(";")
    found = re.search(r"sub-queries=(\d+/\d+)", rest)
    return _by(("COMPLETE", "MOSTLY_COMPLETE", "PARTIAL", "INCOMPLETE"))(level), _ratio(found[1]) if found else 0.0


def _retry(value: str) -> tuple[int, float]:
    """Order by how much has to happen before a retry helps: a person decides; then the longest wait."""
    return (0, float(value)) if value.isdigit() else (1 if value == "oversight-required" else 2, 0.0)


_ORDER: Final[Mapping[str, _Key]] = {
    "CRP-Context-Quality-Tier": _by(tuple(QualityTier)),
    "CRP-Context-Saturation": _low,
    "CRP-Context-Facts-Used": _ratio,
    "CRP-Context-Tokens-Used": _high,
    "CRP-Safety-Hallucination-Risk": _by(tuple(RiskLevel)),
    "CRP-Safety-Hallucination-Score": _high,
    "CRP-Safety-Attribution": _by(("CONTEXT_GROUNDED", "MIXED", "PARAMETRIC", "UNVERIFIABLE")),
    "CRP-Safety-Grounding-Pct": _low,
    "CRP-Safety-Fabrications": _high,
    "CRP-Safety-Entailment-Score": _low,
    "CRP-Safety-Distortions": _high,
    "CRP-Safety-Contradictions": _high,
    "CRP-Safety-Omissions": _omitted,
    "CRP-Safety-Oversight-Mode": _by(tuple(OversightMode)),
    "CRP-Safety-Retry-After": _retry,
    "CRP-Safety-Budget-Warning": _by(("caution", "low")),
    "CRP-Provenance-Chain-Integrity": _by(
        (
            ChainIntegrity.VALID,
            ChainIntegrity.UNVERIFIED,
            ChainIntegrity.TRUNCATED,
            ChainIntegrity.PARTIAL,
            ChainIntegrity.BROKEN,
        )
    ),
    "CRP-Provenance-Attribution-Score": _low,
    "CRP-Provenance-Fidelity-Score": _low,
    "CRP-Compliance-EU-AI-Act": _by(("MINIMAL", "LIMITED", "UNKNOWN", "HIGH", "UNACCEPTABLE")),
    "CRP-Compliance-NIST-Tier": _by(("TIER-1", "TIER-2", "TIER-3", "TIER-4")),
    "CRP-Compliance-GDPR-PII": _by(("false", "true")),
    "CRP-Compliance-Controls-Met": _ratio,
    "CRP-Agent-Loop-Depth": _high,
    "CRP-Agent-Safety-Budget": _low,
    "CRP-Quality-Repetition": _by(tuple(RepetitionLevel)),
    "CRP-Quality-Completeness": _completeness,
    "CRP-Quality-Flow": _low,
    "CRP-Quality-Score": _low,
}
"""Of each header that has an order, what a value is sorted by, the worst last."""
_JOINED: Final = "CRP-Safety-Policy-Violation"
"""What broke anywhere."""
_SHARED: Final = frozenset({"CRP-Safety-Policy-Applied", "CRP-Compliance-Data-Residency"})
"""Said where every item that says it says the same."""
_STRATEGY: Final = "CRP-Context-Strategy"
_VERSION: Final = "CRP-Context-Protocol-Version"


def worst_case(items: Iterable[Sequence[Header]], version: str) -> tuple[Header, ...]:
    """Return the headers of a batch, in the order of the header table.

    Args:
        items: the headers of each item; none of an item that says nothing.
        version: of the protocol.
    """
    values: dict[str, list[str]] = {}
    for headers in items:
        for header in headers:
            values.setdefault(header.name, []).append(header.value)
    found = {name: _worst(name, said) for name, said in values.items()}
    found |= {_STRATEGY: DispatchStrategy.BATCH.value, _VERSION: version}
    return tuple(Header(name, found[name]) for name in _NAMES if found.get(name))


def _worst(name: str, said: list[str]) -> str:
    if name == _JOINED:
        return ", ".join(dict.fromkeys(directive for value in said for directive in value.split(", ")))
    if name in _SHARED:
        return said[0] if len(set(said)) == 1 else ""
    order = _ORDER.get(name)
    return max(said, key=order) if order else ""


_NAMES: Final = (
    *(name for name in _ORDER if name.startswith("CRP-Context-")),
    _STRATEGY,
    _VERSION,
    *(name for name in (*_ORDER, _JOINED, *sorted(_SHARED)) if not name.startswith("CRP-Context-")),
)
