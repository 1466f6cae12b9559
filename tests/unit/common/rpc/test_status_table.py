"""Every reason has a row in the table, in the docs and in the proto, and they say the same."""

import re
from pathlib import Path

import grpc
import pytest
from crp.common.v1 import error_reason_pb2
from google.rpc import error_details_pb2, status_pb2

from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.rpc.status import MAX_DETAILS_BYTES, STATUS, from_wire, to_wire
from tests.each import each

ROOT = Path(__file__).resolve().parents[4]
CODES = {code.name for code in grpc.StatusCode}


def documented():
    """Return reason -> (status of its section, cells) of docs/errors.md."""
    found, codes = {}, []
    for line in (ROOT / "docs/errors.md").read_text().splitlines():
        if line.startswith("## "):
            codes = [word for word in re.findall(r"[A-Z_]+", line) if word in CODES]
        row = re.match(r"\| `([A-Z_]+)` \|(.+)\|$", line)
        if row and codes:
            found[row.group(1)] = (codes, [cell.strip() for cell in row.group(2).split("|")])
    return found


def in_proto():
    """Return reason -> status that the comment of its enum value begins with."""
    text = (ROOT / "proto/crp/common/v1/error_reason.proto").read_text()
    return {
        name: code
        for code, name in re.findall(r"// ([A-Z_]+)\. [^\n]+(?:\n  // [^\n]+)*\n  ERROR_REASON_(\w+) = ", text)
    }


@each("reason", list(ErrorReason))
def test_reason_has_a_row_everywhere(reason):
    code = STATUS[reason].code.name
    assert in_proto()[reason.value] == code
    assert f"ERROR_REASON_{reason.value}" in error_reason_pb2.ErrorReason.DESCRIPTOR.values_by_name
    codes, cells = documented()[reason.value]
    assert code in codes
    assert len(cells) == 3
    assert all(cells)


def test_nothing_is_documented_that_does_not_exist():
    reasons = {reason.value for reason in ErrorReason}
    assert set(documented()) == reasons
    assert {name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.DESCRIPTOR.values_by_name} == {
        *reasons,
        "UNSPECIFIED",
    }


def details(wire):
    status = status_pb2.Status.FromString(wire.details)
    out = {}
    for packed in status.details:
        for kind in (
            error_details_pb2.ErrorInfo,
            error_details_pb2.RetryInfo,
            error_details_pb2.BadRequest,
            error_details_pb2.PreconditionFailure,
        ):
            message = kind()
            if packed.Unpack(message):
                out[kind.__name__] = message
    return status, out


@each("reason", list(ErrorReason))
def test_every_reason_survives_the_wire(reason):
    error = CrpError(reason, "what was wrong", retry_after_s=1.5, limit="7")
    wire = to_wire(error, "req-1")
    status, found = details(wire)
    assert (wire.code, wire.message) == (STATUS[reason].code, "what was wrong")
    assert status.code == STATUS[reason].code.value[0]
    assert found["ErrorInfo"].domain == "groundtrail"
    assert dict(found["ErrorInfo"].metadata) == {
        "limit": "7",
        "x-request-id": "req-1",
        "retryable": str(STATUS[reason].retryable).lower(),
    }
    back = from_wire(wire.code, wire.message, wire.details, "peer")
    assert (back.reason, back.message, back.retry_after_s, back.metadata) == (
        reason,
        "what was wrong",
        1.5,
        {"limit": "7"},
    )
    assert isinstance(back, CrpError)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (ErrorReason.STORE_UNAVAILABLE, 1.0),
        (ErrorReason.QUEUE_FULL, 1.0),
        (ErrorReason.WINDOW_LIMIT, None),
        (ErrorReason.DEADLINE_EXCEEDED, None),
        (ErrorReason.INVALID_FIELD, None),
    ],
)
def test_retry_info_stands_where_waiting_helps(reason, expected):
    _, found = details(to_wire(CrpError(reason, "x"), "r"))
    delay = found["RetryInfo"].retry_delay.ToMicroseconds() / 1e6 if "RetryInfo" in found else None
    assert delay == expected


@pytest.mark.parametrize(
    ("cause", "retryable"),
    [
        ("http_401", "false"),
        ("http_404", "false"),
        ("malformed_reply", "false"),
        ("http_503", "true"),
        ("timeout", "true"),
    ],
)
def test_nobody_is_told_to_repeat_what_a_provider_refuses_for_good(cause, retryable):
    wire = to_wire(CrpError(ErrorReason.LLM_UNAVAILABLE, "x", cause=cause), "r")
    _, found = details(wire)
    assert found["ErrorInfo"].metadata["retryable"] == retryable
    assert ("RetryInfo" in found) == (retryable == "true")


def test_precondition_failure_names_the_reason():
    _, found = details(to_wire(CrpError(ErrorReason.SESSION_CLOSED, "closed"), "r"))
    violation = found["PreconditionFailure"].violations[0]
    assert (violation.type, violation.description) == ("SESSION_CLOSED", "closed")


def test_violations_come_back_all_of_them():
    error = InvalidRequestError.of(FieldViolation("a", "must be set"), FieldViolation("b.c", "1 to 5"))
    back = from_wire(*_sent(error))
    assert back.violations == error.violations
    assert isinstance(back, InvalidRequestError)


def test_details_stay_small_however_many_fields_are_wrong():
    many = [FieldViolation(f"items[{index}].field", "must be at least 1 and at most 10 ä") for index in range(5000)]
    wire = to_wire(InvalidRequestError.of(*many), "r")
    assert len(wire.details) < MAX_DETAILS_BYTES + 800
    assert len(wire.message.encode()) <= 600
    _, found = details(wire)
    assert found["BadRequest"].field_violations[0].field == "items[0].field"
    assert found["BadRequest"].field_violations[-1].field == "*"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.UNAVAILABLE, ErrorReason.SERVICE_UNAVAILABLE),
        (grpc.StatusCode.UNIMPLEMENTED, ErrorReason.SERVICE_UNAVAILABLE),
        (grpc.StatusCode.DEADLINE_EXCEEDED, ErrorReason.DEADLINE_EXCEEDED),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.MESSAGE_TOO_LARGE),
        (grpc.StatusCode.UNKNOWN, ErrorReason.INTERNAL),
    ],
)
def test_answers_without_details_get_the_nearest_reason(code, reason):
    assert from_wire(code, "text", None, "dpe:50051").reason is reason


def test_foreign_details_are_not_taken_for_ours():
    status = status_pb2.Status(code=14, message="x")
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason="SESSION_CLOSED", domain="elsewhere.example"))
    found = from_wire(grpc.StatusCode.UNAVAILABLE, "x", status.SerializeToString(), "peer")
    assert found.reason is ErrorReason.SERVICE_UNAVAILABLE


def _sent(error):
    wire = to_wire(error, "r")
    return wire.code, wire.message, wire.details, "peer"


def test_metadata_stays_small_and_says_most_of_what_it_was_given():
    error = CrpError(ErrorReason.UNKNOWN_MODEL, "unknown", known="m, " * 200, more="x" * 5000, last="y")
    _, found = details(to_wire(error, "r"))
    metadata = found["ErrorInfo"].metadata
    assert metadata["known"] == "m, " * 200
    assert 1000 < len(metadata["more"]) < 2000
    assert "last" not in metadata
