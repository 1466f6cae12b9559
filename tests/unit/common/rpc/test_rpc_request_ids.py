from datetime import UTC, datetime

import pytest
from crp.gateway.v1 import admin_service_pb2 as pb

from services.common.errors import ErrorReason, InvalidRequestError, PreconditionError
from services.common.ports.receipts import Receipt
from services.common.rpc.idempotency import body_hash, replay
from services.common.rpc.validation import Violations


def receipt(body):
    response = pb.RevokeApiKeyResponse()
    response.key.key_id = "k"
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Receipt("t", "RevokeApiKey", "id-1", body, response.SerializeToString(), at)


def test_body_hash_leaves_the_request_id_out_and_nothing_else():
    first = pb.RevokeApiKeyRequest(request_id="a", key_id="k")
    assert body_hash(first) == body_hash(pb.RevokeApiKeyRequest(request_id="b", key_id="k"))
    assert body_hash(first) != body_hash(pb.RevokeApiKeyRequest(request_id="a", key_id="l"))
    assert first.request_id == "a"


def test_replay_gives_the_stored_answer():
    assert replay(None, "h", pb.RevokeApiKeyResponse) is None
    assert replay(receipt("h"), "h", pb.RevokeApiKeyResponse).key.key_id == "k"


def test_another_body_under_the_same_id_is_refused():
    with pytest.raises(PreconditionError) as caught:
        replay(receipt("h"), "other", pb.RevokeApiKeyResponse)
    assert caught.value.reason is ErrorReason.REQUEST_ID_REUSED
    assert caught.value.metadata == {"request_id": "id-1", "rpc": "RevokeApiKey"}


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("3f2b8c1e-9a4d-4e6f-8b7a-1c2d3e4f5a6b", True),
        ("3F2B8C1E-9A4D-4E6F-8B7A-1C2D3E4F5A6B", False),
        ("3f2b8c1e-9a4d-1e6f-8b7a-1c2d3e4f5a6b", False),
        ("3f2b8c1e-9a4d-4e6f-cb7a-1c2d3e4f5a6b", False),
        ("3f2b8c1e-9a4d-4e6f-8b7a-1c2d3e4f5a6b\n", False),
        ("", False),
    ],
    ids=["v4", "upper case", "v1", "wrong variant", "newline", "empty"],
)
def test_request_ids_are_uuid4(value, good):
    found = Violations()
    found.require_request_id(value)
    assert (not found.found) is good


def test_violations_are_raised_all_at_once():
    found = Violations()
    found.require(True, "fine", "never shown")
    found.require("", "a", "must be set")
    found.add("b", "1 to 5")
    with pytest.raises(InvalidRequestError) as caught:
        found.raise_if_any()
    assert [violation.field for violation in caught.value.violations] == ["a", "b"]
    assert caught.value.message == "a: must be set; b: 1 to 5"


def test_no_violation_raises_nothing():
    Violations().raise_if_any()
