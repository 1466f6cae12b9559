"""Audit events as OCSF: the published schema's required fields, the vectors, the severities, what is never there."""

import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from crp.dag.v1 import dag_pb2

from services.common.encoding import canonical_json, parse_iso_micros, sha256_hex
from services.common.ports.sessions import AuditEventRecord
from services.dag.exports.ocsf import KINDS, RISK_SEVERITY, Severity, ocsf_event, ocsf_line
from tests.each import each

VECTORS = Path(__file__).resolve().parents[3] / "vectors" / "exports"
SCHEMA = json.loads((VECTORS / "ocsf_schema.json").read_text(encoding="utf-8"))
EVENTS = json.loads((VECTORS / "ocsf_events.json").read_text(encoding="utf-8"))
PREFIX = "AUDIT_EVENT_TYPE_"
NAMES = dag_pb2.AuditEventType.DESCRIPTOR.values_by_name
TYPES = sorted(name.removeprefix(PREFIX) for name in NAMES if not name.endswith("UNSPECIFIED"))
NOW = datetime(2026, 5, 24, 9, 2, 0, 123456, tzinfo=UTC)


def record(event_type="TOOL_CALL", **changes):
    values = {
        "session_id": "crp_sess_0123456789abcdef",
        "sequence": 3,
        "event_id": "crp_evt_1",
        "event_type": event_type,
        "timestamp": NOW,
        "window_id": "crp_win_0123456789abcdef",
        "data": "{}",
        "hmac": "a" * 64,
    }
    return AuditEventRecord(**(values | changes))


def mapped(event):
    return ocsf_event(event, "tenant-a", "0.1.0")


def violations(event):
    """Hold an object against the schema's data; return what it breaks."""
    rules = SCHEMA["event"]
    found = [f"{name} is missing" for name in rules["required"] if name not in event]
    found += [f"{name} is unknown" for name in event if name not in rules["known"]]
    found += [f"{name} is no integer" for name in rules["integers"] if type(event.get(name, 0)) is not int]
    for name, allowed in rules["enums"].items():
        if name in event and str(event[name]) not in allowed:
            found.append(f"{name} is {event[name]}")
    if event.get("type_uid") != event.get("class_uid", 0) * 100 + event.get("activity_id", 0):
        found.append("type_uid is not class_uid * 100 + activity_id")
    if (event.get("class_uid"), event.get("category_uid")) != (SCHEMA["class_uid"], SCHEMA["category_uid"]):
        found.append("class_uid or category_uid")
    for path, object_rules in SCHEMA["objects"].items():
        found += [text for part in reached(event, path.split(".")) for text in of_object(path, part, object_rules)]
    return found


def reached(value, path):
    if isinstance(value, list):
        return [found for item in value for found in reached(item, path)]
    if not path:
        return [value]
    return reached(value[path[0]], path[1:]) if path[0] in value else []


def of_object(path, value, rules):
    found = [f"{path}.{name} is missing" for name in rules["required"] if name not in value]
    found += [f"{path}.{name} is unknown" for name in value if name not in rules["known"]]
    if "at_least_one" in rules and not set(rules["at_least_one"]) & set(value):
        found.append(f"{path} holds none of {rules['at_least_one']}")
    return found


@each("event_type", TYPES)
def test_every_event_type_has_what_the_schema_requires(event_type):
    for data in ("{}", '{"node":{"model_fingerprint":"host/model","risk_level":"HIGH"}}', ""):
        for window in ("crp_win_0123456789abcdef", ""):
            assert violations(mapped(record(event_type, data=data, window_id=window))) == []


def test_the_check_finds_what_is_wrong():
    good = mapped(record())
    for name in SCHEMA["event"]["required"]:
        assert f"{name} is missing" in violations({key: value for key, value in good.items() if key != name})
    assert violations(good | {"actor": {}}) == [f"actor holds none of {SCHEMA['objects']['actor']['at_least_one']}"]
    assert violations(good | {"api": {}}) == ["api.operation is missing"]
    assert violations(good | {"metadata": {"version": "1.5.0", "product": {}}}) != []
    assert violations(good | {"time": 1.5}) == ["time is no integer"]
    assert violations(good | {"severity_id": 7}) == ["severity_id is 7"]
    assert violations(good | {"type_uid": 600300}) == ["type_uid is not class_uid * 100 + activity_id"]
    assert violations(good | {"crp_hmac": "x"}) == ["crp_hmac is unknown"]


@pytest.mark.parametrize("vector", EVENTS["vectors"], ids=lambda vector: vector["test_id"])
def test_vectors(vector):
    given = vector["input"]["event"]
    event = AuditEventRecord(**(given | {"timestamp": parse_iso_micros(given["timestamp"])}))
    tenant_id, version = vector["input"]["tenant_id"], EVENTS["product_version"]
    assert ocsf_event(event, tenant_id, version) == vector["expected"]
    line = ocsf_line(event, tenant_id, version)
    assert line.encode() == canonical_json(vector["expected"])
    assert "\n" not in line


def test_captions_are_the_schemas():
    captions = SCHEMA["event"]["enums"]
    for event_type in TYPES:
        event = mapped(record(event_type))
        activity = captions["activity_id"][str(event["activity_id"])]
        assert event["activity_name"] == (event_type if activity == "Other" else activity)
        assert event["type_name"] == f"{SCHEMA['class_name']}: {activity}"
        assert event["severity"] == captions["severity_id"][str(event["severity_id"])]
    assert mapped(record())["metadata"]["version"] == SCHEMA["version"]


def test_the_table_has_a_row_for_every_type_of_the_contract():
    assert sorted(KINDS) == TYPES


def test_a_type_of_a_later_version_is_exported_as_unknown():
    event = mapped(record("SOMETHING_NEW"))
    assert (event["severity_id"], event["activity_id"], event["activity_name"]) == (0, 99, "SOMETHING_NEW")
    assert violations(event) == []


@pytest.mark.parametrize(
    ("event_type", "data", "severity"),
    [
        ("SESSION_CREATED", {}, 1),
        ("DISPATCH_COMPLETED", {"node": {"risk_level": "LOW"}}, 1),
        ("DISPATCH_COMPLETED", {"node": {"risk_level": "MEDIUM"}}, 3),
        ("DISPATCH_COMPLETED", {"node": {"risk_level": "HIGH"}}, 4),
        ("DISPATCH_COMPLETED", {"node": {"risk_level": "CRITICAL"}}, 5),
        ("DISPATCH_COMPLETED", {"node": {"risk_level": ""}}, 1),
        ("RE_DISPATCH", {"risk_level": "RISK_LEVEL_HIGH"}, 4),
        ("SAFETY_HALT", {"risk_level": "LOW"}, 5),
        ("SESSION_TERMINATED", {"severity": "CRITICAL", "cause": "CHAIN_BROKEN"}, 5),
        ("SESSION_TERMINATED", {"severity": "whatever"}, 1),
        ("TOOL_CALL", {"node": "a tool's own node", "risk_level": ["HIGH"]}, 1),
    ],
)
def test_severities(event_type, data, severity):
    assert mapped(record(event_type, data=json.dumps(data)))["severity_id"] == severity


def test_a_higher_risk_is_never_less_severe():
    severities = [RISK_SEVERITY[level] for level in ("LOW", "MEDIUM", "HIGH", "CRITICAL")]
    assert severities == sorted(severities)
    assert min(kind.severity for kind in KINDS.values()) > Severity.UNKNOWN


@pytest.mark.parametrize(
    ("fingerprint", "uid"),
    [
        ("api.example.com/m@fp+sha256:" + "0" * 64, "api.example.com/m@fp"),
        ("groundtrail-extractive@1;sha256:" + "f" * 64, "groundtrail-extractive@1"),
        ("a-model-without-digest", "a-model-without-digest"),
    ],
)
def test_the_destination_is_provider_and_model(fingerprint, uid):
    event = record("DISPATCH_COMPLETED", data=json.dumps({"node": {"model_fingerprint": fingerprint}}))
    assert mapped(event)["dst_endpoint"] == {"uid": uid}


def test_the_hmac_can_be_recomputed_from_the_line_alone_by_who_has_the_key():
    key = bytes(range(32))
    data = canonical_json({"b": [1, 2.5, "ü"], "a": None}).decode()
    previous = "e" * 64
    material = "TOOL_CALL" + "2026-05-24T09:02:00.123456Z" + sha256_hex(data) + "crp_win_0123456789abcdef" + previous
    mac = hmac.new(key, material.encode(), hashlib.sha256).hexdigest()
    line = json.loads(ocsf_line(record(data=data, hmac=mac), "tenant-a", "0.1.0"))
    held = line["unmapped"]
    digest = hashlib.sha256(canonical_json(held["crp_data"])).hexdigest()
    assert digest == held["crp_data_sha256"]
    again = held["crp_event_type"] + held["crp_timestamp"] + digest + held["crp_window_id"] + previous
    assert hmac.new(key, again.encode(), hashlib.sha256).hexdigest() == held["crp_hmac"]
    assert key.hex() not in json.dumps(line)


def test_the_opening_credentials_prefix_is_the_actors():
    data = json.dumps({"session": {"scope": "crp_gw_test_alice123"}})
    assert mapped(record("SESSION_CREATED", data=data))["actor"]["session"]["credential_uid"] == "crp_gw_test_alice123"


@pytest.mark.parametrize("data", ["not json", "[1]", "[" * 100_000], ids=["text", "list", "deep"])
def test_data_that_is_no_object_is_null_and_keeps_its_digest(data):
    event = mapped(record(data=data))
    assert event["unmapped"]["crp_data"] is None
    assert event["unmapped"]["crp_data_sha256"] == sha256_hex(data)
    assert violations(event) == []


def test_milliseconds_are_cut_not_rounded():
    late = replace(record(), timestamp=datetime(2026, 5, 24, 9, 2, 0, 999999, tzinfo=UTC))
    assert mapped(late)["time"] % 1000 == 999
