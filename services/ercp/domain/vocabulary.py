"""The document's own words and numbers (ERCP 1.0 §1, §3.1, §4, §7)."""

from enum import StrEnum, unique
from typing import Final

PROTO_VERSION: Final = "ercp-1.0"
"""§10."""
VERIFY_THRESHOLD: Final = 0.75
"""§3.1: constraints from here on are added by themselves."""
CANDIDATE_THRESHOLD: Final = 0.60
"""§3.1: constraints from here on are kept as candidates."""
SIMILARITY_THRESHOLD: Final = 0.95
"""§3.1: candidates from here on count as the same."""
NLI_THRESHOLD: Final = 0.7
"""§3.3."""
MAX_ITERATIONS: Final = 50
"""§3.1."""
MAX_CONSTRAINTS: Final = 30
"""§3.1."""
MAX_TOKENS: Final = 2_000
"""§3.2."""
MAX_CONSTRAINTS_PER_ERROR: Final = 2
"""§3.4."""


@unique
class Grounds(StrEnum):
    """What every statement of a candidate needs for a run to converge (ADR 0185)."""

    GIVEN = "given"
    """A fact bears it out."""
    CONFIRMED = "confirmed"
    """Or the answerer, asked for its ground, wrote it again."""
    OFF = "off"
    """Nothing: it is enough that nothing was found against it."""


@unique
class RunStatus(StrEnum):
    """How a run ended (§3.1)."""

    CONVERGED = "converged"
    INFEASIBLE = "infeasible"
    PARTIAL = "partial"
    FAILED = "failed"


@unique
class StatusReason(StrEnum):
    """Why a run ended as it did; FAILED runs carry the reason of their step's error instead."""

    STABLE = "STABLE"
    CORE_IMMUTABLE = "CORE_IMMUTABLE"
    """Constraints clash and none of them may be relaxed."""
    CORE_NOT_RESOLVED = "CORE_NOT_RESOLVED"
    """Constraints clashed, one was relaxed, and the candidates still do not hold."""
    NO_PROGRESS = "NO_PROGRESS"
    """The same candidate under the same constraints came again, and no mutation is left."""
    MAX_ITERATIONS = "MAX_ITERATIONS"
    MAX_CONSTRAINTS = "MAX_CONSTRAINTS"
    MAX_DURATION = "MAX_DURATION"
    UNDECIDED = "UNDECIDED"
    """Stable and without errors, but nobody knows whether an immutable constraint is kept (ADR 0115)."""
    NOT_GROUNDED = "NOT_GROUNDED"
    """Stable and without errors, but nothing bears out all that it says (ADR 0185)."""


@unique
class Standing(StrEnum):
    """How a draft stands to a constraint (ADR 0115)."""

    KEPT = "kept"
    BROKEN = "broken"
    UNDECIDED = "undecided"


@unique
class Undecided(StrEnum):
    """Why nobody knows how a draft stands to a constraint (ADR 0115)."""

    NOT_STATED = "NOT_STATED"
    OTHER_CONDITION = "OTHER_CONDITION"
    LEFT_OPEN = "LEFT_OPEN"
    AT_ODDS = "AT_ODDS"
    TOO_LONG = "TOO_LONG"
    UNREADABLE = "UNREADABLE"
    NO_DRAFT = "NO_DRAFT"
    NOT_UNDERSTOOD = "NOT_UNDERSTOOD"
    """No rule understands the words (ADR 0117)."""
    SUSPECTED = "SUSPECTED"
    """The entailment model takes it for broken (ADR 0117)."""


@unique
class ConstraintType(StrEnum):
    """§4.1."""

    PREDICATE = "predicate"
    STYLE = "style"
    FACTUAL = "factual"
    TEMPORAL = "temporal"
    CUSTOM = "custom"


@unique
class Priority(StrEnum):
    """§4.1."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def weight(self) -> int:
        """3 for high, 2 for medium, 1 for low: what is kept before what."""
        return {"high": 3, "medium": 2, "low": 1}[self.value]


@unique
class ErrorType(StrEnum):
    """§4.2."""

    CONTRADICTION = "contradiction"
    FACTUAL_INCORRECT = "factual_incorrect"
    MISSING_JUSTIFICATION = "missing_justification"
    AMBIGUITY = "ambiguity"
    SYNTAX_ERROR = "syntax_error"


@unique
class Detector(StrEnum):
    """What finds errors (§7); CALLER brings constraints."""

    NLI = "nli"
    RULE = "rule"
    FACT_CHECK = "fact_check"
    SOLVER = "solver"
    HEADS = "heads"
    CALLER = "caller"


@unique
class Strategy(StrEnum):
    """§3.6."""

    RELAX = "relax"
    REFRAME = "reframe"
    DECOMPOSE = "decompose"


@unique
class Operator(StrEnum):
    """§4.3."""

    GENERATE = "generate"
    VERIFY = "verify"
    EXTRACT = "extract"
    STABILIZE = "stabilize"
    MUTATE = "mutate"
