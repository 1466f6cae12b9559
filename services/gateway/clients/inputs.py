"""What of an analysis is kept so that it can be repeated, and the request that it is repeated with (ADR 0043).

Facts are text that an erasure must reach: of them only ids stay, in the envelope and in the prompt, and a replay
fetches them again. Answers of this and of earlier windows are kept by the session anyway and stand here once less.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from crp.ckf.v1 import ckf_pb2
from crp.dpe.v1 import inputs_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.common.encoding import canonical_json, sha256_hex
from services.common.rpc.canonical import message_json
from services.gateway.domain.prompt import clean

_SUMMARY: Final = "SUMMARY"
FoundT = TypeVar("FoundT")


class ContentMissingError(LookupError):
    """Something that the analysis read is not there any more: ``kind`` is fact or window, ``name`` its id."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"{kind} {name}")


def kept_inputs(request: pb.AnalyzeRequest) -> inputs_pb2.AnalysisInputs:
    """Return what is kept of a request; nothing of a fact of the knowledge base but its id and metadata."""
    kept = inputs_pb2.AnalysisInputs(request=request, request_sha256=request_digest(request))
    kept.request.response_text = ""
    kept.request.prompt = ""
    for fact in kept.request.envelope.facts:
        fact.embedding = b""
        if not _is_summary(fact):
            fact.content = ""
            del fact.entities[:]
    for conflict in kept.request.envelope.conflicts:  # words of facts, which their places bring back
        conflict.subject = ""
        for value in conflict.values:
            value.text = ""
    for prior in kept.request.prior_windows:
        if not prior.is_summary:
            prior.text = ""
    places = {
        line: (fact.fact_id, number)
        for fact in reversed(request.envelope.facts)
        if not fact.carried_from_window_id
        for number, line in reversed(list(enumerate(_lines(fact.content))))
        if line
    }
    kept.prompt.extend(_prompt_line(line, places) for line in request.prompt.split("\n"))
    return kept


def restored_request(
    inputs: inputs_pb2.AnalysisInputs, answers: Mapping[str, str], facts: Mapping[str, ckf_pb2.Fact]
) -> pb.AnalyzeRequest:
    """Return the request of an analysis again; facts are without embeddings, which the dpe service then makes.

    Args:
        inputs: as kept.
        answers: answer by window id, of this window and the earlier ones.
        facts: the knowledge base's facts by id.

    Raises:
        ContentMissingError: a fact was erased, or an answer is not there.
    """
    request = pb.AnalyzeRequest()
    request.CopyFrom(inputs.request)
    request.response_text = _found(answers, "window", request.window_id)
    for fact in request.envelope.facts:
        if not fact.carried_from_window_id:
            known = _found(facts, "fact", fact.fact_id)
            fact.content = known.content
            fact.entities.extend(known.entities)
    for conflict in request.envelope.conflicts:
        for value in conflict.values:
            content = _found(facts, "fact", value.fact_id).content
            value.text = content[value.span.start : value.span.end].strip()
    for prior in request.prior_windows:
        if not prior.is_summary:
            prior.text = _found(answers, "window", prior.window_id)
    request.prompt = "\n".join(_restored_line(line, facts) for line in inputs.prompt)
    return request


def request_digest(request: pb.AnalyzeRequest) -> str:
    """Return SHA-256 over what of a request decides the report, embeddings left out: they follow from the content."""
    whole = pb.AnalyzeRequest()
    whole.CopyFrom(request)
    for fact in whole.envelope.facts:
        fact.embedding = b""
        if fact.carried_from_window_id and not _is_summary(fact):  # no evidence (ADR 0023)
            fact.content = ""
            del fact.entities[:]
    return sha256_hex(canonical_json(message_json(whole)))


def _is_summary(fact: envelope_pb2.EnvelopeFact) -> bool:
    """Say whether the fact is a checked summary of an earlier answer: made in the session, and in no knowledge base."""
    return bool(fact.carried_from_window_id) and fact.transfer_type == _SUMMARY


def _lines(content: str) -> list[str]:
    return [line.strip() for line in clean(content).split("\n")]


def _prompt_line(line: str, places: Mapping[str, tuple[str, int]]) -> inputs_pb2.PromptLine:
    place = places.get(line.strip())
    if place is None or line != line.rstrip():
        return inputs_pb2.PromptLine(text=line)
    return inputs_pb2.PromptLine(text=line[: len(line) - len(line.lstrip())], fact_id=place[0], fact_line=place[1])


def _restored_line(line: inputs_pb2.PromptLine, facts: Mapping[str, ckf_pb2.Fact]) -> str:
    if not line.fact_id:
        return line.text
    lines = _lines(_found(facts, "fact", line.fact_id).content)
    if line.fact_line >= len(lines):
        raise ContentMissingError("fact", line.fact_id)
    return line.text + lines[line.fact_line]


def _found(known: Mapping[str, FoundT], kind: str, name: str) -> FoundT:
    if name not in known:
        raise ContentMissingError(kind, name)
    return known[name]
