"""Random ids: every character as likely as any other, each id drawn anew."""

import string
from collections import Counter

import pytest

from services.common.ids import RandomIds

ALPHANUMERIC = string.ascii_letters + string.digits


@pytest.mark.parametrize("length", [0, 1, 16, 32, 100])
def test_an_id_is_as_long_as_asked_and_of_letters_and_digits(length):
    found = RandomIds().alphanumeric(length)
    assert len(found) == length
    assert set(found) <= set(ALPHANUMERIC)


def test_each_character_stands_for_as_many_bytes_as_any_other(monkeypatch):
    """62 does not divide 256: the bytes that are left over are drawn again."""
    monkeypatch.setattr("services.common.ids.secrets.token_bytes", lambda _: bytes(range(256)))
    counted = Counter(RandomIds().alphanumeric(248))
    assert counted == dict.fromkeys(ALPHANUMERIC, 4)


def test_bytes_that_are_left_over_are_drawn_again(monkeypatch):
    draws = [b"\xff" * 8, b"\xf8" * 7 + b"\x00", b"\x01" * 8]
    monkeypatch.setattr("services.common.ids.secrets.token_bytes", lambda _: draws.pop(0))
    assert RandomIds().alphanumeric(4) == "abbb"


def test_no_two_are_the_same():
    assert len({RandomIds().alphanumeric(16) for _ in range(1000)}) == 1000
