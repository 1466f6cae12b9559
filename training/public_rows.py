"""Which rows of the public grounding sets are learnt from, and how often.

The sets are not concatenated: one is a quarter of all rows, and several can be guessed from the claim alone. Each set
is capped, its larger class is cut to a multiple of the smaller one, and of the rows whose label the claim gives away a
share is left out. Only rows of the fold ``fit`` and of a clear licence are taken.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from services.common.grounding.statements import statement
from training.claim_only import guesses
from training.rows import CheckedText, GroundingRow

CAP: Final = 1_200
CAPS: Final[Mapping[str, int]] = {
    "infotabs": 2_000,
    "paws": 2_000,
    "cuad_clauses": 1_800,
    "contract_nli": 1_500,
    "dialfact": 1_600,
    "defacto": 2_000,
    "cg2c_doc": 1_500,
    "citation_integrity": 1_000,
    "realsumm": 1_000,
    "xsumfaith": 600,
    "fib_swaps": 400,
}
"""Most rows of a set; what is not named has ``CAP``. Noisy sets and those of one class count for less."""
MAX_CLASS_RATIO: Final = 3.0
"""The larger class of a set has at most so many times the rows of the smaller one, where there are both."""
GIVEN_AWAY: Final = 0.8
"""From this likelihood of its own label by the claim alone a row teaches little about the context."""
KEPT_OF_GIVEN_AWAY: Final = 0.35
"""Share of such rows that stays."""


def chosen(rows: Sequence[CheckedText], choice: Random) -> list[CheckedText]:
    """Return the rows to learn from, set by set.

    Args:
        rows: of any fold and licence; those of the fold ``fit`` with a clear licence are chosen from.
        choice: decides every draw.
    """
    usable = [row for row in rows if row.fold == "fit" and row.clear and row.claim.strip() and any(row.context)]
    likely = guesses(usable)
    by_set: dict[str, list[CheckedText]] = defaultdict(list)
    for row, own in zip(usable, likely.tolist(), strict=True):
        if own < GIVEN_AWAY or choice.random() < KEPT_OF_GIVEN_AWAY:
            by_set[row.dataset].append(row)
    return [row for name in sorted(by_set) for row in _capped(by_set[name], CAPS.get(name, CAP), choice)]


def as_grounding(row: CheckedText) -> GroundingRow:
    """Return a row as the trainer takes it: its whole context, its claim as a statement, its spans moved along."""
    presented = statement(row.claim, row.query)
    spans: tuple[tuple[int, int], ...] | None = None
    if row.supported:
        spans = ()
    elif row.spans:
        spans = tuple((start + presented.claim_start, end + presented.claim_start) for start, end in row.spans)
    premise = "\n\n".join(row.context)
    return GroundingRow(premise, presented.text, row.supported, spans, f"more/{row.dataset}", row.query)


def _capped(rows: Sequence[CheckedText], cap: int, choice: Random) -> list[CheckedText]:
    classes = [[row for row in rows if row.supported is supported] for supported in (True, False)]
    smaller = min(map(len, classes))
    most = round(smaller * MAX_CLASS_RATIO) if smaller else cap
    kept = [row for there in classes for row in choice.sample(there, min(most, len(there)))]
    return choice.sample(kept, min(cap, len(kept)))
