"""An order that sets a value: "set the timeout to 5 seconds" demands that the timeout be exactly so long."""

import re
from typing import Final

from services.ercp.domain.wording.amounts import Named, read

_SET: Final = re.compile(
    r"(?:always\s+)?set\s+(?P<what>(?:the\s+|our\s+|your\s+|its\s+|their\s+)?[a-z][\w'-]*(?:\s[a-z][\w'-]*){0,4}?)\s+to\s+(?P<value>\S.*)",
    re.IGNORECASE,
)
_OTHERWISE: Final = re.compile(
    r"\b(?:aside|apart|up|off|out|forth|back|down|from|by|and|or|not|never|no|to|any|some|each|every|"
    r"max|maximum|min|minimum|about|around|limits?|caps?|ceiling|threshold|bounds?|"
    r"highest|lowest|top|largest|smallest|scene|sights?)\b",
    re.IGNORECASE,
)
"""In what is set: it is another order, of several things, or of a limit."""
_BY_CLOCK: Final = re.compile(
    r"\b(?:alarm|clock|watch|meeting|call|appointment|start|end|departure|arrival|opening|closing|time|hour|curfew|reminder|lunch|dinner|check-in|check-out)\Z",
    re.IGNORECASE,
)
"""What a bare number may be a time of day for."""


def demanded_by(sentence: str) -> str:
    """Return "set X to V" as "X must be exactly V" where V is one value and nothing else; other sentences as they are."""
    match = _SET.fullmatch(sentence)
    if match is None or _OTHERWISE.search(match["what"]) or read(match["what"]):
        return sentence
    named = read(match["value"])
    if len(named) != 1 or not _is_whole(named[0], match["value"]):
        return sentence
    if named[0].is_number and _BY_CLOCK.search(match["what"]):
        return sentence
    return f"{match['what']} must be exactly {match['value']}"


def _is_whole(named: Named, text: str) -> bool:
    """Say whether a value is all of a text, and says of what unit it is as far as an operand can."""
    return named.operand is not None and named.start == 0 and named.behind == len(text.rstrip()) and not named.noun
