"""HTTP in the gateway process (ADR 0075): ``/ercp/v1/*`` as ERCP 1.0 §3 has it, the other routes, ``/openapi.json``.

It is transport alone: a body is checked and becomes a protobuf message, the call goes over gRPC with the caller's own
credential, the answer becomes the document's JSON.
"""
