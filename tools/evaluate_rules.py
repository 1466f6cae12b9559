"""Measure rules on hand-written sets, both halves apart: those of stages 1 and 3b, or the decomposition of queries.

    python -m tools.evaluate_rules [claims | decomposition | pairs | precision] [--save] [--mistakes]

``pairs`` runs the whole engine over the development half of the minimal pairs. ``precision`` says how often each rule
of stage 3b is right on these and on both halves of the corpus' train part, near to its source and away from it, without
encoders; its mistakes are those of the first half. Needs no data but the repository's.
Mistakes are shown of the tuning half alone: rules are never fitted to the other.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from evaluation.decomposition import HALVES, decomposition_table, missed
from evaluation.encoder_memory import DEFAULT_FILE
from evaluation.labelled_answers import (
    TUNING,
    LabelledAnswer,
    LabelledDistortion,
    read_answers,
    read_distortions,
)
from evaluation.rule_precision import Part, find, open_rules, precision_tables, read_asked, wrong_findings
from evaluation.rule_worth import judge, kinds_table, neighbours_table, rules_table
from evaluation.rules import (
    ClaimScores,
    DistortionScores,
    Score,
    cut_by_people,
    cut_by_rules,
    found_distortions,
    measure_claims,
    measure_distortions,
)
from evaluation.tables import Table
from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.settings import load_settings
from services.common.settings.inference import InferenceSettings
from services.dpe.domain.findings import DistortionType

PAGE: Final = Path("docs/rules.md")
DECOMPOSITION_PAGE: Final = Path("docs/decomposition.md")
_SECTION: Final = re.compile(r"^<!-- begin (?P<table>\S+) -->$.*?^<!-- end (?P=table) -->$", re.MULTILINE | re.DOTALL)
_NONE: Final = "-"
_BOTH: Final = "both"
_DEVELOPMENT: Final = "development"


def claim_table(scores: Sequence[ClaimScores]) -> Table:
    """Return a row for each half."""
    kinds = list(scores[0].types)
    rows = tuple(
        (
            one.half,
            str(one.sentences),
            str(one.claims),
            _figure(one.boundaries.f1),
            _figure(one.one_claim_a_sentence.f1),
            _figure(one.type_macro_f1),
            *(_figure(one.types[kind].f1) for kind in kinds),
            _figure(one.whole_macro_f1),
        )
        for one in scores
    )
    columns = (
        "half", "sentences", "claims", "boundary F1", "one claim a sentence", "type macro-F1",
        *(f"F1 {kind}" for kind in kinds), "macro-F1, boundary and type",
    )  # fmt: skip
    return Table("claims", "Claims: boundaries and types", columns, rows)


def distortion_table(scores: Sequence[DistortionScores]) -> Table:
    """Return a row for each type with precision and recall on both halves."""
    rows = [(str(kind), [one.by_type[kind] for one in scores]) for kind in DistortionType]
    rows.append(("any type", [one.any_type for one in scores]))
    columns = ["type"]
    for one in scores:
        columns += [f"{one.half}: pairs with it", f"{one.half}: precision", f"{one.half}: recall"]
    texts = tuple((name, *(text for score in each for text in _row(score))) for name, each in rows)
    return Table("distortion", "Distortions by type", tuple(columns), texts)


def _row(score: Score) -> tuple[str, str, str]:
    return str(score.right + score.missed), _figure(score.precision), _figure(score.recall)


def _figure(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def rewritten(page: str, tables: Sequence[Table]) -> str:
    """Return the page with the tables between its markers."""
    known: dict[str, Table] = {table.name: table for table in tables}

    def section(match: re.Match[str]) -> str:
        name = match["table"]
        if name not in known:
            return match.group()
        return f"<!-- begin {name} -->\n\n{known[name].markdown()}\n\n<!-- end {name} -->"

    return _SECTION.sub(section, page)


def mistakes(
    answers: Sequence[LabelledAnswer],
    pairs: Sequence[LabelledDistortion],
    found: Sequence[frozenset[DistortionType]],
) -> list[str]:
    """Return one line for each mistake on the tuning half."""
    lines: list[str] = []
    for answer in answers:
        if answer.half == TUNING:
            expected, cut = set(cut_by_people(answer)), set(cut_by_rules(answer.text))
            lines += [f"{answer.number} missed {kind} {answer.text[a:b]!r}" for a, b, kind in sorted(expected - cut)]
            lines += [f"{answer.number} wrong {kind} {answer.text[a:b]!r}" for a, b, kind in sorted(cut - expected)]
    for pair, types in zip(pairs, found, strict=True):
        if pair.half == TUNING and types != pair.labels:
            lines.append(
                f"{pair.number} expected {_names(pair.labels)}, found {_names(types)}: {pair.fact} -> {pair.answer}"
            )
    return lines


def _names(types: frozenset[DistortionType]) -> str:
    return ",".join(sorted(types)) or _NONE


async def _measure() -> tuple[list[LabelledAnswer], list[LabelledDistortion], list[frozenset[DistortionType]]]:
    answers, pairs = read_answers(), read_distortions()
    recognizer = await open_recognizer(InferenceSettings())
    try:
        return answers, pairs, await found_distortions(recognizer, pairs)
    finally:
        await recognizer.close()


def _claims(*, with_mistakes: bool) -> tuple[list[Table], list[str]]:
    answers, pairs, found = asyncio.run(_measure())
    tables = [claim_table(measure_claims(answers)), distortion_table(measure_distortions(pairs, found))]
    return tables, mistakes(answers, pairs, found) if with_mistakes else []


def _pairs() -> list[Table]:
    judged, compared = asyncio.run(judge())
    return [rules_table(judged), kinds_table(judged), neighbours_table(compared)]


async def _precision(*, with_mistakes: bool) -> tuple[list[Table], list[str]]:
    async with open_rules(load_settings(), DEFAULT_FILE) as checker:
        found = await find(read_asked(), checker)
    wrong = wrong_findings(found, Part.FIRST) if with_mistakes else []
    return precision_tables(found), [json.dumps(one, ensure_ascii=False) for one in wrong]


def _decomposition(half: str, *, with_mistakes: bool) -> tuple[list[Table], list[str]]:
    table = decomposition_table(list(HALVES) if half == _BOTH else [half])
    return [table], missed(_DEVELOPMENT) if with_mistakes else []


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tools.evaluate_rules", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "what",
        nargs="?",
        choices=("claims", "decomposition", "pairs", "precision"),
        default="claims",
        help="which rules",
    )
    parser.add_argument("--half", choices=(_BOTH, _DEVELOPMENT), default=_BOTH, help="of the queries to decompose")
    parser.add_argument("--save", action="store_true", help="write the tables into the rules' page")
    parser.add_argument("--mistakes", action="store_true", help="show the mistakes on the tuning half")
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    options = parser.parse_args()
    if options.save and options.half != _BOTH:
        parser.error("a page holds both halves: leave out --half, or --save")
    if options.what == "claims":
        page, (tables, lines) = PAGE, _claims(with_mistakes=options.mistakes)
    elif options.what == "pairs":
        page, (tables, lines) = PAGE, (_pairs(), [])
    elif options.what == "precision":
        page, (tables, lines) = PAGE, asyncio.run(_precision(with_mistakes=options.mistakes))
    else:
        page, (tables, lines) = DECOMPOSITION_PAGE, _decomposition(options.half, with_mistakes=options.mistakes)
    if lines:
        print("\n".join(lines))
    if options.json:
        document: dict[str, Any] = {
            table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows] for table in tables
        }
        print(json.dumps(document, indent=2))
    else:
        for table in tables:
            table.show(Console(width=180))
    if options.save:
        page.write_text(rewritten(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
