"""A client as a stranger would write it: generated stubs and gRPC, nothing of the product.

Reads one JSON object from stdin ({"addresses": {...}, "api_key", "documents": [[uri, media_type, text]], "questions",
"timeout_s"}), drives ingestion, two windows and a verification, and writes what it saw to stdout as JSON.
"""

import json
import sys
import uuid

import grpc
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import session_service_pb2, session_service_pb2_grpc
from crp.gateway.v1 import dispatch_service_pb2, dispatch_service_pb2_grpc
from ercp.v1 import ercp_pb2, ercp_service_pb2, ercp_service_pb2_grpc
from google.protobuf.json_format import MessageToDict
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase


def as_json(message):
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def main():
    order = json.load(sys.stdin)
    metadata = (("authorization", f"Bearer {order['api_key']}"),)
    channels = {name: grpc.insecure_channel(address) for name, address in order["addresses"].items()}
    knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(channels["knowledge"])
    sessions = session_service_pb2_grpc.SessionServiceStub(channels["dag"])
    gateway = dispatch_service_pb2_grpc.DispatchServiceStub(channels["gateway"])

    sources = []
    for uri, media_type, text in order["documents"]:
        response = knowledge.IngestSource(
            knowledge_service_pb2.IngestSourceRequest(
                request_id=str(uuid.uuid4()),
                uri=uri,
                title=uri,
                media_type=media_type,
                source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
                content=text.encode(),
            ),
            metadata=metadata,
            timeout=order["timeout_s"],
        )
        sources.append(as_json(response))

    answers = []
    answer = None
    for question in order["questions"]:
        request = dispatch_service_pb2.DispatchRequest(
            request_id=str(uuid.uuid4()), query=question, strategies=[taxonomy_pb2.DISPATCH_STRATEGY_PUSH]
        )
        if answer is not None:
            request.session_token = answer.session_token
            request.continuation_ids.append(answer.continuation_id)
        response, call = gateway.Dispatch.with_call(request, metadata=metadata, timeout=order["timeout_s"])
        sent = {k: v for k, v in (*call.initial_metadata(), *call.trailing_metadata()) if k.startswith("crp-")}
        answers.append({"response": as_json(response), "metadata": sent})
        answer = response.answer
    verdict = sessions.VerifyChain(
        session_service_pb2.VerifyChainRequest(session_id=answer.session_id),
        metadata=metadata,
        timeout=order["timeout_s"],
    )
    run = ercp_service_pb2_grpc.ErcpServiceStub(channels["ercp"]).Run(
        ercp_service_pb2.RunRequest(
            request_id=str(uuid.uuid4()), problem=ercp_pb2.Problem(id="p", description=order["questions"][0])
        ),
        metadata=metadata,
        timeout=order["timeout_s"],
    )
    reflected = {
        name: sorted(ProtoReflectionDescriptorDatabase(channel).get_services()) for name, channel in channels.items()
    }
    json.dump(
        {
            "sources": sources,
            "answers": answers,
            "verdict": as_json(verdict),
            "run": as_json(run),
            "reflection": reflected,
            "product_modules": sorted(name for name in sys.modules if name.split(".")[0] == "services"),
        },
        sys.stdout,
    )
    for channel in channels.values():
        channel.close()


main()
