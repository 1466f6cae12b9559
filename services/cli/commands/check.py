"""``groundtrail check``: an answer against documents or facts, without a session and without a store (ADR 0098)."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from groundtrail import Claim, Document, Fact
from groundtrail.sources import Source

from services.allinone.check import Checker, in_force, open_checker
from services.allinone.check_result import PolicedResult
from services.cli.commands.ingest import documents
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.opinions import opinion_line
from services.cli.reasons import level_reasons, score_of
from services.cli.render import response_json, style_of
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings
from services.common.taxonomy import RiskLevel

STANDARD_INPUT: Final = "-"
_EXITS: Final = {
    RiskLevel.LOW: Exit.OK,
    RiskLevel.MEDIUM: Exit.RISK_MEDIUM,
    RiskLevel.HIGH: Exit.RISK_HIGH,
    RiskLevel.CRITICAL: Exit.RISK_CRITICAL,
}


@dataclass(frozen=True, slots=True)
class CheckWish:
    """What the command line asks.

    Attributes:
        answer: a file, or ``-`` for standard input.
        paths: documents, or folders of them.
        facts: texts of single facts.
        fail_on: the least level that the exit code tells.
    """

    answer: str
    paths: tuple[Path, ...]
    facts: tuple[str, ...] = ()
    question: str = ""
    policy: str = ""
    earlier: tuple[Path, ...] = ()
    fail_on: str = RiskLevel.MEDIUM


def exit_of_result(result: PolicedResult, fail_on: RiskLevel) -> Exit:
    """Return 3 for an answer that the policy withholds, else the code of the level, 0 below ``fail_on``."""
    if result.policy is not None and result.policy.halt_reason:
        return Exit.VERDICT
    return _EXITS[RiskLevel(result.level)] if result.level.rank >= fail_on.rank else Exit.OK


async def check(settings: Settings, output: Output, wish: CheckWish) -> Exit:
    """Check and show."""
    in_force(wish.policy)  # a policy that cannot be read is told before models are loaded
    sources = await asyncio.to_thread(_sources, wish)
    answer = await asyncio.to_thread(_text, "--answer", wish.answer)
    earlier = [await asyncio.to_thread(_text, "--earlier", str(path)) for path in wish.earlier]
    async with _checker(settings) as checker:
        result = await checker.check(answer, sources, wish.question, policy=wish.policy, earlier_answers=earlier)
    show(result, output)
    output.result(document_of(result))
    return exit_of_result(result, RiskLevel(wish.fail_on))


@asynccontextmanager
async def _checker(settings: Settings) -> AsyncIterator[Checker]:
    """Check on the server that the settings name, else in this process, where nothing but the models is opened."""
    if not settings.client.server:
        async with open_checker(settings) as checker:
            yield checker
        return
    async with connect(settings) as suite:
        yield Checker(lambda request: suite.call(suite.provenance.Check, request))


def _sources(wish: CheckWish) -> Sequence[Source]:
    if not wish.paths and not wish.facts:
        text = "name at least one document, or a fact with --fact"
        raise InvalidRequestError.of(FieldViolation("--facts", text))
    files = documents(wish.paths, "--facts") if wish.paths else []
    return [*map(Fact, wish.facts), *(Document(name, _bytes("--facts", path)) for path, name in files)]


def _text(option: str, named: str) -> str:
    is_piped = option == "--answer" and named == STANDARD_INPUT
    data = sys.stdin.buffer.read() if is_piped else _bytes(option, Path(named))
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InvalidRequestError.of(FieldViolation(option, f"{named} is not UTF-8 text")) from None


def _bytes(option: str, path: Path) -> bytes:
    """Return a file; one that cannot be read is wrong input (exit code 2), and no level was found."""
    try:
        return path.read_bytes()
    except OSError as error:
        hint = "" if option != "--answer" or " " not in str(path) else f"; a text is piped to it with {STANDARD_INPUT}"
        text = f"{path} cannot be read: {error.strerror or 'unknown'}{hint}"
        raise InvalidRequestError.of(FieldViolation(option, text)) from None


def show(result: PolicedResult, output: Output) -> None:
    """Show first the line that matters, then each claim with the sentence that decided."""
    score = "" if (found := score_of(result.response.report)) is None else f" {found:.2f}"
    judged = result.judged
    held = sum(claim.verdict == "SUPPORTED" for claim in judged)
    kinds = f" · {', '.join(result.findings)}" if result.findings else ""
    claims = f"{held} of {counted(len(judged), 'claim')} supported" if judged else "no claim could be judged"
    output.say(f"{result.level}{score} · {claims}{kinds}", style=style_of(result.level))
    for reason in islice(level_reasons(result.response.report), _REASONS):
        output.say(f"  {reason}", style="dim")
    if told := opinion_line(result.response.report):
        output.say(told, style="dim")
    for claim in judged:
        output.say("")
        output.say(f"{claim.claim_id} {claim.text}", style="bold")
        output.say(claim.why, style=style_of(claim.verdict))
        for line in _quotes(claim):
            output.say(line, style="dim")
    if result.policy is not None:
        for finding in result.policy.findings:
            word = "halts" if finding.halts else "warns"
            output.say(f"policy {word}: {finding.directive}: {finding.description}", style="yellow")
        if result.policy.halt_reason:
            output.say(f"withheld: {result.policy.halt_reason}", style=style_of("CRITICAL"))
    for warning in result.warnings:
        output.say(f"warning: {warning}", style="yellow")


_REASONS: Final = 3
"""What raised the level, at most."""
_QUOTE_CHARS: Final = 240


def _quotes(claim: Claim) -> list[str]:
    """Return the words that decided, but for a quotation, which stands above."""
    if claim.basis == "QUOTATION":
        return []
    quotes = [" ".join(one.words.split()) for one in claim.quotes[:1]]
    return [f"  “{text}”" if len(text) <= _QUOTE_CHARS else f"  “{text[:_QUOTE_CHARS]}…”" for text in quotes]


def document_of(result: PolicedResult) -> dict[str, Any]:
    """Return what ``--json`` prints: the result, and the whole report under ``response``."""
    return {
        "level": str(result.level),
        "composite_score": result.composite,
        "judged_score": result.score,
        "supported": result.supported,
        "claims": [_claim_json(claim) for claim in result.claims],
        "findings": list(result.findings),
        "warnings": list(result.warnings),
        "policy": None if result.policy is None else asdict(result.policy),
        "response": response_json(result.response),
    }


def _claim_json(claim: Claim) -> dict[str, Any]:
    quotes = [
        {"fact_id": one.fact_id, "title": one.title, "location": one.location, "quote": one.words}
        for one in claim.quotes
    ]
    return {
        "text": claim.text,
        "start": claim.start,
        "end": claim.end,
        "kind": claim.kind,
        "verdict": claim.verdict,
        "basis": claim.basis,
        "why": claim.why,
        "support": claim.support,
        "evidence": quotes,
        "claim_id": claim.claim_id,
    }
