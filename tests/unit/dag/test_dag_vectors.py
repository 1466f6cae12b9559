"""Byte-exact vectors: committed value == the domain's == a second writing of the formula."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

from services.common.encoding import parse_iso_micros, sha256_hex
from services.dag.domain import chain, keys
from services.dag.domain import token as tokens
from services.dag.domain.keys import MasterKey
from tests.unit.dag import independent

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "dag"


def load(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def cases(name):
    return [pytest.param(v["input"], v["expected"], id=v["test_id"]) for v in load(name)["vectors"]]


def master(hexadecimal):
    return MasterKey(1, bytes.fromhex(hexadecimal))


@pytest.mark.parametrize(("given", "expected"), cases("keys"))
def test_session_keys(given, expected):
    purpose = given["info"].split("-")[2]
    derive = {"hmac": keys.session_hmac_key, "sign": keys.session_sign_key}[purpose]
    assert derive(master(given["master_key"]), given["session_id"]).hex() == expected
    assert independent.session_key(given["master_key"], given["session_id"], purpose).hex() == expected


@pytest.mark.parametrize(("given", "expected"), cases("window_hmac"))
def test_window_hmac(given, expected):
    window, parents = given["window"], given["parent_hmacs"]
    key = keys.session_hmac_key(master(given["master_key"]), window["session_id"])
    material = chain.WindowMaterial(
        window["session_id"],
        window["window_number"],
        parse_iso_micros(window["timestamp"]),
        sha256_hex(window["response_text"]),
        window["report_hash"],
    )
    assert chain.chained_hmac(material, parents, key) == expected["hmac"]
    assert chain.window_hmac(material, key) == expected["window_hmac"]
    second_key = independent.session_key(given["master_key"], window["session_id"], "hmac")
    assert independent.window(second_key, window, parents) == expected["hmac"]
    assert independent.window(second_key, window, []) == expected["window_hmac"]


def test_siblings_and_orders():
    by_id = {v["test_id"]: v["expected"]["hmac"] for v in load("window_hmac")["vectors"]}
    assert by_id["dag-chain-fan-in"] == by_id["dag-chain-fan-in-other-order"]
    assert len({by_id[f"dag-chain-fan-out-{child}"] for child in "abc"}) == 3


@pytest.mark.parametrize(("given", "expected"), cases("audit_event"))
def test_audit_event(given, expected):
    event = given["event"]
    key = keys.session_hmac_key(master(given["master_key"]), given["session_id"])
    material = chain.EventMaterial(
        event["event_type"], parse_iso_micros(event["timestamp"]), event["data"], event["window_id"]
    )
    mac = chain.event_hmac(material, given["previous_hmac"], key)
    assert (mac, chain.event_id(mac)) == (expected["hmac"], expected["event_id"])
    second_key = independent.session_key(given["master_key"], given["session_id"], "hmac")
    assert independent.event(second_key, event, given["previous_hmac"]) == expected["hmac"]


@pytest.mark.parametrize(("given", "expected"), cases("trail"))
def test_end_of_a_trail(given, expected):
    end = (given["version"], given["events"], given["last_hmac"])
    assert chain.Macs(keys.session_hmac_key(master(given["master_key"]), given["session_id"])).trail(*end) == expected
    key = independent.session_key(given["master_key"], given["session_id"], "hmac")
    assert independent.trail(key, *end) == expected


def state_of(payload):
    return tokens.TokenState(
        session_id=payload["sid"],
        window_number=payload["win"],
        quality_history=tuple(payload["qh"]),
        safety_budget=float(payload["sb"]),
        chain_tip=payload["ct"].removeprefix("sha256:"),
        continuation_id=payload["cid"],
        dag_structure=payload["dag"],
        strategy=payload["str"],
        policy_hash=payload["pol"],
        ckf_state_hash=payload["ckf"],
        scope=payload["scope"],
        tenant=payload["ten"],
        limits=tuple(payload["lim"]),
        issued_at=datetime.fromtimestamp(payload["iat"], tz=UTC),
        expires_at=datetime.fromtimestamp(payload["exp"], tz=UTC),
        key_version=payload["kv"],
        hmac_key_version=payload.get("hkv", payload["kv"]),
    )


@pytest.mark.parametrize(("given", "expected"), cases("token"))
def test_token(given, expected):
    payload = given["payload"]
    state = state_of(payload)
    key = keys.session_sign_key(master(given["master_key"]), payload["sid"])
    assert tokens.issue(state, key) == expected
    presented = tokens.read(expected)
    assert (presented.state, presented.nonce) == (state, payload["nonce"])
    second_key = independent.session_key(given["master_key"], payload["sid"], "sign")
    assert independent.token(second_key, payload) == expected
    assert independent.nonce(second_key, payload["sid"], payload["pol"]) == payload["nonce"]
    assert payload["ten"] == tokens.tenant_digest(given["tenant_id"])


def test_token_with_long_names_is_read():
    data = load("token")
    vector = data["read_only"][0]
    short = next(v for v in data["vectors"] if v["test_id"] == vector["expected"]["same_state_as"])
    presented = tokens.read(vector["input"]["token"])
    expected = replace(state_of(short["input"]["payload"]), tenant="", limits=(), strategy="")
    assert presented.state == expected


@pytest.mark.parametrize("name", ["audit_event", "budget", "keys", "token", "trail", "window_hmac"])
def test_vector_files_follow_their_schema(name):
    jsonschema.validate(load(name), load("schema"))


def test_no_two_vectors_share_an_id():
    names = [path.stem for path in VECTORS.glob("*.json") if path.stem != "schema"]
    ids = [vector["test_id"] for name in names for vector in load(name).get("vectors", ())]
    assert len(set(ids)) == len(ids)
