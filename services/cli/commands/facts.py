"""``groundtrail facts show ID``: a fact whole, and the document that it was taken from (ADR 0097)."""

import re
from typing import Final

from crp.ckf.v1 import ckf_pb2 as ckf
from crp.ckf.v1 import ingestion_pb2 as reading
from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.words import enum_text, where
from services.common.days import last_day
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError
from services.common.settings import Settings

UUID_CHARS: Final = 36
_PREFIX: Final = re.compile(r"[0-9a-f-]{4,36}")
_SHOWN_SIMILAR: Final = 5


async def show_fact(settings: Settings, output: Output, fact_id: str) -> Exit:
    """Show one fact; the beginning of its id is enough where no other fact begins so."""
    _check(fact_id)
    async with connect(settings, Part.STORED_KNOWLEDGE) as suite:
        found = await _get(suite, await fact_id_of(suite, fact_id))
        fact = found.fact
        asked = knowledge.GetSourceRequest(source_id=fact.source_id)
        source = (await suite.call(suite.knowledge.GetSource, asked)).source
    output.say(fact.content, style="bold")
    rows = [
        ("document", source.title or source.uri),
        ("where", where(fact.source_location) or "-"),
        *_standing(found),
        ("uri", source.uri),
        ("status", render.coloured(enum_text(ckf.FactStatus, fact.status))),
        *_times(fact),
        ("importance", f"{fact.importance_weight:.2f}"),
        ("ingested (UTC)", f"{fact.ingested_at.ToDatetime():%Y-%m-%d %H:%M}"),
        ("fact id", fact.fact_id),
        ("source id", fact.source_id),
    ]
    output.table("", ("what", "value"), rows)
    shown = {name: value for name, value in render.response_json(found).items() if name != "fact"}
    output.result({"fact": render.response_json(fact), "source": render.response_json(source), **shown})
    return Exit.OK


def _times(fact: ckf.Fact) -> list[tuple[str, str]]:
    """Return what there is to tell of when a fact holds (ADR 0109)."""
    rows = (
        [("why", enum_text(ckf.StaleReason, fact.stale_reason).lower().replace("_", " "))] if fact.stale_reason else []
    )
    if fact.HasField("superseded_at"):
        rows.append(("superseded (UTC)", f"{fact.superseded_at.ToDatetime():%Y-%m-%d %H:%M}"))
    if fact.HasField("valid_from"):
        rows.append(("valid from", f"{fact.valid_from.ToDatetime():%Y-%m-%d}"))
    if fact.HasField("valid_to"):
        rows.append(("valid until", f"{last_day(fact.valid_to.ToDatetime()):%Y-%m-%d}"))
    return rows


def _standing(found: knowledge.GetFactResponse) -> list[tuple[str, str]]:
    """Return where a fact stands in the original, and what stands around it."""
    place, rows = found.place, []
    if found.kind:
        rows.append(("kind", enum_text(reading.FactKind, found.kind).lower().replace("_", " ")))
    if place.page:
        rows.append(("page", str(place.page)))
    if place.HasField("box"):
        box = place.box
        rows.append(("box (% of the page)", f"{box.left:.0%}, {box.top:.0%} to {box.right:.0%}, {box.bottom:.0%}"))
    if place.path:
        rows.append(("in the original", place.path))
    if place.table:
        cells = f"rows {place.first_row}-{place.last_row}, columns {place.first_column}-{place.last_column}"
        rows.append(("table", f"{place.table}, {cells}"))
    if found.HasField("section"):
        rows.append(("section", str(found.section + 1)))
        rows.append(("previous fact", found.previous_fact_id or "-"))
        rows.append(("next fact", found.next_fact_id or "-"))
    return rows


def _check(fact_id: str) -> None:
    if not _PREFIX.fullmatch(fact_id):
        raise InvalidRequestError.of(FieldViolation("ID", "must be a fact's id, or its first 4 or more characters"))


async def fact_id_of(suite: Suite, fact_id: str) -> str:
    """Return the whole id of the fact that is meant.

    Args:
        suite: where the facts are.
        fact_id: an id, or its beginning, as answers print it.

    Raises:
        NotFoundError: FACT_NOT_FOUND.
        InvalidRequestError: INVALID_FIELD: it is neither, or several begin so.
    """
    _check(fact_id)
    if len(fact_id) == UUID_CHARS:
        return fact_id
    request = knowledge.ListFactsRequest(fact_id_prefix=fact_id, page_size=_SHOWN_SIMILAR + 1)
    facts: list[ckf.Fact] = list((await suite.call(suite.knowledge.ListFacts, request)).facts)
    if not facts:
        raise NotFoundError(ErrorReason.FACT_NOT_FOUND, f"no fact's id begins with {fact_id}", fact_id=fact_id)
    if len(facts) > 1:
        named = ", ".join(fact.fact_id for fact in facts[:_SHOWN_SIMILAR])
        more = " and more" if len(facts) > _SHOWN_SIMILAR else ""
        raise InvalidRequestError.of(FieldViolation("ID", f"several facts begin with {fact_id}: {named}{more}"))
    return facts[0].fact_id


async def _get(suite: Suite, fact_id: str) -> knowledge.GetFactResponse:
    found: knowledge.GetFactResponse = await suite.call(
        suite.knowledge.GetFact, knowledge.GetFactRequest(fact_id=fact_id)
    )
    return found
