from datetime import UTC, datetime, timedelta

import pytest

from services.common.api_key_format import hash_of, prefix_of
from services.common.encoding import sha256_hex
from services.gateway.domain.api_keys import KeyState, make_key, state_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECRET = "abcdefghABCDEFGH0123456789zzzzzz"
HOUR = timedelta(hours=1)


def test_a_key_is_put_together_as_the_architecture_says():
    made = make_key("live", SECRET)
    assert made.key == "crp_gw_live_abcdefghABCDEFGH0123456789zzzzzz"
    assert made.prefix == "crp_gw_live_abcdefgh"
    assert made.key_hash == sha256_hex(made.key) == hash_of(made.key)


@pytest.mark.parametrize(
    ("environment", "secret"),
    [
        ("live", SECRET[:-1]),
        ("live", SECRET + "a"),
        ("live", SECRET[:-1] + "_"),
        ("Live", SECRET),
        ("l", SECRET),
        ("", SECRET),
    ],
)
def test_parts_that_make_no_key_are_refused(environment, secret):
    with pytest.raises(ValueError, match="API key"):
        make_key(environment, secret)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "crp_gw_live_",
        f"crp_gw_live_{SECRET}\n",
        f" crp_gw_live_{SECRET}",
        f"crp_gw_{SECRET}",
        f"CRP_GW_live_{SECRET}",
    ],
)
def test_anything_else_has_no_prefix(text):
    assert prefix_of(text) is None


@pytest.mark.parametrize(
    ("expires", "revoked", "state"),
    [
        (None, None, KeyState.ACTIVE),
        (NOW + HOUR, None, KeyState.ACTIVE),
        (NOW, None, KeyState.EXPIRED),
        (NOW - HOUR, None, KeyState.EXPIRED),
        (None, NOW, KeyState.REVOKED),
        (NOW - HOUR, NOW - HOUR, KeyState.REVOKED),
    ],
    ids=["no expiry", "before", "at", "after", "revoked", "revocation outweighs expiry"],
)
def test_state(expires, revoked, state):
    assert state_of(expires, revoked, NOW) is state
