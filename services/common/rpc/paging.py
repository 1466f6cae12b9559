"""Page tokens: opaque, bound to the other parameters of the list call, and free of server state.

A token holds the last id of the page before and a digest of what the page was listed under (tenant, parent, filters);
presented with anything else it is PAGE_TOKEN_INVALID. It grants nothing: the next read is confined to the tenant again.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from services.common.encoding import base64url, base64url_decode
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError

DEFAULT_PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 1000
_DIGEST_BYTES: Final = 16
_MAX_DIGITS: Final = 18
"""Digits that always fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What to read: up to ``limit`` items whose id is greater than ``after`` (empty = from the start)."""

    after: str
    limit: int


def decode_page(page_size: int, page_token: str, bound_to: tuple[str, ...]) -> PageRequest:
    """Read the paging fields of a request.

    Args:
        page_size: 0 takes ``DEFAULT_PAGE_SIZE``; above ``MAX_PAGE_SIZE`` counts as the maximum.
        page_token: of the page before, or empty.
        bound_to: the method, the tenant and every parameter that decides what is listed.

    Raises:
        InvalidRequestError: PAGE_TOKEN_INVALID, or INVALID_FIELD for a negative size.
    """
    if page_size < 0:
        raise InvalidRequestError.of(FieldViolation("page_size", f"must be 0 to {MAX_PAGE_SIZE}"))
    limit = min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
    if not page_token:
        return PageRequest(after="", limit=limit)
    try:
        raw = base64url_decode(page_token)
        after = raw[_DIGEST_BYTES:].decode("utf-8")
    except ValueError:
        raise invalid_page_token() from None
    if raw[:_DIGEST_BYTES] != _digest(bound_to) or not after:
        raise invalid_page_token()
    return PageRequest(after=after, limit=limit)


def after_number(page: PageRequest) -> int:
    """Return the number that the page begins after, of a list that is ordered by one; -1 = from the start.

    Tokens are not signed: what stands in one may be anything.

    Raises:
        InvalidRequestError: PAGE_TOKEN_INVALID.
    """
    if not page.after:
        return -1
    if not (page.after.isascii() and page.after.isdigit() and len(page.after) <= _MAX_DIGITS):
        raise invalid_page_token()
    return int(page.after)


def encode_page_token(after: str, bound_to: tuple[str, ...]) -> str:
    """Return the token that continues after the item with the id ``after``."""
    return base64url(_digest(bound_to) + after.encode())


def _digest(bound_to: tuple[str, ...]) -> bytes:
    hasher = hashlib.sha256()
    for part in bound_to:
        data = part.encode()
        hasher.update(len(data).to_bytes(8, "big") + data)
    return hasher.digest()[:_DIGEST_BYTES]


def invalid_page_token() -> InvalidRequestError:
    """Return the PAGE_TOKEN_INVALID error."""
    text = "page_token does not belong to this list; start again without one"
    return InvalidRequestError(
        ErrorReason.PAGE_TOKEN_INVALID,
        text,
        violations=(FieldViolation("page_token", "must be next_page_token of the same list with the same parameters"),),
    )
