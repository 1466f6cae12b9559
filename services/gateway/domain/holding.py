"""What of a streamed answer waits, and until when (CRP-Stream-Safety-Mode; ADR 0132, ADR 0146)."""

from enum import StrEnum, unique

from services.gateway.domain.outcome import PolicyInForce
from services.gateway.domain.policy import SafetyPolicy
from services.gateway.domain.vocabulary import OversightMode

_DECIDED_AFTERWARDS = frozenset({OversightMode.HUMAN_REVIEW, OversightMode.HALT})


@unique
class Hold(StrEnum):
    """What waits; the words of the header.

    SENTENCES: each until it has passed. ALL: everything until the whole has passed. NOTHING: text leaves at once, and
    the stream ends where a check that runs beside it finds what nothing heals.
    """

    SENTENCES = "hold-back"
    ALL = "buffer"
    NOTHING = "pass-through"


def hold_of(wish: Hold | None, force: PolicyInForce, *, strict: bool, rewritten: bool = False) -> Hold:
    """Return what of an answer waits: what is asked for, unless that would take back what the policy decides.

    Args:
        wish: what is asked for; ``None`` = nothing.
        force: the policy; a directive about the whole answer says nothing of a beginning.
        strict: safety mode strict, which asks for ALL.
        rewritten: the answer may be written anew when it was judged; what has left cannot be.
    """
    if strict or rewritten or force.oversight in _DECIDED_AFTERWARDS:
        return Hold.ALL
    if wish is not None and not (force.enforcing and _takes_back(wish, force.floor)):
        return wish
    return Hold.ALL if force.directives.is_of_the_whole else Hold.SENTENCES


def _takes_back(wish: Hold, floor: SafetyPolicy) -> bool:
    """Say whether a request would show what its tenant's policy may withhold (ADR 0219)."""
    return (wish is Hold.NOTHING and floor.withholds) or (wish is Hold.SENTENCES and floor.is_of_the_whole)
