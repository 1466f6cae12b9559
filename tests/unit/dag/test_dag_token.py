"""The session token: form, and the checks in their order (CRP-SPEC-007 facts; SPEC-004 §17.2)."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.common.encoding import base64url, base64url_decode
from services.common.errors import CrpError, ErrorReason
from services.dag.domain import token as tokens
from services.dag.domain import token_checks
from services.dag.domain.keys import MasterKey, session_sign_key
from services.dag.domain.origins import Origin, origin_fields, read_origins
from tests.each import each

SESSION = "crp_sess_" + "s" * 32
ISSUED = datetime(2026, 5, 24, 9, 2, tzinfo=UTC)
KEY = session_sign_key(MasterKey(1, bytes(32)), SESSION)
POLICY = "a" * 64
STATE = tokens.TokenState(
    session_id=SESSION,
    window_number=3,
    quality_history=("A", "A", "B"),
    safety_budget=0.63,
    chain_tip="9" * 64,
    continuation_id="crp_cont_" + "c" * 32,
    dag_structure="LINEAR",
    strategy="push",
    policy_hash=POLICY,
    ckf_state_hash="",
    scope="crp_gw_live_abcd1234",
    tenant=tokens.tenant_digest("tenant-a"),
    limits=(5, 10, 50, 5),
    issued_at=ISSUED,
    expires_at=ISSUED + timedelta(hours=1),
    key_version=1,
    hmac_key_version=1,
)
TOKEN = tokens.issue(STATE, KEY)
PRESENTED = tokens.read(TOKEN)


def payload_of(token):
    return json.loads(base64url_decode(token.partition(".")[0]))


def with_payload(**changes):
    payload = {name: value for name, value in (payload_of(TOKEN) | changes).items() if value is not ...}
    return base64url(json.dumps(payload).encode()) + "." + TOKEN.partition(".")[2]


def reason_of(call, *arguments, **keywords):
    with pytest.raises(CrpError) as caught:
        call(*arguments, **keywords)
    return caught.value.reason


def test_short_names_are_written():
    names = "cid ckf ct dag exp iat kv lim nonce pol qh sb scope sid str ten v win"
    assert " ".join(sorted(payload_of(TOKEN))) == names
    assert payload_of(TOKEN)["iat"] == 1779613320


def test_no_padding_and_two_parts():
    assert "=" not in TOKEN
    assert TOKEN.count(".") == 1
    assert len(base64url_decode(TOKEN.partition(".")[2])) == 32


@each(
    "token",
    [
        pytest.param("", id="empty"),
        pytest.param("abc", id="no dot"),
        pytest.param(TOKEN + "=", id="padding"),
        pytest.param(TOKEN + ".x", id="three parts"),
        pytest.param("!" + TOKEN, id="outside the alphabet"),
        pytest.param(base64url(b"[]") + ".AA", id="not an object"),
        pytest.param(base64url(b"{}") + ".AA", id="no fields"),
        pytest.param(base64url(b"\xff") + ".AA", id="not UTF-8"),
        pytest.param("A" * 4097 + ".AA", id="over 4096 characters"),
        pytest.param(base64url(b"[" * 3000) + ".AA", id="nested too deeply"),
        pytest.param(with_payload(win=-1), id="negative window"),
        pytest.param(with_payload(win=True), id="boolean window"),
        pytest.param(with_payload(sb=1.5), id="budget over 1"),
        pytest.param(with_payload(sb=float("nan")), id="budget not a number"),
        pytest.param(with_payload(ct="sha256:xyz"), id="tip not hex"),
        pytest.param(with_payload(lim=[1, 2]), id="two limits"),
        pytest.param(with_payload(lim=""), id="limits not a list"),
        pytest.param(with_payload(qh="AB"), id="history not a list"),
        pytest.param(with_payload(qh=["A", "E"]), id="a tier that there is not"),
        pytest.param(with_payload(qh=["[]"]), id="no tier in brackets"),
        pytest.param(with_payload(qh=["[A,B"]), id="half of the brackets"),
        pytest.param(with_payload(qh=["A,"]), id="a comma behind a tier"),
        pytest.param(with_payload(qh=[""]), id="an empty entry"),
        pytest.param(with_payload(qh=["A\n"]), id="a line feed behind a tier"),
        pytest.param(with_payload(exp=...), id="no expiry"),
        pytest.param(with_payload(exp=10**30), id="expiry beyond the calendar"),
        pytest.param(with_payload(exp="soon"), id="expiry not a time"),
        pytest.param(with_payload(exp="2999-01-01"), id="expiry a day"),
        pytest.param(with_payload(exp="2999-W01-1T00:00:00Z"), id="expiry by weeks"),
        pytest.param(with_payload(exp="2999-02-30T00:00:00Z"), id="expiry on no day"),
        pytest.param(with_payload(v=4), id="another version"),
        pytest.param(with_payload(sid=7), id="session id not text"),
        pytest.param(with_payload(sid="\ud800"), id="half a surrogate pair"),
        pytest.param(with_payload(session_id=SESSION), id="one field under both its names"),
        pytest.param(with_payload(nonce=7), id="nonce not text"),
        pytest.param(base64url(b'{"win":1,' + base64url_decode(TOKEN.partition(".")[0])[1:]) + ".AA", id="field twice"),
        pytest.param(TOKEN.partition(".")[0] + "." + base64url(bytes(31)), id="signature too short"),
        pytest.param(TOKEN.partition(".")[0] + "." + base64url(bytes(33)), id="signature too long"),
        pytest.param(TOKEN.partition(".")[0] + "." + "A" * 2**20, id="signature of a mebibyte"),
    ],
)
def test_malformed_tokens(token):
    assert reason_of(tokens.read, token) is ErrorReason.TOKEN_INVALID


@each("name", sorted(set(payload_of(TOKEN)) - {"v"}))
def test_any_changed_field_breaks_the_signature(name):
    value = payload_of(TOKEN)[name]
    changed = {
        str: lambda: "0" * 64 if name in {"ct", "pol"} else value + "x",
        int: lambda: value + 1,
        float: lambda: value / 2,
        list: lambda: value[::-1] if value[::-1] != value else value + value,
    }[type(value)]()
    presented = tokens.read(with_payload(**{name: changed}))
    assert reason_of(token_checks.check_signature, presented, KEY) is ErrorReason.TOKEN_INVALID


@pytest.mark.parametrize("position", [0, 10, -1])
def test_any_changed_signature_breaks(position):
    body, _, signature = TOKEN.partition(".")
    raw = bytearray(base64url_decode(signature))
    raw[position] ^= 1
    presented = tokens.read(f"{body}.{base64url(bytes(raw))}")
    assert reason_of(token_checks.check_signature, presented, KEY) is ErrorReason.TOKEN_INVALID


def test_the_right_signature_holds():
    token_checks.check_signature(PRESENTED, KEY)


def test_another_master_keys_signature_does_not_hold():
    other = session_sign_key(MasterKey(1, b"\x01" * 32), SESSION)
    assert reason_of(token_checks.check_signature, PRESENTED, other) is ErrorReason.TOKEN_INVALID


@pytest.mark.parametrize(
    ("moment", "holds"),
    [
        pytest.param(ISSUED + timedelta(minutes=59, seconds=59), True, id="before"),
        pytest.param(ISSUED + timedelta(hours=1), False, id="at the very moment"),
        pytest.param(ISSUED + timedelta(hours=2), False, id="after"),
    ],
)
def test_expiry(moment, holds):
    if holds:
        token_checks.check_expiry(PRESENTED, moment)
    else:
        assert reason_of(token_checks.check_expiry, PRESENTED, moment) is ErrorReason.TOKEN_EXPIRED


@pytest.mark.parametrize(
    ("set_back", "holds"),
    [
        pytest.param(timedelta(seconds=300), True, id="within the leeway of two clocks"),
        pytest.param(timedelta(seconds=301), False, id="beyond it"),
        pytest.param(timedelta(days=400), False, id="far beyond it"),
    ],
)
def test_a_clock_that_was_set_back_lengthens_no_token(set_back, holds):
    if holds:
        token_checks.check_expiry(PRESENTED, ISSUED - set_back)
    else:
        assert reason_of(token_checks.check_expiry, PRESENTED, ISSUED - set_back) is ErrorReason.TOKEN_INVALID


@pytest.mark.parametrize(
    ("scope", "tenant"),
    [
        pytest.param("crp_gw_live_other123", "tenant-a", id="another key"),
        pytest.param(STATE.scope, "tenant-b", id="another tenant"),
        pytest.param("", "tenant-a", id="empty scope"),
    ],
)
def test_scope_mismatch(scope, tenant):
    assert reason_of(token_checks.check_scope, PRESENTED, scope, tenant) is ErrorReason.TOKEN_SCOPE_MISMATCH


def test_scope_holds_with_and_without_the_tenant_digest():
    token_checks.check_scope(PRESENTED, STATE.scope, "tenant-a")
    foreign = tokens.read(tokens.issue(replace(STATE, tenant=""), KEY))
    token_checks.check_scope(foreign, STATE.scope, "tenant-b")


@pytest.mark.parametrize(
    ("held", "asked", "tightened", "expected"),
    [
        pytest.param(POLICY, "", False, POLICY, id="none given keeps the session's"),
        pytest.param(POLICY, POLICY, False, POLICY, id="the same"),
        pytest.param(POLICY, "b" * 64, True, "b" * 64, id="tightened"),
        pytest.param("", "b" * 64, False, "b" * 64, id="a first policy tightens"),
    ],
)
def test_policy_in_force(held, asked, tightened, expected):
    presented = tokens.read(tokens.issue(replace(STATE, policy_hash=held), KEY))
    assert token_checks.check_policy(presented, asked, tightened=tightened) == expected


def test_another_policy_that_was_not_compared_is_refused():
    assert reason_of(token_checks.check_policy, PRESENTED, "b" * 64, tightened=False) is ErrorReason.POLICY_RELAXED


def test_nonce():
    token_checks.check_nonce(PRESENTED, KEY)
    other = replace(PRESENTED, nonce=tokens.policy_nonce(SESSION, "b" * 64, KEY))
    assert reason_of(token_checks.check_nonce, other, KEY) is ErrorReason.TOKEN_INVALID


def test_long_histories_keep_the_latest_tiers_and_the_size():
    token = tokens.issue(replace(STATE, quality_history=("S", *["A"] * 9_999)), KEY)
    assert len(token.partition(".")[0]) <= tokens.MAX_PAYLOAD_CHARS
    assert tokens.read(token).state.quality_history == ("A",) * tokens.MAX_HISTORY


def test_a_long_scope_leaves_less_room_for_the_history():
    history = tuple("SABCD"[n % 5] for n in range(256))
    state = replace(STATE, quality_history=history, scope="s" * 2_000)
    token = tokens.issue(state, KEY)
    assert len(token.partition(".")[0]) <= tokens.MAX_PAYLOAD_CHARS
    kept = tokens.read(token).state.quality_history
    assert 0 < len(kept) < 256
    assert kept == history[-len(kept) :]


def test_a_payload_over_4096_characters_is_never_issued():
    assert reason_of(tokens.issue, replace(STATE, scope="s" * 4096), KEY) is ErrorReason.INTERNAL


def test_set_session_value():
    assert tokens.set_session("T", STATE, "A,A,B") == (
        "token=T; Path=/; Max-Age=3600; Signed; SameSite=Strict; Window=3; QualityHistory=A,A,B"
    )
    before = replace(STATE, window_number=0)
    assert tokens.set_session("T", before, "").endswith("SameSite=Strict; Window=0")


@pytest.mark.parametrize(
    ("retired_ago_s", "signs"),
    [
        pytest.param(None, True, id="current"),
        pytest.param(3599, True, id="within"),
        pytest.param(3600, False, id="over"),
    ],
)
def test_a_retired_master_key_signs_for_one_lifetime(retired_ago_s, signs):
    retired = None if retired_ago_s is None else ISSUED - timedelta(seconds=retired_ago_s)
    assert MasterKey(1, bytes(32), retired).signs_at(ISSUED, timedelta(hours=1)) is signs


def test_secrets_stay_out_of_repr():
    assert "secret" not in repr(MasterKey(1, b"\x41" * 32))
    assert "AAAA" not in repr(MasterKey(1, b"\x41" * 32))


@pytest.mark.parametrize(
    ("after_s", "seen_within_s", "may"),
    [(-1, 0, True), (0, 0, True), (0.000001, 0, False), (1, 1, True), (1.000001, 1, False), (60, 60, True)],
)
def test_what_a_retired_key_may_have_issued(after_s, seen_within_s, may):
    key = MasterKey(1, bytes(32), ISSUED, timedelta(seconds=seen_within_s))
    assert key.may_have_issued(ISSUED + timedelta(seconds=after_s)) is may
    assert MasterKey(1, bytes(32)).may_have_issued(ISSUED + timedelta(days=1))


@pytest.mark.parametrize(
    "origins",
    [
        "x",
        [["a" * 16, 1]],
        [["a" * 16, 1, "b" * 32, 3]],
        [["a" * 16, 1, "b" * 32, True]],
        [["a" * 16, 1, "b" * 32, 1, 1]],
        [["A" * 16, 1, "b" * 32]],
        [["a" * 15, 1, "b" * 32]],
        [["a" * 16, -1, "b" * 32]],
        [["a" * 16, True, "b" * 32]],
        [["a" * 16, 1, "b" * 31]],
        [[1, 1, "b" * 32]],
        [["a" * 16, 1, "b" * 32]] * 65,
        {"a": 1},
        [None],
    ],
)
def test_origins_of_another_form_make_a_token_malformed(origins):
    with pytest.raises((ValueError, TypeError)):
        read_origins(origins)


def test_origins_come_back_as_they_were_written():
    origins = (
        Origin("a" * 16, 3, "b" * 32),
        Origin("", 0, "c" * 32, 1),
        Origin("d" * 16, 0, ""),
    )
    assert read_origins(json.loads(json.dumps(origin_fields(origins)))) == origins
    state = tokens.read(tokens.issue(replace(STATE, origins=origins), KEY)).state
    assert state.origins == origins
    assert "org" not in payload_of(TOKEN)
