"""Mode check: a provider writes, the answer comes back when it has passed (ADR 0132, ADR 0140)."""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb
from groundtrail.grounds import Grounds, GroundText, grounds_of
from starlette.responses import Response

from services.common.computing import SMALL, compute, compute_unless_small
from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.chat_provider import ChatProvider, ChatStream
from services.common.settings import GatewaySettings
from services.common.settings.http import HttpSettings
from services.common.streaming.surrogates import whole_characters
from services.common.taxonomy import RiskLevel
from services.gateway import wire
from services.gateway.check_policy import CheckPolicies, needs_sources
from services.gateway.dispatch.held_back import Check
from services.gateway.domain.command import derived_id
from services.gateway.domain.holding import Hold, hold_of
from services.gateway.domain.outcome import PolicyInForce, PolicyRequest
from services.gateway.domain.source_screening import SourceScreening
from services.gateway.doors.grpc import convert, validate
from services.gateway.doors.http.chat.asks import FIELD, Call, ChatOptions, wrong
from services.gateway.doors.http.chat.dialect import Dialect
from services.gateway.doors.http.chat.providers import ChatProviders
from services.gateway.doors.http.chat.refusals import refusal_of, withheld_response
from services.gateway.doors.http.chat.sending import HeldBack, Streamed, held_back_answer
from services.gateway.doors.http.check_messages import (
    blocked_reason,
    check_answer,
    guardrail_request,
    has_sources,
    screened_sources,
)
from services.gateway.doors.http.protocol import (
    HEADER_OF_FIELD,
    checked_headers,
    policy_headers,
    refuse_beyond_checks,
    withheld_unchecked,
)
from services.gateway.doors.http.requests import call_metadata, until_disconnected

LATE_S: Final = 30.0
OK: Final = 200
_SCREENING: Final = 8
"""Looking for what speaks to a model costs so many times what reading does."""
_TOLD_SIZE: Final = 4_096
"""What is told of one check, about, in characters."""
_CONTRADICTED: Final = "CONTRADICTED"
_NO_SOURCES: Final = {"mode": "check", "reason": "NO_SOURCES"}
_INNER: Final = frozenset({"certain", "faulted_at", "headers"})
"""Of a check, for those who hold a stream back, and for the headers of the answer."""
_OF_DISPATCHES: Final = (
    *("conversation", "session_token", "continuation_ids", "ai_system_id", "retrieval_mode", "include_superseded"),
)
_STREAM_MODE: Final = HEADER_OF_FIELD["stream_safety_mode"]


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judges answers, and by which defaults.

    Attributes:
        stub: ProvenanceService, over a channel that raises the peer's own errors.
        settings: deadlines.
        gateway: what the deployment can keep.
        policies: what answers are held against.
    """

    stub: ProvenanceServiceStub
    settings: HttpSettings
    gateway: GatewaySettings
    policies: CheckPolicies

    async def force(self, call: Call) -> PolicyInForce:
        """Return the policy of a call, its headers read; everything that a check cannot honour is refused.

        Raises:
            InvalidRequestError: INVALID_FIELD, UNKNOWN_DIRECTIVE.
            PermissionDeniedError: POLICY_RELAXED.
        """
        options, wishes = call.ask.options, call.wishes
        refuse_beyond_checks(wishes)
        if given := [name for name in _OF_DISPATCHES if name in options.model_fields_set]:
            raise wrong(f"{FIELD}.{given[0]}", "is for mode ground; here an answer of your provider is checked")
        asked = self._asked(call) if wishes.ListFields() else PolicyRequest()
        if options.policy is not None and asked.safety_policy:
            raise wrong(f"{FIELD}.policy", f"stands in the header {HEADER_OF_FIELD['safety_policy']} too; give it once")
        text = asked.safety_policy if options.policy is None else options.policy
        request = PolicyRequest(text, asked.report_only, asked.mode, asked.oversight, asked.accept_risk)
        return await self.policies.in_force(call.caller.tenant_id, request, names_none=options.policy is None)

    def _asked(self, call: Call) -> PolicyRequest:
        """Return what the protocol's headers say of the policy, checked as a dispatch's fields are."""
        probe = pb.DispatchRequest(request_id=derived_id(call.request_id, "check"), query="-")
        probe.MergeFrom(call.wishes)
        validate.dispatch_request(probe, self.gateway)
        return convert.dispatch_command(probe).policy

    async def screened(self, call: Call, dialect: Dialect) -> "Screened":
        """Return a call as it goes on, to the provider and to the check, and what its messages hold (ADR 0145)."""
        screening, ask = SourceScreening(self.gateway.suspected_sources), call.ask
        queries = self.gateway.suspected_queries

        def screened() -> Screened:
            found = screening.messages(ask.messages, queries, ask.leading)
            kept = dialect.with_messages(ask, found.messages) if found.is_changed else ask
            options = ask.options.model_copy(update=screened_sources(ask.options, screening))
            kept = replace(kept, messages=found.messages, options=options)
            injections = [one.told() for one in screening.findings]
            return Screened(replace(call, ask=kept), whole_grounds(found.grounds), injections)

        return await compute_unless_small(_SCREENING * (len(ask.forwarded) + _given_size(ask.options)), screened)

    def check(self, call: Call, force: PolicyInForce, grounds: Grounds) -> Check:
        """Return what judges a text of the answer; a beginning is not asked whether it is complete."""
        options = call.ask.options
        metadata = call_metadata(call.request, call.request_id)
        sources_size = _given_size(options) + sum(len(one.text) for one in grounds.sources)

        async def check(text: str, *, is_whole: bool) -> dict[str, Any]:
            try:
                message = await compute_unless_small(
                    sources_size + len(text), guardrail_request, whole_characters(text), options, grounds
                )
            except UnicodeEncodeError:
                raise wrong(FIELD, "must be Unicode text; it holds half of a surrogate pair") from None
            if not is_whole:
                message.is_beginning = True
            if not has_sources(message):
                return _unjudged(options, force)
            found = await self.stub.Check(message, timeout=self.settings.call_timeout_s, metadata=metadata)
            answer = await compute(judged, found, force, grounds)
            if not options.evidence:
                answer.pop("claims")
            return answer

        return check


@dataclass(frozen=True, slots=True)
class Screened:
    """A call whose sources were looked at.

    Attributes:
        grounds: what is left to check against.
        injections: what was found, as the answer tells of it.
    """

    call: Call
    grounds: Grounds
    injections: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CheckMode:
    """Answers in mode check.

    Attributes:
        dialect: of the calls.
        judge: of the answers.
        providers: write them.
    """

    dialect: Dialect
    judge: Judge
    providers: ChatProviders

    async def answer(self, call: Call) -> Response:
        """Ask the provider, and hand its answer on when it has passed."""
        provider = await self.providers.of(call)
        force = await self.judge.force(call)  # refused before it costs
        screened = await self.judge.screened(call, self.dialect)
        call, ask = screened.call, screened.call.ask
        check = self.judge.check(call, force, screened.grounds)
        if ask.is_streamed:
            return await self._streamed(screened, provider, check, force)
        headers = self.dialect.forwarded_headers(call.request.headers)
        reply = await until_disconnected(call.request, provider.ask(ask.forwarded, headers))
        if reply.status != OK:
            return labelled(refusal_of(self.dialect, reply, call.request_id), policy_headers(force))
        completion, texts, unchecked = await read_completion(self.dialect, reply.body)
        found = await asyncio.gather(*(check(text, is_whole=True) for text in texts if text.strip()))
        told = told_of(list(found), unchecked, screened.injections)
        worst = max(found, key=_gravity, default=None)
        headers = policy_headers(force) if worst is None else worst["headers"]
        if withheld := [one for one in found if one["withheld"]]:
            reason = " ".join(one["blocked_reason"] for one in withheld)
            return withheld_response(self.dialect, reason, told, call.request_id, headers)
        told_completion = {**completion, FIELD: told} if ask.options.labelled else completion
        answer = await compute_unless_small(len(reply.body) + _TOLD_SIZE * len(found), ascii_json, told_completion)
        return Response(answer, OK, {"X-Request-Id": call.request_id, **headers}, "application/json")

    async def _streamed(
        self, screened: Screened, provider: ChatProvider, check: Check, force: PolicyInForce
    ) -> Response:
        call = screened.call
        hold = hold_for(call.wishes, force)
        opened, source = await opened_stream(self.dialect, call, provider)
        if isinstance(source, Response):
            return labelled(source, policy_headers(force))

        def told(last: dict[str, Any], unchecked: list[str]) -> dict[str, Any] | None:
            if not call.ask.options.labelled:
                return None
            headers = last.get("headers") or policy_headers(force)
            return {**told_of([last] if last else [], unchecked, screened.injections), "headers": headers}

        how = HeldBack(check, hold, told, call.request_id)
        events = held_back_answer(source.events, self.dialect.stream(), how)
        headers = {"X-Request-Id": call.request_id, _STREAM_MODE: hold.value, **policy_headers(force)}
        return Streamed(events, opened, self.judge.settings.run_timeout_s + LATE_S, headers)


async def opened_stream(
    dialect: Dialect, call: Call, provider: ChatProvider
) -> tuple[contextlib.AsyncExitStack, ChatStream | Response]:
    """Open the provider's stream before the answer begins, so that a refusal has its status.

    Raises:
        UnavailableError: LLM_UNAVAILABLE.
        ClientGoneError: the client went away.
    """
    opened = contextlib.AsyncExitStack()
    try:
        headers = dialect.forwarded_headers(call.request.headers)
        entering = opened.enter_async_context(provider.stream(call.ask.forwarded, headers))
        stream: ChatStream = await until_disconnected(call.request, entering)
        if stream.refusal is not None:
            refusal = refusal_of(dialect, stream.refusal, call.request_id)
            await opened.aclose()
            return opened, refusal
    except BaseException:
        await opened.aclose()
        raise
    return opened, stream


async def read_completion(dialect: Dialect, body: bytes) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return a provider's answer, its texts, and the places that are not checked.

    Raises:
        UnavailableError: LLM_UNAVAILABLE: it is no answer of the dialect.
    """
    try:
        completion = await compute_unless_small(len(body), json.loads, body)
        texts, unchecked = dialect.texts_of(completion)
    except (ValueError, AttributeError, RecursionError):
        hint = f"check GROUNDTRAIL_{dialect.section}__BASE_URL"
        text = f"The language model did not answer with a chat completion; {hint}."
        raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause="malformed_reply") from None
    return completion, texts, unchecked


def readable_grounds(messages: Sequence[Mapping[str, Any]]) -> Grounds:
    """Return what messages hold, as ``whole_grounds`` does."""
    return whole_grounds(grounds_of(messages))


def whole_grounds(found: Grounds) -> Grounds:
    """Return grounds with half characters replaced: a provider may take them, nothing that judges does."""
    return Grounds(
        whole_characters(found.question),
        tuple(GroundText(whole_characters(one.title), whole_characters(one.text)) for one in found.sources),
        tuple(map(whole_characters, found.earlier_answers)),
        found.unreadable,
    )


def ascii_json(value: Any) -> bytes:
    """Return a provider's answer with our object in it; escaped, for JSON of others may hold half a surrogate pair."""
    return json.dumps(value, separators=(",", ":")).encode()


def hold_for(wishes: pb.DispatchRequest, force: PolicyInForce) -> Hold:
    """Return what of a stream waits: what is asked for, unless the policy is about the whole answer.

    Raises:
        InvalidRequestError: INVALID_FIELD: pass-through is asked for under mode strict, which forbids it.
    """
    strict = wishes.safety_mode == dispatch_pb2.SAFETY_MODE_STRICT
    wish = wire.STREAM_MODES.get(wishes.stream_safety_mode)
    if strict and wish is Hold.NOTHING:
        raise wrong(_STREAM_MODE, "must be buffer, or left out, in safety mode strict")
    return hold_of(wish, force, strict=strict)


def judged(found: Any, force: PolicyInForce, grounds: Grounds) -> dict[str, Any]:
    """Return what a check found, with what is for the headers and for a stream that is held back."""
    answer = check_answer(found, force, grounds, report=False)
    answer.pop("facts")
    answer.pop("report")
    answer.pop("injections")
    faults = [claim["start"] for claim in answer["claims"] if claim["verdict"] == _CONTRADICTED]
    answer["certain"], answer["faulted_at"] = bool(faults), min(faults, default=None)
    answer["blocked_reason"] = blocked_reason(answer) if answer["withheld"] else ""
    violated = [one["directive"] for one in answer["policy"]["findings"]]
    answer["headers"] = checked_headers(found.report, force, violated, answer["policy"]["halt_reason"])
    return answer


def told_of(found: list[dict[str, Any]], unchecked: list[str], injections: list[dict[str, Any]]) -> dict[str, Any]:
    """Return our object of an answer."""
    kept = [{name: value for name, value in one.items() if name not in _INNER} for one in found]
    told = {"mode": "check", "checks": kept, "unchecked": unchecked}
    return {**told, "injections": injections} if injections else told


def labelled(response: Response, headers: Mapping[str, str]) -> Response:
    """Return a response with headers of the protocol beside its own."""
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    return response


def _given_size(options: ChatOptions) -> int:
    """Return about how many characters a request gives to check against beside its messages."""
    facts = sum(len(one) if isinstance(one, str) else len(one.content) for one in options.facts)
    return facts + len(options.question) + SMALL * len(options.documents)


def _unjudged(options: ChatOptions, force: PolicyInForce) -> dict[str, Any]:
    blocked = options.without_sources == "block" or needs_sources(force)
    reason = "Withheld: there is nothing to check this answer against." if blocked else ""
    headers = withheld_unchecked(force) if blocked else policy_headers(force)
    return {**_NO_SOURCES, "withheld": blocked, "blocked_reason": reason, "headers": headers}


def _gravity(found: Mapping[str, Any]) -> tuple[bool, int]:
    return found["withheld"], RiskLevel(found["risk_level"]).rank if "risk_level" in found else -1
