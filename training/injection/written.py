"""Rows that were written for this: attacks and hostile-looking benign texts, alone and in documents."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from training.injection.grammar import Grammar, families, leet, spaced
from training.injection.rows import FOLDS, Row

DIRECT_EACH: Final = 9
INDIRECT_EACH: Final = 9
QUOTED_EACH: Final = 12
CARRIED: Final = 1800
CARRIED_BENIGN: Final = 1500
COMPOSED: Final = 900
IN_DOCUMENTS: Final = 1500
DISGUISED: Final = 0.12
_TYPING: Final = 0.10
_HOMOGLYPHS: Final = str.maketrans("aeopc", "аеорс")
_FORMS: Final = (
    "{x}", "{x}.", "{x}.", " {x}. ", "\n\n{x}\n\n", "\n{x}.\n", "<!-- {x} -->", "[{x}]", "({x}.)", "*{x}*", "**{x}**", "NB: {x}.",
    "> {x}", "\n---\n{x}\n---\n", '"{x}"', "P.S. {x}.", "Note: {x}.", "{{ {x} }}", "# {x}", "IMPORTANT: {x}!", "\t{x}",
)  # fmt: skip
_LISTS: Final = (
    "Examples of attacks:\n- {0}\n- {1}\n- {2}",
    "Known phrases that the filter must find:\n1. {0}\n2. {1}\n3. {2}",
    "Table of test inputs\n\n| input | expected |\n|---|---|\n| {0} | blocked |\n| {1} | blocked |",
    "Attackers have tried, among others:\n\n    {0}\n    {1}\n\nNone of these worked against the current version.",
    "The audit log of the chatbot shows blocked messages:\n10:02 BLOCKED {0}\n10:05 BLOCKED {1}\n10:09 ok What are your opening hours?",
    "Slide 7: what prompt injection looks like\n* {0}\n* {1}\nAsk the audience: how would you notice?",
    'tests = [\n    ("{0}", True),\n    ("{1}", True),\n    ("What is the weather like?", False),\n]  # inputs and whether the detector flags them',
    "In one case the hidden text read: {0}. The assistant reported it and did nothing of the kind.",
)  # fmt: skip
_DIRECT_CARRIERS: Final = "ask"
_QUOTED: Final = "docs.security"


def written_rows(seed: int, documents: Sequence[Row]) -> list[Row]:
    """Return all rows that the seeds give.

    Args:
        seed: of all chance.
        documents: benign texts of several sentences that attacks are hidden in; an attack takes one of its own fold.
    """
    return _Writer(random.Random(seed), documents).rows()  # noqa: S311 - no secret


class _Writer:
    def __init__(self, rng: random.Random, documents: Sequence[Row]) -> None:
        self._rng = rng
        self._grammar = Grammar(rng)
        self._documents = [[row for row in documents if row.fold == fold] for fold in range(FOLDS)]
        self._carriers = _dealt(families("carriers.txt"))

    def rows(self) -> list[Row]:
        direct = self._attacks("attacks.txt", DIRECT_EACH)
        indirect = self._attacks("indirect.txt", INDIRECT_EACH)
        benign = self._benign(direct)
        return [
            *map(self._disguised, direct),
            *self._in_carriers(indirect, direct),
            *self._in_documents(indirect, direct),
            *map(self._typed, benign),
            *self._composed(benign),
            *self._carried_benign(benign),
        ]

    def _attacks(self, name: str, each: int) -> list[Row]:
        found = dict[str, Row]()
        for family, (fold, seeds) in _dealt(families(name)).items():
            for seed in seeds:
                for _ in range(each if "{" in seed else 2):
                    text = self._grammar.fill(seed)
                    found[text] = Row(text, True, family.split(".")[0], family, fold)
        return list(found.values())

    def _benign(self, direct: Sequence[Row]) -> list[Row]:
        found = dict[str, Row]()
        for family, (fold, seeds) in _dealt(families("benign.txt")).items():
            if family == _QUOTED:
                continue
            for seed in seeds:
                text = self._grammar.fill(seed)
                found[text] = Row(text, False, f"benign.{family}", f"benign.{family}", fold)
        quotations = families("benign.txt")[_QUOTED]
        harmless = [row.text for row in found.values()]
        for fold in range(FOLDS):  # quoted is what this fold's attacks say, in words that only this fold has
            attacks = [row.text for row in direct if row.fold == fold and len(row.text) < 160]
            for number, seed in enumerate([*quotations, *_LISTS]):
                if number % FOLDS != fold:
                    continue
                for _ in range(QUOTED_EACH):
                    three = self._rng.sample(attacks, 3)
                    given = {"attack": attacks, "benign": harmless}
                    text = seed.format(*three) if "{0}" in seed else self._grammar.fill(seed, given)
                    found[text] = Row(text, False, f"benign.{_QUOTED}", f"benign.{_QUOTED}.{fold}", fold)
        return list(found.values())

    def _in_carriers(self, indirect: Sequence[Row], direct: Sequence[Row]) -> list[Row]:
        """Hide attacks in documents that were written for it; wishes to a chat carry direct ones alone."""
        made = list[Row]()
        for place in range(CARRIED):
            attack = self._rng.choice(indirect if place % 3 else direct)
            form = self._rng.choice(_FORMS)
            carrier = self._carrier(attack.fold, chat=place % 3 == 0)
            text = carrier.replace("{x}", form.replace("{x}", attack.text))
            made.append(replace(attack, text=text, kind=f"hidden.{attack.kind}", payload=attack.text))
        return made

    def _in_documents(self, indirect: Sequence[Row], direct: Sequence[Row]) -> list[Row]:
        made = list[Row]()
        for place in range(IN_DOCUMENTS):
            attack = self._rng.choice(indirect if place % 4 else direct)
            document = self._rng.choice(self._documents[attack.fold]).text
            form = self._rng.choice(_FORMS).replace("{x}", attack.text)
            text = self._inserted(document, form)
            made.append(replace(attack, text=text, kind=f"hidden.{attack.kind}", payload=attack.text))
        return made

    def _inserted(self, document: str, form: str) -> str:
        pieces = document.split(". ")
        place = self._rng.randint(0, len(pieces))
        return ". ".join([*pieces[:place], form, *pieces[place:]])

    def _composed(self, benign: Sequence[Row]) -> list[Row]:
        """Join benign sentences of one family to longer texts: articles, manuals, policies."""
        by_family: dict[str, list[Row]] = {}
        for row in benign:
            by_family.setdefault(row.family, []).append(row)
        names = sorted(name for name in by_family if not name.startswith("benign.ask"))
        made = list[Row]()
        for _ in range(COMPOSED):
            rows = by_family[self._rng.choice(names)]
            chosen = self._rng.sample(rows, min(len(rows), self._rng.randint(2, 7)))
            blank = self._rng.choice((". ", ".\n", "\n\n", "\n- ", ". "))
            made.append(replace(chosen[0], text=blank.join(each.text.rstrip(".") for each in chosen)))
        return made

    def _carried_benign(self, benign: Sequence[Row]) -> list[Row]:
        by_fold = [[row for row in benign if row.fold == fold] for fold in range(FOLDS)]
        made = list[Row]()
        for place in range(CARRIED_BENIGN):
            row = self._rng.choice(by_fold[place % FOLDS])
            form = self._rng.choice(_FORMS)
            carrier = self._carrier(row.fold, chat=place % 3 == 0)
            made.append(replace(row, text=carrier.replace("{x}", form.replace("{x}", row.text)), kind=f"carried.{row.kind}"))
        return made

    def _carrier(self, fold: int, *, chat: bool) -> str:
        kinds = [seeds for name, (own, seeds) in self._carriers.items() if own == fold and name != _DIRECT_CARRIERS]
        asks = self._carriers[_DIRECT_CARRIERS][1]
        seeds = [seed for place, seed in enumerate(asks) if place % FOLDS == fold] if chat else self._rng.choice(kinds)
        return self._rng.choice(seeds).replace("\\n", "\n")

    def _disguised(self, row: Row) -> Row:
        if self._rng.random() > DISGUISED:
            return self._typed(row)
        text = row.text
        made = self._rng.choice(
            (
                leet(text),
                spaced(text),
                text.translate(_HOMOGLYPHS),
                "\u200b".join(text),
                text.replace(" ", ""),
                "".join(each.upper() if place % 2 else each for place, each in enumerate(text)),
                " ".join(word if len(word) < 5 else f"{word[:3]} {word[3:]}" for word in text.split(" ")),  # noqa: PLR2004
                "-".join(text.split(" ")),
            )
        )
        return replace(row, text=made)

    def _typed(self, row: Row) -> Row:
        """Return a row as somebody in a hurry would type it, now and then."""
        chance = self._rng.random()
        text = row.text
        if chance < _TYPING:
            text = text.lower()
        elif chance < 1.5 * _TYPING:
            text = text.upper()
        elif chance < 2.5 * _TYPING and len(text) > 8:  # noqa: PLR2004
            place = self._rng.randrange(1, len(text) - 2)
            text = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
        elif chance < 4 * _TYPING:
            text = text + self._rng.choice((".", "!", "?", " please", " pls", "!!!", "...", " Thanks."))
        return replace(row, text=text)


def _dealt(found: dict[str, list[str]]) -> dict[str, tuple[int, list[str]]]:
    """Return families with the fold of each: as many in one as in another."""
    return {name: (place % FOLDS, seeds) for place, (name, seeds) in enumerate(found.items())}
