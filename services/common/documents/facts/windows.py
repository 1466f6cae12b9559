"""Texts longer than a chunk, in windows that overlap (CRP-SPEC-009)."""

import re
from typing import Final

from services.common.documents.facts.leaning import CountTokens

CHUNK_TOKENS: Final = 512
OVERLAP_RATIO: Final = 0.10


def windows(text: str, count: CountTokens) -> list[str]:
    """Cut a text of more than 512 tokens at white space into windows of at most 512 that overlap by about 10%."""
    if count(text) <= CHUNK_TOKENS:
        return [text]
    pieces = [piece for word in re.findall(r"\S+\s*", text) for piece in _pieces(word, count)]
    sizes = [count(piece) for piece in pieces]
    result: list[str] = []
    start = 0
    while start < len(pieces):
        end, total = start, 0
        while end < len(pieces) and (end == start or total + sizes[end] <= CHUNK_TOKENS):
            total += sizes[end]
            end += 1
        result.append("".join(pieces[start:end]).strip())
        if end == len(pieces):
            break
        start = max(start + 1, _step_back(sizes, end))
    return result


def _step_back(sizes: list[int], end: int) -> int:
    """Return where the next window starts: so far before ``end`` that 10% of a chunk is read again."""
    overlap, start = 0, end
    while start > 0 and overlap + sizes[start - 1] <= CHUNK_TOKENS * OVERLAP_RATIO:
        overlap += sizes[start - 1]
        start -= 1
    return start


def _pieces(word: str, count: CountTokens) -> list[str]:
    """Cut a single word that alone exceeds a chunk (a data URI, a key) into parts of a safe length."""
    if count(word) <= CHUNK_TOKENS:
        return [word]
    safe = CHUNK_TOKENS // 4
    return [word[start : start + safe] for start in range(0, len(word), safe)]
