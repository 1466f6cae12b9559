"""The facts of an export: the command adds them, no signature is over them, but what was analysed is chained.

Each analysis's inputs, which the audit chain holds, name the digest of the whole request with its facts (ADR 0043).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crp.ckf.v1 import ckf_pb2
from crp.dpe.v1 import inputs_pb2
from google.protobuf.json_format import ParseDict, ParseError

from services.cli.export_file import fact_line
from services.cli.offline.lines import BadLineError, Line
from services.common.encoding import sha256_hex
from services.gateway.clients.inputs import ContentMissingError, request_digest, restored_request


def check_facts(facts: Sequence[Line], analyses: Sequence[Line], *, every_byte: bool) -> list[str]:
    """Return what could not be checked.

    Args:
        facts: their lines.
        analyses: theirs.
        every_byte: refuse what no hash covers: members that no analysis read, and facts of no analysis (ADR 0102).

    Raises:
        BadLineError: a fact is not the one that was analysed.
    """
    known = dict(_fact(line) for line in facts)
    if every_byte:
        _check_covered(facts, known, analyses)
    answers = {str(line.value["window_id"]): str(line.value["response_text"]) for line in analyses}
    notes: dict[str, None] = {}
    for line in analyses:
        if line.value["inputs"] is None:
            continue
        name = str(line.value["window_id"])
        try:
            digest, expected = _digests(line.value["inputs"], answers, known)
        except ContentMissingError as missing:
            notes[f"{missing.kind} {missing.name} is not in the export: it was erased, or its line was taken out"] = (
                None
            )
        except ParseError:
            notes[f"the inputs of window {name} are of a later version"] = None
        else:
            if digest != expected:
                text = "was made from another request than the facts and answers here give: a fact was changed"
                raise BadLineError(line.number, "report", name, text)
    return list(notes)


def _check_covered(facts: Sequence[Line], known: Mapping[str, ckf_pb2.Fact], analyses: Sequence[Line]) -> None:
    read = {name for line in analyses if line.value["inputs"] is not None for name in _read_by(line.value["inputs"])}
    seen: set[str] = set()
    for line in facts:
        name = str(line.value["fact"]["fact_id"])
        if name not in read or name in seen:
            raise BadLineError(line.number, "fact", name, "is of no analysis here, or stands here twice")
        if line.text != fact_line(known[name]):
            raise BadLineError(line.number, "fact", name, "is not as it was exported")
        seen.add(name)


def _read_by(inputs: dict[str, Any]) -> set[str]:
    """Return the ids of the facts that an analysis read; what cannot be parsed is told by the digests."""
    try:
        kept = ParseDict(inputs, inputs_pb2.AnalysisInputs())
    except ParseError:
        return set()
    return {fact.fact_id for fact in kept.request.envelope.facts} | {line.fact_id for line in kept.prompt}


def _fact(line: Line) -> tuple[str, ckf_pb2.Fact]:
    found = line.value.get("fact")
    value: dict[str, Any] = found if isinstance(found, dict) else {}
    name = str(value.get("fact_id", ""))
    try:
        fact = ParseDict(value, ckf_pb2.Fact())
    except ParseError:
        raise BadLineError(line.number, "fact", name, "is no fact") from None
    if sha256_hex(fact.content) != fact.content_hash:
        raise BadLineError(line.number, "fact", name, "has a content that does not match its content_hash")
    return fact.fact_id, fact


def _digests(inputs: dict[str, Any], answers: Mapping[str, str], facts: Mapping[str, ckf_pb2.Fact]) -> tuple[str, str]:
    kept = ParseDict(inputs, inputs_pb2.AnalysisInputs())
    return request_digest(restored_request(kept, answers, facts)), kept.request_sha256
