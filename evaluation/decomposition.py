"""How often query decomposition gives exactly the sub-queries that a reader expects (SPEC-003 §5.2 step 1.1)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation.tables import Table
from services.common.questions.decomposition import cut
from services.common.questions.intent import Intent, intent_of

FOLDER: Final = Path("tests/vectors/envelope/decomposition")
HALVES: Final = {"development": "development.json", "held back": "held_back.json"}
ALL: Final = "all"
_INTENTS: Final = {"comparison": Intent.COMPARE, "plain": Intent.SIMPLE}
"""What a query of a kind asks to be done; of every other kind several things."""


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A query with the sub-queries that were expected of it."""

    number: int
    kind: str
    query: str
    sub_queries: tuple[str, ...]

    @property
    def is_met(self) -> bool:
        """Say whether the rules give just these, in this order; case and white space do not count."""
        return _plain(cut(self.query)) == _plain(self.sub_queries)

    @property
    def is_meant(self) -> bool:
        """Say whether what the query asks to be done is found: a comparison, several things, or one."""
        return intent_of(self.query) is _INTENTS.get(self.kind, Intent.SEVERAL)

    @property
    def is_cut_as_expected(self) -> bool:
        """Say whether the rules at least agree whether it is one need or several."""
        return (len(cut(self.query)) > 1) == (len(self.sub_queries) > 1)


def read_queries(half: str) -> list[WrittenQuery]:
    """Return the queries of one half."""
    entries = json.loads((FOLDER / HALVES[half]).read_text(encoding="utf-8"))
    return [WrittenQuery(entry["id"], entry["kind"], entry["query"], tuple(entry["sub_queries"])) for entry in entries]


def decomposition_table(halves: Sequence[str]) -> Table:
    """Return a row for each half and kind, and one for each half."""
    rows: list[tuple[str, ...]] = []
    for half in halves:
        queries = read_queries(half)
        kinds = list(dict.fromkeys(query.kind for query in queries))
        for kind in (*kinds, ALL):
            of_kind = [query for query in queries if kind in {query.kind, ALL}]
            exact = sum(query.is_met for query in of_kind)
            agreed = sum(query.is_cut_as_expected for query in of_kind)
            meant = sum(query.is_meant for query in of_kind)
            shares = (f"{count / len(of_kind):.3f}" for count in (exact, agreed, meant))
            rows.append((half, kind, str(len(of_kind)), str(exact), *shares))
    columns = (
        "half",
        "kind",
        "queries",
        "exact",
        "exact-match rate",
        "one need or several: right",
        "intent: right",
    )
    return Table("decomposition", "Query decomposition", columns, tuple(rows))


def missed(half: str) -> list[str]:
    """Return two lines for each query of a half that the rules get wrong."""
    return [
        f"{query.number} {query.kind} {query.query!r}\n   expected {list(query.sub_queries)}, "
        f"found {list(cut(query.query))}"
        for query in read_queries(half)
        if not query.is_met
    ]


def _plain(texts: Sequence[str]) -> list[str]:
    return [" ".join(text.casefold().split()) for text in texts]
