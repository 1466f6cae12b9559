"""Where a caller's text enters the suite: every RPC of the descriptors, and the routes of HTTP.

``PLACES`` names the fields that take text at length; everything else that is a string is an identifier, a name or a
token, which validation bounds at ``SHORT_CHARS`` characters or less. ``unplaced`` lists what is neither, so that a new
RPC or field cannot be forgotten.
"""

import base64
import importlib
import pkgutil
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import crp
import ercp
import grpc
import httpx
from crp.dpe.v1.report_pb2 import DpeReport
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from services.gateway.doors.http.ercp_routes import ENDPOINTS, PREFIX

SHORT_CHARS: Final = 8_192
"""No string outside ``PLACES`` may be longer: one such string costs no more than a page of prose."""
SHORT: Final = frozenset(
    """
    supersedes_uris oversight_id api_key base_url models
    request_id uri title media_type key value fact_id fact_ids supersedes_fact_ids source_id source_ids communities
    community page_token policy_hash agent_session_parent trace_id session_token continuation_ids session_id window_id
    agent_session agent_sessions agents_left_out
    oversight_id
    model reason source_location source_window_id transfer_type facts_seen deferred_fact_ids if_match_etag if_match
    cache_directives transferred_fact_ids active_fact_ids label key_id ai_system_id name sector intended_purpose
    versions_of safety_policy allowed_sink_hosts data_residency safety_policy_report_only safety_report_uri safety_nonce
    claim_id report_ids
    review_id comment report_id event_id id tool tools etag ckf_communities ckf_state_hash embedding_model tokenizer
    shared_namespaces namespace content_hash carried_from_window_id embedding domain audit_trail_id constraint_id why
    detector string_value predicate_name detected_by error_id source reasoning_id model_fingerprint envelope_etag
    facts_included fact_id_prefix compared_policy_hashes policy section
    """.split()  # noqa: SIM905 - a list would be six times as long
)
"""Names of fields that hold identifiers, names, tokens and the like."""
STORED: Final = (
    *("report.", "analysis_inputs.", "deferred_facts.", "transfers."),
    *("envelope.facts.entities.", "envelope.conflicts."),
)
"""What dag keeps as it is, with digests over it; entities and disagreements that were found already. None is read."""
QUESTION: Final = "Within how many days must an accident be reported?"
FACT: Final = "An accident must be reported within seven days. The fee is 5 euros."


@dataclass(frozen=True, slots=True)
class Place:
    """A field that takes text.

    Attributes:
        method: ``Service/Method``, or ``POST /path``.
        path: of the field in the request, through the first item of what is repeated.
        most: characters that the field takes.
        whole: the request without the text.
        main: whether every kind is tried here, not a tenth of them alone.
    """

    method: str
    path: str
    most: int
    whole: dict[str, Any] = field(default_factory=dict)
    main: bool = True

    @property
    def name(self) -> str:
        """How the table calls it."""
        suffix = self.whole.get("media_type", "")
        return f"{self.method} {self.path}" + (f" ({suffix})" if suffix else "")

    @property
    def rpc(self) -> str:
        """The RPC behind it, the route's own too."""
        if not self.method.startswith("POST "):
            return self.method
        path = self.method.removeprefix("POST ").removeprefix(PREFIX)
        return "ErcpService/" + next((point.rpc for point in ENDPOINTS if point.path == path), "Run")


def _page(media_type: str) -> dict[str, Any]:
    return {"uri": "page", "source_type": "SOURCE_TYPE_INTERNAL", "media_type": media_type}


def _two_sides() -> dict[str, Any]:
    document = {"name": "page", "media_type": "text/plain", "content": base64.b64encode(FACT.encode()).decode()}
    return {"before": {"document": document}, "after": {"document": document}}


_FACTS: Final = {"facts": [{"id": "f1", "content": FACT}]}
_PARTS: Final = [QUESTION, "How high is the fee for a late report?"]
_FANNED: Final = {"dispatch": {"query": QUESTION}, "queries": _PARTS}
_NAMED: Final = {"facts": [{"id": "f1"}]}
_SOURCES: Final = {"sources": [{"id": "f1", "content": FACT}]}
_TEXT: Final = {"id": "t1", "content": FACT}
_ENVELOPE: Final = {"facts": [{"fact_id": "f1", "content": FACT}]}
_ANALYSIS: Final = {
    "session_id": "s",
    "window_id": "w",
    "window_number": 2,
    "query": QUESTION,
    "envelope": _ENVELOPE,
    "response_text": FACT,
    "cache_no_store": True,
    "cache_no_cache": True,
}
_VERDICT: Final = {
    "constraint_verdicts": {"verdicts": [{"constraint_id": "c", "detector": "words", "state": "CONSTRAINT_STATE_HELD"}]}
}
_BUILD: Final = {
    "session_id": "s",
    "window_id": "w",
    "window_number": 1,
    "query": QUESTION,
    "model": "gpt-4o",
    "context_window_tokens": 200_000,
}
_PROBLEM: Final = {"problem": {"id": "p", "description": QUESTION}}
_RULE: Final = {
    "type": "CONSTRAINT_TYPE_FACTUAL",
    "priority": "CONSTRAINT_PRIORITY_HIGH",
    "nl_text": "Mention the fee.",
    "predicate": {"predicate_name": "Equal", "args": {"left": "water.boiling_point", "right": "100", "unit": "degC"}},
}
_ERROR: Final = {"type": "ERROR_TYPE_FACTUAL_INCORRECT", "excerpt": "The fee is 6 euros.", "confidence": 0.9}
_RUN: Final = {**_PROBLEM, "config": {"max_iterations": 2}}


_MINOR: Final[dict[str, Any]] = {"main": False}
_INGEST: Final = "KnowledgeService/IngestSource"
_ANALYZE: Final = "ProvenanceService/Analyze"
_GUARD: Final = "GuardService/"
_PROVENANCE: Final = "ProvenanceService/"
_BUILD_RPC: Final = "EnvelopeService/BuildEnvelope"
_PREVIEW_RPC: Final = "EnvelopeService/PreviewEnvelope"
_CALLS: Final = (
    *(Place(_INGEST, "content", 200_000, _page(f"text/{kind}")) for kind in ("plain", "markdown", "html")),
    Place(_INGEST + "Stream", "source.content", 200_000, {"source": _page("text/plain")}, **_MINOR),
    Place("KnowledgeService/PreviewIngestion", "content", 200_000, {"uri": "page", "media_type": "text/markdown"}),
    *(
        Place("KnowledgeService/DiffSources", f"{side}.document.content", 200_000, _two_sides(), **_MINOR)
        for side in ("before", "after")
    ),
    Place("KnowledgeService/IngestFacts", "facts.content", 6_000, {"uri": "f", "source_type": "SOURCE_TYPE_INTERNAL"}),
    Place("KnowledgeService/SearchFacts", "query", 32_768),
    Place("SessionService/AppendEvent", "data", 60_000, {"event_type": "AUDIT_EVENT_TYPE_ERCP_OPERATOR"}, **_MINOR),
    Place("SessionService/CommitWindow", "response_text", 200_000, **_MINOR),
    Place(_GUARD + "ScoreCoherence", "response", 200_000, {"prompt": QUESTION, **_FACTS}),
    Place(_GUARD + "ScoreCoherence", "prompt", 200_000, {"response": FACT, **_FACTS}, **_MINOR),
    Place(
        _GUARD + "ScoreCoherence", "facts.content", 200_000, {"prompt": QUESTION, "response": FACT, **_NAMED}, **_MINOR
    ),
    Place(_GUARD + "OverseeStream", "token.text", 200_000, {"start": {"prompt": QUESTION, **_FACTS}}),
    Place(_GUARD + "OverseeStream", "start.prompt", 200_000, {"start": _FACTS}, **_MINOR),
    Place(
        _GUARD + "OverseeStream", "start.facts.content", 200_000, {"start": {"prompt": QUESTION, **_NAMED}}, **_MINOR
    ),
    Place(_GUARD + "DetectInjection", "input", 200_000),
    Place(_GUARD + "DetectInjection", "intent", 200_000, {"input": QUESTION}, **_MINOR),
    Place(_GUARD + "DetectInjection", "response", 200_000, {"input": QUESTION}, **_MINOR),
    Place(_GUARD + "VerifyClaims", "response", 200_000, _SOURCES),
    Place(_GUARD + "VerifyClaims", "sources.content", 200_000, {"response": FACT, "sources": [{"id": "f1"}]}, **_MINOR),
    Place(_GUARD + "VerifyClaims", "question", 100_000, {"response": FACT, **_SOURCES}, **_MINOR),
    Place(_GUARD + "VerifyClaimsBatch", "texts.content", 200_000, {"texts": [{"id": "t1"}], **_SOURCES}, **_MINOR),
    Place(_GUARD + "VerifyClaimsBatch", "texts.question", 100_000, {"texts": [_TEXT], **_SOURCES}, **_MINOR),
    Place(
        _GUARD + "VerifyClaimsBatch",
        "sources.content",
        200_000,
        {"texts": [_TEXT], "sources": [{"id": "f1"}]},
        **_MINOR,
    ),
    Place(_ANALYZE, "response_text", 200_000, _ANALYSIS),
    Place(_ANALYZE, "envelope.facts.content", 200_000, _ANALYSIS),
    Place(_ANALYZE, "query", 100_000, _ANALYSIS, **_MINOR),
    Place(_ANALYZE, "leans_on", 100_000, _ANALYSIS, **_MINOR),
    Place(_ANALYZE, "prompt", 200_000, _ANALYSIS, **_MINOR),
    Place(
        _ANALYZE,
        "prior_windows.text",
        200_000,
        {**_ANALYSIS, "prior_windows": [{"window_id": "v", "window_number": 1}]},
        **_MINOR,
    ),
    Place(_ANALYZE, "sub_queries", 32_768, _ANALYSIS, **_MINOR),
    Place(_ANALYZE, "constraint_verdicts.verdicts.nl_text", 2_000, {**_ANALYSIS, **_VERDICT}, **_MINOR),
    *(
        Place(_PROVENANCE + "AnalyzeStream", f"analysis.{path}", most, {"analysis": whole}, **_MINOR)
        for path, most, whole in (
            *((path, 200_000, _ANALYSIS) for path in ("response_text", "envelope.facts.content", "prompt")),
            ("query", 100_000, _ANALYSIS),
            ("leans_on", 100_000, _ANALYSIS),
            (
                "prior_windows.text",
                200_000,
                {**_ANALYSIS, "prior_windows": [{"window_id": "v", "window_number": 1}]},
            ),
            ("sub_queries", 32_768, _ANALYSIS),
            ("constraint_verdicts.verdicts.nl_text", 2_000, {**_ANALYSIS, **_VERDICT}),
        )
    ),
    Place(_PROVENANCE + "SegmentClaims", "text", 200_000),
    Place(_PROVENANCE + "VerifySummary", "summary", 200_000, {"original": FACT}),
    Place(_PROVENANCE + "VerifySummary", "original", 200_000, {"summary": FACT}, **_MINOR),
    Place(_PROVENANCE + "Check", "answer", 200_000, {"facts": [{"content": FACT}]}, **_MINOR),
    Place(_PROVENANCE + "Check", "question", 100_000, {"answer": FACT, "facts": [{"content": FACT}]}, **_MINOR),
    Place(_PROVENANCE + "Check", "facts.content", 200_000, {"answer": FACT}, **_MINOR),
    Place(
        _PROVENANCE + "Check", "documents.content", 200_000, {"answer": FACT, "documents": [{"name": "a.md"}]}, **_MINOR
    ),
    Place(_PROVENANCE + "Check", "earlier_answers", 200_000, {"answer": FACT}, **_MINOR),
    Place(_BUILD_RPC, "query", 32_768, _BUILD),
    Place(_BUILD_RPC, "system_prompt", 200_000, _BUILD, **_MINOR),
    Place(
        _BUILD_RPC, "carried_facts.content", 6_000, {**_BUILD, "carried_facts": [{"source_window_id": "v"}]}, **_MINOR
    ),
    Place(_BUILD_RPC, "tool_facts.content", 6_000, {**_BUILD, "tool_facts": [{"tool": "desk"}]}, **_MINOR),
    Place(_PREVIEW_RPC, "query", 32_768, {"model": "gpt-4o", "context_window_tokens": 200_000}),
    Place(_PREVIEW_RPC, "system_prompt", 200_000, {"model": "gpt-4o", "query": QUESTION}, **_MINOR),
    Place("EnvelopeService/CountTokens", "texts", 200_000, {"model": "gpt-4o"}),
    Place("DispatchService/Dispatch", "query", 16_384),
    Place("DispatchService/Dispatch", "system_prompt", 32_768, {"query": QUESTION}, **_MINOR),
    Place("DispatchService/Dispatch", "earlier_questions", 8_192, {"query": QUESTION}, **_MINOR),
    Place("DispatchService/DispatchStream", "dispatch.query", 16_384, **_MINOR),
    Place(
        "DispatchService/DispatchStream",
        "dispatch.system_prompt",
        32_768,
        {"dispatch": {"query": QUESTION}},
        **_MINOR,
    ),
    Place(
        "DispatchService/DispatchStream",
        "dispatch.earlier_questions",
        8_192,
        {"dispatch": {"query": QUESTION}},
        **_MINOR,
    ),
    Place("DispatchService/FanOut", "dispatch.query", 16_384, {"queries": _PARTS}, **_MINOR),
    Place(
        "DispatchService/FanOut", "queries", 16_384, {"dispatch": {"query": QUESTION}, "queries": _PARTS[:1]}, **_MINOR
    ),
    Place("DispatchService/FanOut", "dispatch.system_prompt", 32_768, _FANNED, **_MINOR),
    Place("DispatchService/FanOut", "dispatch.earlier_questions", 8_192, _FANNED, **_MINOR),
    Place("DispatchService/DispatchBatch", "dispatches.query", 16_384, **_MINOR),
    Place(
        "DispatchService/DispatchBatch",
        "dispatches.system_prompt",
        32_768,
        {"dispatches": [{"query": QUESTION}]},
        **_MINOR,
    ),
    Place(
        "DispatchService/DispatchBatch",
        "dispatches.earlier_questions",
        8_192,
        {"dispatches": [{"query": QUESTION}]},
        **_MINOR,
    ),
)
_OPERATORS: Final[tuple[tuple[str, str, int, dict[str, Any], bool], ...]] = (
    ("Run", "problem.description", 100_000, _RUN, True),
    ("Run", "constraints.nl_text", 2_000, {**_RUN, "constraints": [_RULE]}, False),
    ("Run", "retrieval_context.text", 100_000, _RUN, False),
    ("Generate", "problem.description", 100_000, {}, True),
    ("Generate", "constraints.nl_text", 2_000, {**_PROBLEM, "constraints": [_RULE]}, False),
    ("Verify", "reasoning_text", 100_000, {"constraints": [_RULE]}, True),
    ("Verify", "constraints.nl_text", 2_000, {"reasoning_text": FACT, "constraints": [_RULE]}, False),
    ("Verify", "retrieval_context.text", 100_000, {"reasoning_text": FACT}, False),
    ("ExtractConstraints", "reasoning_text", 100_000, {"errors": [_ERROR]}, True),
    ("ExtractConstraints", "errors.excerpt", 1_000, {"errors": [_ERROR], "reasoning_text": FACT}, False),
    ("ExtractConstraints", "errors.evidence.excerpt", 1_000, {"errors": [_ERROR], "reasoning_text": FACT}, False),
    ("Stabilize", "reasoning_curr", 100_000, {"reasoning_prev": FACT}, True),
    ("Stabilize", "reasoning_prev", 100_000, {"reasoning_curr": FACT}, False),
    ("Mutate", "problem.description", 100_000, {"mutation_strategy": "MUTATION_STRATEGY_DECOMPOSE"}, True),
    ("Mutate", "reasoning_text", 100_000, {**_PROBLEM, "mutation_strategy": "MUTATION_STRATEGY_REFRAME"}, False),
    (
        *("Mutate", "constraints.nl_text", 2_000),
        *({**_PROBLEM, "mutation_strategy": "MUTATION_STRATEGY_RELAX", "constraints": [_RULE]}, False),
    ),
)


def _operators() -> Iterator[Place]:
    """Yield each operator of ERCP as an RPC and as a route."""
    routes = {point.rpc: point.path for point in ENDPOINTS} | {"Run": "/run"}
    for rpc, path, most, whole, main in _OPERATORS:
        yield Place(f"ErcpService/{rpc}", path, most, whole, main)
        yield Place(f"POST {PREFIX}{routes[rpc]}", path, most, whole, main=False)
        if rpc == "Run":
            yield Place("ErcpService/RunStream", path, most, whole, main=False)


PLACES: Final = (*_CALLS, *_operators())
"""All of them."""


def methods() -> dict[str, MethodDescriptor]:
    """Return every RPC of the generated protos by ``Service/Method``."""
    found: dict[str, MethodDescriptor] = {}
    for package in (crp, ercp):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("_pb2"):
                for service in importlib.import_module(module.name).DESCRIPTOR.services_by_name.values():
                    found |= {f"{service.name}/{method.name}": method for method in service.methods}
    return found


def unplaced() -> list[str]:
    """Return the string fields of every RPC and the routes that are neither tried nor known to be short."""
    placed = {(place.rpc, place.path) for place in PLACES}
    tried = {place.method for place in PLACES}
    missing = [
        f"{name} {path}"
        for name, method in methods().items()
        for path in _strings(method.input_type)
        if path.rpartition(".")[2] not in SHORT and (name, path) not in placed and not path.startswith(STORED)
        if not any(f".{stored}" in f".{path}" for stored in STORED)
    ]
    routes = [f"POST {PREFIX}{path}" for path in ("/run", *(point.path for point in ENDPOINTS))]
    return missing + [route for route in routes if route not in tried]


def _strings(message: Any, path: str = "", above: frozenset[str] = frozenset()) -> Iterator[str]:
    if message.full_name in above:
        return
    for each in message.fields:
        if each.type in {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES}:
            yield path + each.name
        elif each.message_type is not None:
            yield from _strings(each.message_type, f"{path}{each.name}.", above | {message.full_name})


class Caller:
    """Calls the suite as one tenant.

    Args:
        channel: to the suite.
        http: a client of its HTTP port.
        key: the tenant's API key.
    """

    def __init__(self, channel: grpc.aio.Channel, http: httpx.AsyncClient, key: str) -> None:
        self._channel = channel
        self._http = http
        self._key = key
        self._methods = methods()

    async def call(self, place: Place, text: str, timeout_s: float) -> str:
        """Send the text to the place; return OK or the name of the refusal."""
        text = text[: place.most]
        if place.method.startswith("POST "):
            return await self._post(place, text, timeout_s)
        try:
            await self._send(place, text, timeout_s)
        except grpc.aio.AioRpcError as error:
            return f"{error.code().name}: {error.details()}"
        return "OK"

    async def unary(self, name: str, request: dict[str, Any], timeout_s: float = 60.0) -> Any:
        """Call an RPC with a request given as a dictionary."""
        message = self._message(self._methods[name], request)
        return await self._rpc(name)(message, timeout=timeout_s, metadata=self._metadata)

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self._key}"),)

    async def _send(self, place: Place, text: str, timeout_s: float) -> None:
        method = self._methods[place.method]
        if place.method == "GuardService/OverseeStream":
            stream = self._rpc(place.method)(self._oversight(place, text), timeout=timeout_s, metadata=self._metadata)
            async for _ in stream:
                pass
            return
        whole = place.whole | (await self._window(place, text))
        request = self._message(method, whole, place.path, text)
        call = self._rpc(place.method)(request, timeout=timeout_s, metadata=self._metadata)
        if method.server_streaming:
            async for _ in call:
                pass
        else:
            await call

    async def _window(self, place: Place, text: str) -> dict[str, Any]:
        """Return what a call of dag needs: a session, a window, the report of its text."""
        if not place.method.startswith("SessionService/"):
            return {}
        from bench.ercp import fitting_report

        begun = await self.unary("SessionService/CreateSession", {})
        if place.path == "data":
            return {"session_id": begun.session.session_id}
        opened = await self.unary(
            "SessionService/OpenWindow", {"session_token": begun.session_token, "available_budget_tokens": 0}
        )
        window = opened.window
        written = DpeReport.FromString(fitting_report(window.session_id, window.window_id, window.window_number, text))
        return {
            "session_id": window.session_id,
            "window_id": window.window_id,
            "quality_tier": "QUALITY_TIER_D",
            "report": MessageToDict(written, preserving_proto_field_name=True),
        }

    async def _oversight(self, place: Place, text: str) -> AsyncIterator[Message]:
        kind = GetMessageClass(self._methods[place.method].input_type)
        is_start = place.path.startswith("start")
        yield _filled(kind(), place.whole, place.path if is_start else "", text)
        spoken = FACT if is_start else text
        for number, at in enumerate(range(0, len(spoken), 20)):
            yield _filled(kind(), {"token": {"index": number}}, "token.text", spoken[at : at + 20])
        yield ParseDict({"end": {}}, kind())

    async def _post(self, place: Place, text: str, timeout_s: float) -> str:
        message = self._message(self._methods[place.rpc], place.whole, place.path, text)
        body = _plain_enums(MessageToDict(message, preserving_proto_field_name=True))
        route, headers = place.method.removeprefix("POST "), {"authorization": f"Bearer {self._key}"}
        try:
            answer = await self._http.post(route, json=body, headers=headers, timeout=timeout_s)
        except httpx.TimeoutException:
            return f"DEADLINE_EXCEEDED: no answer within {timeout_s:g} s"
        return "OK" if answer.status_code < 300 else f"{answer.status_code}: {answer.text[:200]}"

    def _message(self, method: MethodDescriptor, whole: dict[str, Any], path: str = "", text: str = "") -> Message:
        message: Message = _filled(GetMessageClass(method.input_type)(), whole, path, text)
        _identify(message)
        return message

    def _rpc(self, name: str) -> Callable[..., Any]:
        method = self._methods[name]
        shapes: dict[tuple[bool, bool], Any] = {
            (False, False): self._channel.unary_unary,
            (False, True): self._channel.unary_stream,
            (True, True): self._channel.stream_stream,
        }
        open_call = shapes[method.client_streaming, method.server_streaming]
        call: Callable[..., Any] = open_call(
            f"/{method.containing_service.full_name}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        return call


def _filled(message: Any, whole: dict[str, Any], path: str, text: str) -> Any:
    ParseDict(whole, message)
    target, names = message, path.split(".") if path else []
    for at, name in enumerate(names):
        known = target.DESCRIPTOR.fields_by_name[name]
        is_last = at == len(names) - 1
        if is_last and known.is_repeated:
            getattr(target, name).append(text)
        elif is_last:
            setattr(target, name, text.encode() if known.type == known.TYPE_BYTES else text)
        elif known.is_repeated:
            items = getattr(target, name)
            target = items[0] if items else items.add()
        else:
            getattr(target, name).SetInParent()
            target = getattr(target, name)
    return message


def _identify(message: Any) -> None:
    """Give the message, and what it holds, the request ids that it must have."""
    for known in message.DESCRIPTOR.fields:
        if known.name == "request_id":
            message.request_id = str(uuid.uuid4())
        elif known.name in {"dispatch", "dispatches"} or (known.name == "source" and known.message_type is not None):
            inner = getattr(message, known.name)
            for each in inner if known.is_repeated else [inner]:
                _identify(each)


def _plain_enums(body: Any) -> Any:
    """Return the body with the protocol's own words in place of the enums' names (ERCP 1.0)."""
    prefixes = ("CONSTRAINT_TYPE_", "CONSTRAINT_PRIORITY_", "ERROR_TYPE_", "MUTATION_STRATEGY_")
    if isinstance(body, dict):
        return {name: _plain_enums(value) for name, value in body.items()}
    if isinstance(body, list):
        return [_plain_enums(value) for value in body]
    if isinstance(body, str) and body.startswith(prefixes):
        return next(body.removeprefix(prefix).lower() for prefix in prefixes if body.startswith(prefix))
    return body
