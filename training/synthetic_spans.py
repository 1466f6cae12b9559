"""Claims with marked mistakes, made from supported claims of the reported fold: a program changes one thing in each.

The same generators made the rows that the span head learnt from, so these figures say how well it does on new texts
with mistakes of known kinds, and nothing about the mistakes that language models make. Their sets are named
``synthetic``; each supported claim comes twice, as it was and changed.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from evaluation.labelled import LabelledClaim
from services.common.grounding.statements import SHORT_ANSWER_WORDS
from training.contrasts import BREAKING, Scene, applied, chosen
from training.contrasts.clauses import harvest
from training.contrasts.names import by_kind
from training.seeds import generator

SYNTHETIC: Final = "synthetic"
SEED: Final = 20


def synthetic_claims(claims: Sequence[LabelledClaim], limit: int | None, seed: int = SEED) -> list[LabelledClaim]:
    """Return supported claims and their changed twins, ``limit`` pairs at most; the same for the same claims and seed.

    Short answers are left out (there is too little to change in them), and so are claims in which no generator finds
    anything.
    """
    choice = generator(seed, "evaluation")
    passages = list(dict.fromkeys(passage for claim in claims for passage in claim.passages))
    names, clauses = by_kind(passages), harvest(passages)
    found: list[LabelledClaim] = []
    for claim in claims:
        if limit is not None and len(found) >= 2 * limit:
            break
        if not claim.supported or len(claim.claim.split()) <= SHORT_ANSWER_WORDS:
            continue
        change = chosen(BREAKING, claim.claim, Scene("\n".join(claim.passages), names, clauses), choice)
        if change is None:
            continue
        text, spans = applied(claim.claim, change)
        # A change that only takes something away leaves no text to mark.
        if spans:
            found.append(replace(claim, dataset=SYNTHETIC, spans=()))
            found.append(replace(claim, dataset=SYNTHETIC, claim=text, supported=False, spans=spans))
    return found
