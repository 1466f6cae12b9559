"""What may stand in a name: in a URI, a title, a place in a document, the name of a model.

Names are read in terminals, logs and lists. A control character there moves the cursor or opens an escape sequence, a
line separator breaks the line, a direction override shows something else than what stands there. Joiners and direction
marks, which many scripts need, stay.
"""

import re
from typing import Final

ALLOWED: Final = "must not hold control characters, line separators or direction overrides"
_HARMFUL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def is_plain_name(text: str) -> bool:
    """Say whether nothing in the text does more than to be read."""
    return _HARMFUL.search(text) is None


def plain_name(text: str) -> str:
    """Return the text with what ``is_plain_name`` refuses taken out, a space in its place."""
    return " ".join(_HARMFUL.sub(" ", text).split()) if _HARMFUL.search(text) else text
