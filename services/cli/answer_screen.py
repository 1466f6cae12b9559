"""A checked answer on the screen: first the line that matters, then the answer, its claims and where they stand.

An ordinary answer takes at most 40 lines of 80 columns; the answer itself is always whole. What is wrong is coloured
and, for those who see no colours, marked: ``>>3 years<<``. Everything is escaped by ``console``.
"""

from collections.abc import Container, Sequence
from typing import Final

from rich.text import Text

from services.cli.console import Output
from services.cli.render import style_of
from services.cli.told import Mark, Piece, Quote, ToldAnswer, ToldClaim

MAX_LINES: Final = 40
LEAST_CLAIM_LINES: Final = 9
"""So many lines are left to the claims, however long the answer is."""
_REASONS: Final = 3
_STYLES: Final = {
    Mark.CONTRADICTED: "bold red",
    Mark.UNSUPPORTED: "yellow",
    Mark.SUPERSEDED: "yellow",
    Mark.UNDECIDED: "yellow",
}
_INDENT: Final = 2
_WHY_LINES: Final = 3


def answer_lines(
    told: ToldAnswer, warnings: Sequence[str], tail: Sequence[str], output: Output, *, whole: bool = False
) -> list[Text]:
    """Return the lines of an answer.

    Args:
        told: what to tell.
        warnings: violations and warnings, the gravest first; always whole, for they say what to do.
        tail: what stands below: who wrote it, ids, how to go on; one line each.
        output: whose width holds.
        whole: every claim, however many there are.
    """
    head = [*output.folded([(" · ".join(told.headline), style_of(told.level))])]
    head += [line for text in warnings for line in output.folded([(f"! {text}", "yellow")])]
    head += _reasons(told, output)
    head += output.folded([(told.second_opinion, "dim")], most=2) if told.second_opinion else []
    if told.pieces:
        head += [Text(""), *output.folded(_answer_parts(told.pieces))]
    below = _omissions(told, output)
    below += [Text("")] if tail else []
    below += [line for text in tail for line in output.folded([(text, "dim")])]
    room = max(MAX_LINES - len(head) - len(below) - 2, LEAST_CLAIM_LINES)
    return [*head, *_claims(told.claims, output, 0 if whole else room), *below]


def _answer_parts(pieces: Sequence[Piece]) -> list[tuple[str, str]]:
    return [
        (piece.text, "bold") if piece.mark is None else (f">>{piece.text}<<", _STYLES[piece.mark]) for piece in pieces
    ]


def _reasons(told: ToldAnswer, output: Output) -> list[Text]:
    lines: list[Text] = []
    for text in told.reasons[:_REASONS]:
        lines += output.folded([(f"because {text}", "")], indent=_INDENT, most=2)
    for text in told.disagreements[:_REASONS]:
        lines += output.folded([(text, "yellow")], indent=_INDENT, most=2)
    for text in told.contradictions[:_REASONS]:
        lines += output.folded([(text, "red")], indent=_INDENT, most=3)
    for part in told.unanswered[:_REASONS]:
        lines += output.folded([(f"not answered: {part}", "yellow")], indent=_INDENT, most=1)
    return lines


def _claims(claims: Sequence[ToldClaim], output: Output, room: int) -> list[Text]:
    """Return the claims that a reader has to look at before the others, and how many found no room (0 = all)."""
    if not claims:
        return []
    ordered = sorted(claims, key=lambda claim: not claim.is_problem)
    lines: list[Text] = [Text("")]
    said: set[str] = set()
    for number, claim in enumerate(ordered):
        block = _claim(claim, said, output)
        if room and number and len(lines) + len(block) > room:
            left = len(ordered) - number
            lines += output.folded(
                [(f"and {left} more claim{'s' if left > 1 else ''}: groundtrail show REPORT", "dim")]
            )
            break
        lines += block
    return lines


def _claim(claim: ToldClaim, said: set[str], output: Output) -> list[Text]:
    """Return a claim's lines; of words that stand above already (``said``) the fact alone is named."""
    verdict = (f"{claim.verdict} ", style_of(claim.verdict))
    lines = output.folded([(f"{claim.claim_id} ", "dim"), verdict, (" ".join(claim.text.split()), "")], most=2)
    quoted = [quote for quote in claim.quotes if not _is_said(quote, claim, said)]
    if claim.why:
        facts = "".join(f" {quote.fact}" for quote in claim.quotes if quote not in quoted)
        why = [(claim.why, "red" if claim.is_problem else ""), (facts, "dim")]
        lines += output.folded(why, indent=_INDENT, most=_WHY_LINES)
    for quote in quoted:
        words = " ".join(quote.words.split())
        said.add(words)
        place = (
            quote.fact if quote.document and quote.document in claim.why else f"{quote.document} {quote.fact}".strip()
        )
        told = [(f"“{words}” " if words else "", "italic"), (f"— {place}", "dim")]
        lines += output.folded(told, indent=_INDENT, most=2)
    return lines


def _is_said(quote: Quote, claim: ToldClaim, said: Container[str]) -> bool:
    """Say whether a quote is the claim itself, or stands above already."""
    words = " ".join(quote.words.split())
    return not claim.is_problem and bool(claim.why) and (words in said or _same(words, claim.text))


def _same(words: str, claim: str) -> bool:
    return bool(words) and words.casefold().rstrip(".") == " ".join(claim.split()).casefold().rstrip(".")


def _omissions(told: ToldAnswer, output: Output) -> list[Text]:
    if not told.omitted_total:
        return []
    rest = told.omitted_total - len(told.omitted)
    more = f", the worst {len(told.omitted)}" if rest > 0 else ""
    lines = [Text(""), *output.folded([(f"left out of the answer: {told.omitted_total}{more}", "yellow")])]
    for severity, quote in told.omitted:
        words = f": “{' '.join(quote.words.split())}”" if quote.words else ""
        named = [(f"{severity} ", style_of(severity)), (f"{quote.document} {quote.fact}{words}".strip(), "")]
        lines += output.folded(named, indent=_INDENT, most=2)
    return lines
