"""How much work an RPC asks for, told by its service when it registers and read from each request at the door.

The unit is a character of text that the models read once. What is cheaper or dearer by nature (bytes of a document, a
claim held against a fact) is told in that unit too, so that one budget bounds all of it. It is an estimate: it decides
whose turn it is and what is refused, never what is computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

CALL_UNITS: Final = 200
"""What a call that computes costs however short its text is."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the door has to know of an RPC that costs more than a read.

    Attributes:
        units: estimates a decoded request; cheap, and never fails whatever the request holds.
        computes: the call computes itself and takes one of the places for that. ``False`` for one that passes its work
            on to other services, waits for a language model, or is short: its work is bounded, and it takes no place.
        bounded: the service itself bounds how many of these calls are open: a stream that lasts for minutes and rests
            most of the time is not counted among the calls in flight, where it would keep out short ones.
    """

    units: Callable[[Any], int]
    computes: bool = True
    bounded: bool = False
