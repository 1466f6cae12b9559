"""Characters of the Unicode private use area by which readers mark parts of running text."""

import re
from typing import Final

SUP, SUP_END, SUB, SUB_END = "\ue000\ue001\ue002\ue003"
BREAK, NOTE, NOTE_END = "\ue004\ue005\ue006"
STRUCK, STRUCK_END, BOLD, BOLD_END = "\ue007\ue008\ue009\ue00a"
PICTURE, PICTURE_END, LINK, LINK_END = "\ue00b\ue00c\ue00d\ue00e"
_MARKS: Final = "\ue000-\ue00e"
_UNSEEN: Final = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff\ue000-\ue00f]")
ANY_MARK: Final = re.compile(f"[{_MARKS}]")


def plain_of(text: str) -> str:
    """Return text as it is read: without soft hyphens, zero widths and characters that are our own marks."""
    return _UNSEEN.sub("", text)
