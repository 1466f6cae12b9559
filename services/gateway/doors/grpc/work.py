"""What a dispatch costs, for the door: what is asked and, by estimate, what will be answered and analysed.

It takes no place to compute: while it waits for a language model it would keep it from others. The calls that it makes
take theirs.
"""

from collections.abc import Mapping
from typing import Any, Final

from services.common.rpc.work import CALL_UNITS, Work

_ANSWER_TOKENS: Final = 500
"""What an answer is taken to have where the request sets no limit."""
_TOKEN_CHARS: Final = 4


def dispatch_units(request: Any) -> int:
    """Return what a DispatchRequest costs."""
    answer = _TOKEN_CHARS * min(request.max_tokens or _ANSWER_TOKENS, _ANSWER_TOKENS)
    return CALL_UNITS + len(request.query) + answer


def _fan_out_units(request: Any) -> int:
    """Return what the parent, the children and the fan-in cost together."""
    whole = dispatch_units(request.dispatch)
    return (2 + len(request.queries)) * whole + sum(map(len, request.queries))


WORK: Final[Mapping[str, Work]] = {
    "Dispatch": Work(dispatch_units, computes=False),
    "DispatchStream": Work(lambda request: dispatch_units(request.dispatch), computes=False),
    "DispatchBatch": Work(lambda request: sum(map(dispatch_units, request.dispatches)), computes=False),
    "FanOut": Work(_fan_out_units, computes=False),
}
