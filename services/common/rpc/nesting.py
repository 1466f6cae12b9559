"""Recognising calls that a process makes to itself while it serves another.

In the embedded mode a dispatch calls the other services over gRPC in its own process. Such a call is part of one that
was counted already: counting it again would let a full house refuse its own guests. It is recognised by a mark that
the process draws at random and sends with its outgoing calls; another process's mark, or a guessed one, means nothing.
"""

import functools
import hmac
import secrets
from typing import Final

WITHIN_KEY: Final = "x-groundtrail-within"


@functools.cache
def own_mark() -> str:
    """Return this process's mark: 128 random bits, drawn once."""
    return secrets.token_hex(16)


def is_own_mark(mark: str) -> bool:
    """Say whether ``mark`` is this process's."""
    return hmac.compare_digest(mark.encode(), own_mark().encode())
