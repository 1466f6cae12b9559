"""Addresses hold no secrets: they are logged, shown by ``doctor`` and stand in error messages of libraries."""

from typing import Final

_USERINFO: Final = "@"


def without_credentials(address: str, instead: str) -> str:
    """Return the address when it names no user and no password.

    Args:
        address: a URL, ``host:port`` or another target of gRPC; may be empty.
        instead: the settings that such a secret goes into, for the message.

    Raises:
        ValueError: it does; the message holds nothing of the address.
    """
    _, scheme, rest = address.rpartition("://")
    authority = rest.lstrip("/").split("/", 1)[0].split("?", 1)[0].split("#", 1)[0] if scheme else address
    if _USERINFO in authority:
        msg = f"an address must hold no user and no password, since addresses are logged: {instead}"
        raise ValueError(msg)
    return address
