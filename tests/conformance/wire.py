"""The wire as a stranger sees it: generated stubs, a credential, the reading of refusals. Nothing of the product."""

import uuid
from dataclasses import dataclass

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import session_service_pb2, session_service_pb2_grpc
from crp.gateway.v1 import dispatch_service_pb2, dispatch_service_pb2_grpc
from google.rpc import error_details_pb2, status_pb2

from tests.patience import patient

TIMEOUT_S = patient(60.0)
QUESTION = "Within how many days must a broken lighthouse lamp be reported to the harbour office?"
NEXT_QUESTION = "And what fine does a keeper pay for a late report?"
DOCUMENT = """# Lighthouse rules

## Lamps

A broken lighthouse lamp must be reported to the harbour office within 9 days of the night on which it failed.
A keeper pays a fine of 40 crowns for a late report of a broken lighthouse lamp to the harbour office.

## Foghorns

The foghorn of every lighthouse is tested by the keeper on the first Monday of each month at eight o'clock.
"""


@dataclass(frozen=True)
class Refusal:
    """A refused call: status, ErrorInfo reason and the fields that BadRequest names."""

    status: str
    reason: str
    fields: tuple[str, ...]


class Client:
    """One channel with one credential."""

    def __init__(self, address: str, credential: str):
        self.channel = grpc.insecure_channel(address)
        self.knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(self.channel)
        self.sessions = session_service_pb2_grpc.SessionServiceStub(self.channel)
        self.gateway = dispatch_service_pb2_grpc.DispatchServiceStub(self.channel)
        self.metadata = (("authorization", f"Bearer {credential}"),) if credential else ()

    def call(self, method, request, *extra: tuple[str, str]):
        return method(request, metadata=(*self.metadata, *extra), timeout=TIMEOUT_S)

    def refused(self, method, request, *extra: tuple[str, str]) -> Refusal:
        """Make a call that must fail, and read why."""
        with pytest.raises(grpc.RpcError) as caught:
            self.call(method, request, *extra)
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        details = dict(caught.value.trailing_metadata()).get("grpc-status-details-bin", b"")
        for detail in status_pb2.Status.FromString(details).details:
            detail.Unpack(info)
            detail.Unpack(bad)
        fields = tuple(sorted(violation.field for violation in bad.field_violations))
        return Refusal(caught.value.code().name, info.reason, fields)

    def dispatch(self, query: str = QUESTION, **fields):
        return self.call(self.gateway.Dispatch, ask(query, **fields))

    def ingest(self, text: str, uri: str):
        request = knowledge_service_pb2.IngestSourceRequest(
            request_id=str(uuid.uuid4()),
            uri=uri,
            title=uri,
            media_type="text/markdown",
            source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
            content=text.encode(),
        )
        return self.call(self.knowledge.IngestSource, request)

    def dag(self, session_id: str):
        return self.call(self.sessions.GetDag, session_service_pb2.GetDagRequest(session_id=session_id))

    def verify(self, session_id: str):
        return self.call(self.sessions.VerifyChain, session_service_pb2.VerifyChainRequest(session_id=session_id))


def ask(query: str = QUESTION, **fields):
    """Return a dispatch request with its own request id."""
    fields = {"request_id": str(uuid.uuid4()), "strategies": [taxonomy_pb2.DISPATCH_STRATEGY_PUSH]} | fields
    return dispatch_service_pb2.DispatchRequest(query=query, **fields)


def headers(response) -> dict[str, str]:
    """Return the CRP headers of an outcome; a name must not come twice."""
    names = [header.name for header in response.headers]
    assert len(set(names)) == len(names)
    return {header.name: header.value for header in response.headers}
