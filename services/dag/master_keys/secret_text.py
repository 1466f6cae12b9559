"""How a master key is written: 64 hex digits. What is wrong with one is told without showing any of it."""

from typing import Final

from services.common.settings import SettingsError
from services.dag.domain.keys import KEY_BYTES

HEX_DIGITS: Final = 2 * KEY_BYTES


def parse_secret(text: str, where: str) -> bytes:
    """Return the key's bytes.

    Args:
        text: as it was found.
        where: names the place in the error.

    Raises:
        SettingsError: the text is not 64 hex digits.
    """
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != KEY_BYTES or len(text) != HEX_DIGITS:
        raise SettingsError([f"{where} must hold {HEX_DIGITS} hex digits"])
    return secret
