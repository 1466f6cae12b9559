"""How a document was read, as people see it: what to look at before it is trusted (ADR 0113)."""

from collections.abc import Mapping
from typing import Final

from crp.ckf.v1 import ingestion_pb2 as reading

from services.cli.console import Output
from services.cli.words import enum_text, where
from services.common.counting import counted

_SHOWN: Final = 5
"""So many of each list are shown; --json has them all."""
_SHORT: Final = 160


def show_report(
    name: str, report: reading.IngestionReport, output: Output, sources: Mapping[str, str] | None = None
) -> None:
    """Show the counts, and the first of everything that is worth a look.

    Args:
        name: of the document.
        report: how it was read.
        output: where to.
        sources: what other sources are called, by their ids.
    """
    called = sources or {}
    kinds = ", ".join(_counted_kind(one) for one in report.kinds)
    languages = ", ".join(f"{_LANGUAGES.get(one.language, one.language)} {one.fact_count}" for one in report.languages)
    declared = f" (declared {report.declared_language})" if report.declared_language else ""
    rows = [
        ("read as", report.media_type + (f", {counted(report.page_count, 'page')}" if report.page_count else "")),
        ("facts", f"{report.fact_count}: {kinds}" if kinds else str(report.fact_count)),
        ("fragments", f"{report.fragment_count} ({report.fragment_ratio:.1%})"),
        ("languages", languages + declared),
        ("suspect tables", str(report.doubtful_table_count)),
        ("hidden text", str(report.hidden_text_count)),
        ("speaks to a model", str(report.suspected_instruction_count)),
        ("stays out", f"{report.furniture_count} (running heads, feet and the like)"),
        ("also elsewhere", str(report.duplicate_count) if report.compared else "not compared"),
        ("other values", str(report.disagreement_count) if report.compared else "not compared"),
    ]
    output.table(name, ("what", "found"), rows)
    _list(
        "Suspect tables",
        [f"{one.caption or 'a table'}: {one.why}{_at(one.place)}" for one in report.doubtful_tables],
        output,
    )
    _list("Hidden, left out", [f"{one.text} ({one.why}{_at(one.place)})" for one in report.hidden_texts], output)
    speaking = [
        f"{one.text} ({one.why}; {'hidden, left out' if one.hidden else 'a fact'}{_at(one.place)})"
        for one in report.suspected_instructions
    ]
    _list("Speaks to a model", speaking, output)
    same = [f"{one.content} [{called.get(one.other_source_id, one.other_source_id)}]" for one in report.duplicates]
    _list("Also in other sources", same, output, whole=True)
    apart = [
        f"{one.value} here, {one.other_value} in {called.get(one.other_source_id, one.other_source_id)}: {one.content}"
        for one in report.disagreements
    ]
    _list("Other values elsewhere", apart, output, whole=True)
    _list("Stays out", list(report.furniture), output)
    for warning in report.warnings:
        output.say(warning, style="yellow")


def show_facts(facts: list[reading.PreviewedFact], total: int, output: Output) -> None:
    """Show some of a document's facts."""
    rows = [
        (
            one_line(one.content),
            _kind(one.kind) + (", fragment" if one.fragment else ""),
            enum_text(reading.FactChange, one.change).lower(),
            where(one.source_location),
        )
        for one in facts
    ]
    output.table(f"Facts ({len(facts)} of {total})", ("fact", "kind", "would be", "where"), rows)


def one_line(text: str) -> str:
    """Return a text as one line, whole: what is to be checked is not cut."""
    return " ".join(text.split())


def _shortened(text: str) -> str:
    """Return a text as one line that is not long."""
    line = one_line(text)
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"


_LANGUAGES: Final = {"und": "not known"}


def _counted_kind(one: reading.KindCount) -> str:
    name = _kind(one.kind)
    return counted(one.fact_count, name, _PLURALS.get(name, ""))


_PLURALS: Final = {"code": "code", "boilerplate": "boilerplate"}


def _kind(kind: int) -> str:
    return enum_text(reading.FactKind, kind).lower().replace("_", " ")


def _at(place: reading.FactPlace) -> str:
    parts = [f"p. {place.page}" if place.page else "", place.path]
    text = ", ".join(part for part in parts if part)
    return f", {text}" if text else ""


def _list(title: str, lines: list[str], output: Output, *, whole: bool = False) -> None:
    if lines:
        output.say(title, style="bold")
        for line in lines[:_SHOWN]:
            output.say(f"  {one_line(line) if whole else _shortened(line)}")
        if len(lines) > _SHOWN:
            output.say(f"  and {len(lines) - _SHOWN} more (--json)", style="dim")
