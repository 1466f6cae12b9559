"""Patterns of the Matches operator: RE2, linear in the text whatever the pattern is (ADR 0116)."""

from functools import lru_cache
from typing import Final

import re2

from services.ercp.domain.predicates.model import PredicateError

MAX_PATTERN_CHARS: Final = 500
_MAX_BYTES: Final = 1 << 20
"""Memory that a compiled pattern may take, so that ``(x{1000}){1000}`` is refused."""


def check_pattern(pattern: str, field: str) -> None:
    """Refuse what is no pattern.

    Raises:
        PredicateError: it is too long, does not compile, or needs too much memory.
    """
    allowed = f"a regular expression in RE2's syntax, of at most {MAX_PATTERN_CHARS} characters"
    if len(pattern) > MAX_PATTERN_CHARS:
        raise PredicateError(field, f"is {len(pattern):,} characters long", allowed)
    try:
        _compiled(pattern)
    except re2.error as error:
        raise PredicateError(field, f"is no pattern: {_told(error)}", allowed) from None


def matches(pattern: str, text: str) -> bool:
    """Say whether a pattern matches a whole text."""
    return _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "re2._Regexp[str]":
    options = re2.Options()
    options.max_mem = _MAX_BYTES
    options.log_errors = False
    return re2.compile(pattern, options=options)


def _told(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
