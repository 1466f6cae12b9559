"""Safety policies: reading directives, the stricter of two, a child against its parent (CRP-SPEC-006 facts).

``directive *( ";" directive )``. An unknown directive or value is an error, never ignored. A policy has one canonical
text, which is what its hash is over and what ``CRP-Safety-Policy-Applied`` shows. What a policy finds in a report is
decided in ``directives.py``; what follows from that, in ``outcome.py``.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

from services.common.taxonomy import QualityTier, RepetitionLevel, RiskLevel
from services.gateway.domain.vocabulary import OversightMode

SOURCES: Final = ("context", "parametric", "ckf", "cross-session")
"""What ``default-src`` may list; ``'none'`` stands for the empty list."""

DEFAULT_SOURCES: Final = frozenset({"context", "parametric"})
MAX_NAME_CHARS: Final = 64
"""So much of a name that stands for no directive is told."""
UPGRADES: Final = ("reflexive", "hierarchical", "batch")

PROFILES: Final = {
    "medical": "default-src context; halt-on HIGH; require-grounding 0.90; require-entailment 0.85; block-ungrounded; "
    "block-pii; block-fabrication; oversight human-review; require-flow 0.70; require-completeness 0.90; "
    "incomplete-risk HIGH",
    "financial": "default-src context parametric; halt-on CRITICAL; warn-on HIGH; require-grounding 0.80; "
    "block-fabrication; upgrade-on-risk reflexive; require-completeness 0.80; incomplete-risk HIGH",
    "developer": "default-src context parametric; warn-on CRITICAL; require-quality S A B; oversight auto",
    "public-facing": "default-src context parametric; halt-on CRITICAL; warn-on HIGH; block-pii; require-flow 0.60; "
    "max-repetition MINOR; require-completeness 0.70",
}
STRICT_MODE: Final = "halt-on CRITICAL; warn-on HIGH; block-ungrounded; require-grounding 0.75; incomplete-risk HIGH"


class PolicyError(ValueError):
    """A policy that cannot be read.

    Attributes:
        directive: the name as given; at most 64 characters.
        unknown: the directive does not exist; otherwise its value is wrong.
        known: the directives that exist.
    """

    def __init__(self, directive: str, message: str, *, unknown: bool = False) -> None:
        super().__init__(message)
        self.directive = directive[:MAX_NAME_CHARS]
        self.unknown = unknown
        self.known = KNOWN_DIRECTIVES


@dataclass(frozen=True, slots=True)
class SafetyPolicy:
    """A policy; ``None``, ``False`` and empty mean that the directive is not given."""

    default_src: frozenset[str] | None = None
    halt_on: RiskLevel | None = None
    warn_on: RiskLevel | None = None
    warn_on_contradiction: bool = False
    warn_on_undecided: bool = False
    incomplete_risk: RiskLevel | None = None
    require_grounding: float | None = None
    require_entailment: float | None = None
    require_quality: frozenset[QualityTier] | None = None
    require_oversight: OversightMode | None = None
    require_flow: float | None = None
    require_completeness: float | None = None
    require_relevance: float | None = None
    block_ungrounded: bool = False
    block_parametric: bool = False
    block_pii: bool = False
    block_fabrication: bool = False
    block_contradiction: bool = False
    block_distortion: bool = False
    block_undecided: bool = False
    block_repetition: bool = False
    max_repetition: RepetitionLevel | None = None
    upgrade_on_risk: str | None = None
    oversight: OversightMode | None = None
    report_uri: str | None = None
    report_to: str | None = None

    @property
    def canonical(self) -> str:
        """Return the policy as text in the order of this class; empty when no directive is given."""
        return "; ".join(text for field in fields(self) if (text := _print(field.name, getattr(self, field.name))))

    @property
    def withholds(self) -> bool:
        """Say whether a directive is given by which an answer can be withheld, not only warned of or reported."""
        return any(getattr(self, one.name) not in (None, False) for one in fields(self) if one.name not in _TELLING)

    @property
    def is_of_the_whole(self) -> bool:
        """Say whether a directive is about the whole answer, and says nothing of a beginning."""
        whole = (self.require_completeness, self.require_flow, self.require_quality, self.require_relevance)
        return any(one is not None for one in whole)

    @property
    def effective_oversight(self) -> OversightMode:
        """Return the stricter of ``oversight`` and ``require-oversight``; AUTO when neither is given."""
        given = [mode for mode in (self.oversight, self.require_oversight) if mode is not None]
        return max(given, key=lambda mode: mode.rank, default=OversightMode.AUTO)


_TELLING: Final = frozenset(
    {
        "warn_on",
        "warn_on_contradiction",
        "warn_on_undecided",
        "incomplete_risk",
        "upgrade_on_risk",
        "report_uri",
        "report_to",
    }
)
"""Directives by which nothing is withheld."""


def policy_hash(applied: str, *, continues: bool = False) -> str:
    """Return 64 hex digits over the text of the policy in force.

    For an empty policy empty, which keeps the session's; a window that continues one says by a hash that it has none.
    """
    return hashlib.sha256(applied.encode()).hexdigest() if applied or continues else ""


def parse_policy(text: str) -> SafetyPolicy:
    """Read a policy; the stricter of two directives holds, profiles included.

    Raises:
        PolicyError: an unknown directive, or a value that the directive does not take.
    """
    policy = SafetyPolicy()
    for part in text.split(";"):
        words = part.split()
        if words:
            policy = stricter(policy, _read(words[0], words[1:]))
    return policy


def _read(word: str, values: list[str]) -> SafetyPolicy:
    name, separator, profile = word.lower().partition("=")
    if name == "profile":
        chosen = profile if separator else " ".join(values)
        if chosen not in PROFILES or (separator and values):
            raise PolicyError("profile", f"profile must be one of {', '.join(PROFILES)}")
        return parse_policy(PROFILES[chosen])
    attribute = name.replace("-", "_")
    reader = _READERS.get(attribute) if "_" not in name else None
    if reader is None or separator:
        raise PolicyError(word, f"{word[:MAX_NAME_CHARS]!r} is no directive", unknown=True)
    value: dict[str, Any] = {attribute: reader(name, values)}
    return SafetyPolicy(**value)


def stricter(first: SafetyPolicy, second: SafetyPolicy) -> SafetyPolicy:
    """Return the policy that holds, on each directive, the more restrictive of the two (CRP-SPEC-006)."""
    values = {}
    for field in fields(SafetyPolicy):
        mine, other = getattr(first, field.name), getattr(second, field.name)
        absent = (None, False)
        if mine in absent or other in absent:
            values[field.name] = other if mine in absent else mine
        else:
            values[field.name] = _STRICTER.get(field.name, _first)(mine, other)
    return SafetyPolicy(**values)


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The first directive on which a child is weaker than its parent."""

    directive: str
    parent_value: str
    child_value: str


def find_relaxation(parent: SafetyPolicy, child: SafetyPolicy) -> Relaxation | None:
    """Return where ``child`` is weaker than ``parent``; a directive that the child does not give is inherited."""
    joint = stricter(parent, child)
    for field in fields(SafetyPolicy):
        given, meant, floor = (getattr(policy, field.name) for policy in (child, joint, parent))
        if given not in (None, False) and floor not in (None, False) and given != meant:
            name = field.name.replace("_", "-")
            return Relaxation(name, _print(field.name, floor), _print(field.name, given))
    return None


ValueT = TypeVar("ValueT")


def _one(name: str, values: list[str], allowed: dict[str, ValueT]) -> ValueT:
    if len(values) != 1 or values[0] not in allowed:
        raise PolicyError(name, f"{name} takes one of {', '.join(allowed)}")
    return allowed[values[0]]


def _sources(name: str, values: list[str]) -> frozenset[str]:
    if values == ["'none'"]:
        return frozenset()
    if not values or any(value not in SOURCES for value in values):
        raise PolicyError(name, f"{name} takes 'none' or any of {', '.join(SOURCES)}")
    return frozenset(values)


def _risk(name: str, values: list[str]) -> RiskLevel:
    return _one(name, values, {level.value: level for level in RiskLevel})


def _repetition(name: str, values: list[str]) -> RepetitionLevel:
    return _one(name, values, {level.value: level for level in RepetitionLevel})


def _oversight(name: str, values: list[str]) -> OversightMode:
    return _one(name, values, {mode.value: mode for mode in OversightMode})


def _upgrade(name: str, values: list[str]) -> str:
    return _one(name, values, {word: word for word in UPGRADES})


def _tiers(name: str, values: list[str]) -> frozenset[QualityTier]:
    words = [word for value in values for word in value.split(",") if word]
    if not words or any(word not in QualityTier.__members__ for word in words):
        raise PolicyError(name, f"{name} takes any of {', '.join(QualityTier)}")
    return frozenset(QualityTier(word) for word in words)


def _fraction(name: str, values: list[str]) -> float:
    try:
        value = float(values[0]) if len(values) == 1 else -1.0
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise PolicyError(name, f"{name} takes a fraction from 0.0 to 1.0")
    return value


def _flag(name: str, values: list[str]) -> bool:
    if values:
        raise PolicyError(name, f"{name} takes no value")
    return True


def _text(name: str, values: list[str]) -> str:
    if len(values) != 1 or not values[0].isascii() or not values[0].isprintable():
        raise PolicyError(name, f"{name} takes one value in printable ASCII")
    return values[0]


_READERS: Final[dict[str, Callable[[str, list[str]], object]]] = {
    "default_src": _sources,
    "halt_on": _risk,
    "warn_on": _risk,
    "warn_on_contradiction": _flag,
    "warn_on_undecided": _flag,
    "incomplete_risk": _risk,
    "require_grounding": _fraction,
    "require_entailment": _fraction,
    "require_quality": _tiers,
    "require_oversight": _oversight,
    "require_flow": _fraction,
    "require_completeness": _fraction,
    "require_relevance": _fraction,
    "block_ungrounded": _flag,
    "block_parametric": _flag,
    "block_pii": _flag,
    "block_fabrication": _flag,
    "block_contradiction": _flag,
    "block_distortion": _flag,
    "block_undecided": _flag,
    "block_repetition": _flag,
    "max_repetition": _repetition,
    "upgrade_on_risk": _upgrade,
    "oversight": _oversight,
    "report_uri": _text,
    "report_to": _text,
}
KNOWN_DIRECTIVES: Final = (*(name.replace("_", "-") for name in _READERS), "profile")


def _first(mine: object, _other: object) -> object:
    return mine


def _least_rank(mine: RiskLevel, other: RiskLevel) -> RiskLevel:
    return mine if mine.rank <= other.rank else other


def _most_rank(mine: OversightMode, other: OversightMode) -> OversightMode:
    return mine if mine.rank >= other.rank else other


def _highest_risk(mine: RiskLevel, other: RiskLevel) -> RiskLevel:
    return mine if mine.rank >= other.rank else other


_STRICTER: Final[dict[str, Callable[..., object]]] = {
    "default_src": lambda mine, other: mine & other,
    "halt_on": _least_rank,
    "warn_on": _least_rank,
    "incomplete_risk": _highest_risk,
    "require_grounding": max,
    "require_entailment": max,
    "require_quality": lambda mine, other: mine & other,
    "require_oversight": _most_rank,
    "require_flow": max,
    "require_completeness": max,
    "require_relevance": max,
    "max_repetition": _least_rank,
    "oversight": _most_rank,
}


def _print(attribute: str, value: object) -> str:
    """Return the directive as text; empty when it is not given."""
    name = attribute.replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return name
    if isinstance(value, frozenset):
        order = SOURCES if attribute == "default_src" else tuple(QualityTier)
        return " ".join([name, *(word for word in order if word in value)]) if value else f"{name} 'none'"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
