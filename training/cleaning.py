"""What of the inference rows is learnt from: dropped rows, mended text, made-up neutrals, class balance.

Every decision is counted under its reason, so that a training run can say what it left out (ADR 0035). Two things never
happen: a text of a development row in training, and a label that the set did not give, with one exception that is
counted as well: sets without a neutral class get neutrals by pairing a hypothesis with another premise of the set.
"""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from training.rows import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT_CONTRADICTION, NliRow
from training.seeds import generator
from training.words import content_words, coverage, folded, has_number, word_count

WITHOUT_NEUTRAL: Final = frozenset({"fever", "fool_me_twice", "covidfact"})
"""Sets with two of the three classes; what a model learns from their priors alone is that neutral never happens."""
MAX_CLASS_RATIO: Final = 3
"""A class of an origin has at most so many times the rows of the origin's second-largest class."""
HYPOTHESIS_OVERLAP_WORDS: Final = 6
"""A hypothesis of so many words that a development row has too is no coincidence ("A man is outside." is)."""
MAX_NEUTRAL_COVERAGE: Final = 0.5
"""A re-paired premise that holds more of the hypothesis's content words than this could entail or refute it."""
MIN_SHARED: Final = 2
"""A re-paired premise shares at least so many content words: without any, the pair is too easy to tell."""
MAX_CANDIDATES: Final = 60
_BRACKETS: Final = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BRACKET: Final = re.compile("|".join(_BRACKETS))
_QUOTE: Final = re.compile(r"``|` `|''|(?<= )' '(?= |$)")
_INVISIBLE: Final = {code: None for code in range(0x10000) if unicodedata.category(chr(code)) in {"Cf", "Cs"}}


@dataclass(frozen=True, slots=True)
class Limits:
    """Longest sides that are kept, in words.

    A pair that the encoder has to cut may have lost what decides it, so it is dropped instead.
    """

    premise_words: int = 120
    hypothesis_words: int = 60


def clean(
    rows: Sequence[NliRow], dev: Sequence[NliRow], seed: int, limits: Limits | None = None
) -> tuple[list[NliRow], Counter[str]]:
    """Return the rows to learn from, in the order of the file with made-up neutrals at the end, and what was done.

    Args:
        rows: training rows of any origins.
        dev: rows that are measured on; no text of theirs stays in training.
        seed: decides which rows a class that is too large loses, and the pairing of neutrals.
        limits: longest sides.

    Returns:
        The rows, and counts by ``dropped: reason`` and ``added: reason``.
    """
    done: Counter[str] = Counter()
    mended = [replace(row, premise=tidy(row.premise), hypothesis=tidy(row.hypothesis)) for row in rows]
    kept = _without_faults(mended, limits or Limits(), done)
    kept = _without_held_out(kept, dev, done)
    kept = _without_duplicates(kept, done)
    kept = _balanced(kept, generator(seed, "class balance"), done)
    added = [row for origin in sorted(WITHOUT_NEUTRAL) for row in neutrals(_of(kept, origin), seed)]
    done["added: neutral by another premise"] = len(added)
    return kept + added, done


def tidy(text: str) -> str:
    """Undo what file formats did to a text: treebank brackets and quotes, doubled quotes, invisible characters."""
    if "B-" in text:
        text = _BRACKET.sub(lambda found: _BRACKETS[found.group()], text)
    text = _QUOTE.sub('"', text)
    if not text.isascii():
        text = text.translate(_INVISIBLE)
    text = " ".join(text.split())
    if len(text) > 2 and text[0] == text[-1] == '"' and '""' in text[1:-1]:  # noqa: PLR2004 - two quotes and a text
        text = text[1:-1].replace('""', '"').strip()
    return text


def fault(row: NliRow, limits: Limits) -> str | None:
    """Return why a row cannot be learnt from on its own, or None."""
    sides = (row.premise, row.hypothesis)
    if not all(side.strip() for side in sides):
        return "an empty side"
    if not all(_is_text(side) for side in sides):
        return "not text"
    if word_count(row.premise) > limits.premise_words or word_count(row.hypothesis) > limits.hypothesis_words:
        return "too long"
    if row.label in {NEUTRAL, CONTRADICTION} and row.premise.casefold() == row.hypothesis.casefold():
        return "identical sides, not entailed"
    return None


def neutrals(rows: Sequence[NliRow], seed: int) -> list[NliRow]:
    """Make neutral rows for one origin that has none: hypotheses with other premises of the set.

    The other premise shares words with the hypothesis, names first (else the pair is too easy), holds at most
    ``MAX_NEUTRAL_COVERAGE`` of its content words and none of its numbers (else it could decide it), and is not a
    passage that goes with the hypothesis in any row. There are at most as many as the smaller of the two classes has.
    """
    if not rows:
        return []
    choice = generator(seed, f"neutrals {rows[0].origin}")
    premises = _Premises(sorted({row.premise for row in rows}))
    own: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        own[folded(row.hypothesis)].add(row.premise)
    counts = Counter(row.label for row in rows)
    wanted = min(counts[ENTAILMENT], counts[CONTRADICTION])
    order = list(rows)
    choice.shuffle(order)
    made: dict[tuple[str, str], NliRow] = {}
    for row in order:
        if len(made) == wanted:
            break
        other = premises.related(row.hypothesis, own[folded(row.hypothesis)], choice)
        if other is not None:
            made.setdefault((other, row.hypothesis), replace(row, premise=other, label=NEUTRAL))
    return list(made.values())


class _Premises:
    """Premises of one origin, found by the words they share with a hypothesis."""

    def __init__(self, premises: Sequence[str]) -> None:
        self._premises = premises
        self._index = {premise: index for index, premise in enumerate(premises)}
        self._words = [frozenset(content_words(premise)) for premise in premises]
        self._with: dict[str, list[int]] = defaultdict(list)
        for index, found in enumerate(self._words):
            for word in found:
                self._with[word].append(index)

    def related(self, hypothesis: str, own: Iterable[str], choice: random.Random) -> str | None:
        wanted = frozenset(content_words(hypothesis))
        known: frozenset[str] = frozenset().union(*(self._words[self._index[premise]] for premise in own))
        rarest = sorted((word for word in wanted if self._with[word]), key=lambda word: (len(self._with[word]), word))
        seen: list[int] = []
        for word in rarest[:3]:
            there = self._with[word]
            seen += choice.sample(there, min(len(there), MAX_CANDIDATES))
        fitting = [index for index in dict.fromkeys(seen) if self._fits(index, wanted, known)]
        if not fitting:
            return None
        fitting.sort(key=lambda index: -len(self._words[index] & wanted))
        return self._premises[choice.choice(fitting[:3])]

    def _fits(self, index: int, wanted: frozenset[str], known: frozenset[str]) -> bool:
        there = self._words[index]
        shared = there & wanted
        return (
            len(shared) >= MIN_SHARED
            and coverage(wanted, there) <= MAX_NEUTRAL_COVERAGE
            and not any(has_number(word) for word in shared)
            and coverage(there, known) < 0.5  # noqa: PLR2004 - mostly the same passage again
        )


def _is_text(side: str) -> bool:
    return "\N{REPLACEMENT CHARACTER}" not in side and any(mark.isalpha() for mark in side)


def _without_faults(rows: Iterable[NliRow], limits: Limits, done: Counter[str]) -> list[NliRow]:
    kept = []
    for row in rows:
        found = fault(row, limits)
        if found is None:
            kept.append(row)
        else:
            done[f"dropped: {found}"] += 1
    return kept


def _without_held_out(rows: Iterable[NliRow], dev: Iterable[NliRow], done: Counter[str]) -> list[NliRow]:
    """Drop rows with a premise, a pair (either way round) or a long hypothesis of a development row."""
    premises: set[str] = set()
    hypotheses: set[str] = set()
    pairs: set[frozenset[str]] = set()
    for row in dev:
        premise, hypothesis = folded(tidy(row.premise)), folded(tidy(row.hypothesis))
        premises.add(premise)
        pairs.add(frozenset((premise, hypothesis)))
        if len(hypothesis.split()) >= HYPOTHESIS_OVERLAP_WORDS:
            hypotheses.add(hypothesis)
    kept = []
    for row in rows:
        premise, hypothesis = folded(row.premise), folded(row.hypothesis)
        if premise in premises or hypothesis in hypotheses or frozenset((premise, hypothesis)) in pairs:
            done["dropped: text of a development row"] += 1
        else:
            kept.append(row)
    return kept


def _without_duplicates(rows: Sequence[NliRow], done: Counter[str]) -> list[NliRow]:
    labels: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows:
        labels[_key(row)].add(row.label)
    kept: dict[tuple[str, str], NliRow] = {}
    for row in rows:
        key = _key(row)
        if _conflict(labels[key]):
            done["dropped: same pair with another label"] += 1
        elif key in kept:
            done["dropped: same pair again"] += 1
        else:
            kept[key] = row
    return list(kept.values())


def _key(row: NliRow) -> tuple[str, str]:
    # Case counts as spacing does: the encoders' vocabulary is lower-case. Marks do not: "5-7" is not "5 7".
    return row.premise.casefold(), row.hypothesis.casefold()


def _conflict(labels: set[int]) -> bool:
    exact = labels - {NOT_CONTRADICTION}
    return len(exact) > 1 or (NOT_CONTRADICTION in labels and CONTRADICTION in labels)


def _balanced(rows: Sequence[NliRow], choice: random.Random, done: Counter[str]) -> list[NliRow]:
    classes: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, row in enumerate(rows):
        classes[row.origin][row.label].append(index)
    gone: set[int] = set()
    for origin in sorted(classes):
        by_label = classes[origin]
        if len(by_label) == 1:
            continue  # a set of one class has no balance of its own; the mix of origins makes up for it
        limit = MAX_CLASS_RATIO * sorted(map(len, by_label.values()))[-2]
        for label in sorted(by_label):
            there = by_label[label]
            gone.update(choice.sample(there, max(0, len(there) - limit)))
    done["dropped: class too large for its origin"] += len(gone)
    return [row for index, row in enumerate(rows) if index not in gone]


def _of(rows: Iterable[NliRow], origin: str) -> list[NliRow]:
    return [row for row in rows if row.origin == origin]
