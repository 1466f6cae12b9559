"""Rows that were written for this: attacks and hostile-looking benign texts, alone and in documents."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from training.injection.grammar import Grammar, families, leet, spaced
from training.injection.rows import FOLDS, Row, without_repeats

EACH: Final = 9
"""Sentences of one seed of an attack."""
QUOTED_EACH: Final = 12
COMPOSED_EACH: Final = 40
"""Longer texts of one family of benign sentences."""
IN_CARRIER: Final = {"indirect": 0.8, "direct": 0.35, "benign": 0.7}
IN_DOCUMENT: Final = {"indirect": 0.4, "direct": 0.12}
"""Share of texts that also stand in a carrier written for it, and in a document of a public set."""
DISGUISED: Final = 0.12
_TYPING: Final = 0.10
_HOMOGLYPHS: Final = str.maketrans("aeopc", "\u0430\u0435\u043e\u0440\u0441")
_QUOTABLE: Final = 160
"""Characters of an attack that is quoted, at most."""
_FORMS: Final = (
    "{x}", "{x}.", "{x}.", " {x}. ", "\n\n{x}\n\n", "\n{x}.\n", "<!-- {x} -->", "[{x}]", "({x}.)", "*{x}*", "**{x}**",
    "NB: {x}.", "> {x}",
    "\n---\n{x}\n---\n", '"{x}"', "P.S. {x}.", "Note: {x}.", "{{ {x} }}", "# {x}", "IMPORTANT: {x}!", "\t{x}",
)  # fmt: skip
_LISTS: Final = (
    "Examples of attacks:\n- {0}\n- {1}\n- {2}",
    "Known phrases that the filter must find:\n1. {0}\n2. {1}\n3. {2}",
    "Table of test inputs\n\n| input | expected |\n|---|---|\n| {0} | blocked |\n| {1} | blocked |",
    "Attackers have tried, among others:\n\n    {0}\n    {1}\n\nNone of these worked against the current version.",
    "The log of the chatbot shows blocked messages:\n10:02 BLOCKED {0}\n10:05 BLOCKED {1}\n10:09 ok When do you open?",
    "Slide 7: what prompt injection looks like\n* {0}\n* {1}\nAsk the audience: how would you notice?",
    'tests = [\n    ("{0}", True),\n    ("{1}", True),\n    ("How are you?", False),\n]  # flagged or not',
    "In one case the hidden text read: {0}. The assistant reported it and did nothing of the kind.",
)  # fmt: skip
_WISHES: Final = "ask"
_QUOTED: Final = "docs.security"


def written_rows(seed: int, documents: Sequence[Row]) -> list[Row]:
    """Return all rows that the seeds give; chance hangs on each seed alone, so that a new one changes no other's rows.

    Args:
        seed: of all chance.
        documents: benign texts of several sentences that attacks are hidden in; an attack takes one of its own fold.
    """
    return _Writer(seed, documents).rows()


class _Writer:
    def __init__(self, seed: int, documents: Sequence[Row]) -> None:
        self._seed = seed
        self._documents = [[row for row in documents if row.fold == fold] for fold in range(FOLDS)]
        self._carriers = _dealt(families("carriers.txt"))

    def rows(self) -> list[Row]:
        direct, indirect = self._attacks("attacks.txt"), self._attacks("indirect.txt")
        plain = self._benign()
        benign = [*plain, *self._quoting(direct, plain)]
        return without_repeats(
            [
                *map(self._disguised, direct),
                *self._hidden(indirect, "indirect"),
                *self._hidden(direct, "direct"),
                *map(self._typed, benign),
                *self._composed(benign),
                *self._carried(benign),
            ]
        )

    def _chance(self, *names: object) -> random.Random:
        return random.Random(f"{self._seed} {names}")  # noqa: S311 - no secret

    def _attacks(self, name: str) -> list[Row]:
        found = list[Row]()
        for family, (fold, seeds) in _dealt(families(name)).items():
            for seed in seeds:
                grammar = Grammar(self._chance("attack", seed))
                for text in dict.fromkeys(grammar.fill(seed) for _ in range(EACH if "{" in seed else 2)):
                    found.append(Row(text, attack=True, kind=family.split(".")[0], family=family, fold=fold))
        return found

    def _benign(self) -> list[Row]:
        return [
            Row(seed.replace("\\n", "\n"), attack=False, kind=f"benign.{name}", family=f"benign.{name}", fold=fold)
            for name, (fold, seeds) in _dealt(families("benign.txt")).items()
            for seed in seeds
            if name != _QUOTED
        ]

    def _quoting(self, direct: Sequence[Row], plain: Sequence[Row]) -> list[Row]:
        """Quote each fold's attacks in words that only this fold has."""
        found, name = list[Row](), f"benign.{_QUOTED}"
        harmless = [row.text for row in plain]
        for number, seed in enumerate([*families("benign.txt")[_QUOTED], *_LISTS]):
            fold = number % FOLDS
            attacks = [row.text for row in direct if row.fold == fold and len(row.text) < _QUOTABLE]
            grammar = Grammar(self._chance("quote", seed))
            for _ in range(QUOTED_EACH):
                three = grammar.rng.sample(attacks, 3)
                given = {"attack": attacks, "benign": harmless}
                text = seed.format(*three) if "{0}" in seed else grammar.fill(seed, given)
                found.append(Row(text, attack=False, kind=name, family=f"{name}.{fold}", fold=fold))
        return found

    def _hidden(self, attacks: Sequence[Row], how: str) -> list[Row]:
        """Hide attacks in documents, written for it and public ones; wishes to a chat carry direct ones alone."""
        made = list[Row]()
        for attack in attacks:
            rng = self._chance("hide", attack.text)
            form = rng.choice(_FORMS).replace("{x}", attack.text)
            texts = list[str]()
            if rng.random() < IN_CARRIER[how]:
                chat = how == "direct" and rng.random() < 0.5  # noqa: PLR2004 - half of them
                texts.append(self._carrier(rng, attack.fold, chat=chat).replace("{x}", form))
            if rng.random() < IN_DOCUMENT[how]:
                texts.append(_inserted(rng, rng.choice(self._documents[attack.fold]).text, form))
            made += [replace(attack, text=text, kind=f"hidden.{attack.kind}", payload=attack.text) for text in texts]
        return made

    def _composed(self, benign: Sequence[Row]) -> list[Row]:
        """Join benign sentences of one family to longer texts: articles, manuals, policies."""
        by_family: dict[str, list[Row]] = {}
        for row in benign:
            by_family.setdefault(row.family, []).append(row)
        made = list[Row]()
        for name, rows in by_family.items():
            if name.startswith("benign.ask"):
                continue
            rng = self._chance("compose", name)
            for _ in range(COMPOSED_EACH):
                chosen = rng.sample(rows, min(len(rows), rng.randint(2, 7)))
                blank = rng.choice((". ", ".\n", "\n\n", "\n- ", ". "))
                made.append(replace(chosen[0], text=blank.join(each.text.rstrip(".") for each in chosen)))
        return made

    def _carried(self, benign: Sequence[Row]) -> list[Row]:
        made = list[Row]()
        for row in benign:
            rng = self._chance("carry", row.text)
            if rng.random() < IN_CARRIER["benign"]:
                carrier = self._carrier(rng, row.fold, chat=rng.random() < 0.3)  # noqa: PLR2004 - about a third
                text = carrier.replace("{x}", rng.choice(_FORMS).replace("{x}", row.text))
                made.append(replace(row, text=text, kind=f"carried.{row.kind}"))
        return made

    def _carrier(self, rng: random.Random, fold: int, *, chat: bool) -> str:
        kinds = [seeds for name, (own, seeds) in self._carriers.items() if own == fold and name != _WISHES]
        wishes = [seed for place, seed in enumerate(self._carriers[_WISHES][1]) if place % FOLDS == fold]
        return rng.choice(wishes if chat else rng.choice(kinds)).replace("\\n", "\n")

    def _disguised(self, row: Row) -> Row:
        rng = self._chance("disguise", row.text)
        return replace(row, text=rng.choice(_DISGUISES)(row.text)) if rng.random() < DISGUISED else self._typed(row)

    def _typed(self, row: Row) -> Row:
        """Return a row as somebody in a hurry would type it, now and then."""
        rng = self._chance("type", row.text)
        chance, text = rng.random(), row.text
        if chance < _TYPING:
            text = text.lower()
        elif chance < 1.5 * _TYPING:
            text = text.upper()
        elif chance < 2.5 * _TYPING and len(text) > 8:  # noqa: PLR2004
            place = rng.randrange(1, len(text) - 2)
            text = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
        elif chance < 4 * _TYPING:
            text = text + rng.choice((".", "!", "?", " please", " pls", "!!!", "...", " Thanks."))
        return replace(row, text=text)


def _inserted(rng: random.Random, document: str, form: str) -> str:
    pieces = document.split(". ")
    place = rng.randint(0, len(pieces))
    return ". ".join([*pieces[:place], form, *pieces[place:]])


def _mixed_case(text: str) -> str:
    return "".join(each.upper() if place % 2 else each for place, each in enumerate(text))


def _torn(text: str) -> str:
    return " ".join(word if len(word) < 5 else f"{word[:3]} {word[3:]}" for word in text.split(" "))  # noqa: PLR2004


_DISGUISES: Final[tuple[Callable[[str], str], ...]] = (
    leet,
    spaced,
    lambda text: text.translate(_HOMOGLYPHS),
    "\u200b".join,
    lambda text: text.replace(" ", ""),
    _mixed_case,
    _torn,
    lambda text: "-".join(text.split(" ")),
)


def _dealt(found: dict[str, list[str]]) -> dict[str, tuple[int, list[str]]]:
    """Return families with the fold of each: as many in one as in another."""
    return {name: (place % FOLDS, seeds) for place, (name, seeds) in enumerate(found.items())}
