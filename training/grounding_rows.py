"""The rows of the grounding encoder: ``python -m training.grounding_rows --data DIR --show 20`` prints the mix.

The sources (ADR 0035): inference rows as two classes, the ``fit`` fold as it is, contrasts with spans, questions with
short answers, rules with conditions; a part of all of them among distractors. What is made here comes in pairs, one
supported and one not, that differ in the text, in the passage or in both, so that neither alone tells the label.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final, TypeVar

from services.common.grounding.statements import pieces, statement
from training.cleaning import Limits, clean
from training.contrast_rows import Pair, pairs_of_claim, pairs_of_sentence
from training.material import PASSAGE_SETS, Material
from training.policies import policy_rows
from training.premises import among_distractors, joined, window
from training.questions import Asked, asked, wrong_answer
from training.rows import ENTAILMENT, CheckedText, GroundingRow, NliRow, read_grounding, read_nli
from training.seeds import generator
from training.words import sentences, word_count

_T = TypeVar("_T")
SHORT_SETS: Final = ("snli", "mnli", "cad", "conjnli", "help", "breaking_nli")
"""Inference sets of single sentences; not the synthetic ones (clcd), whose premises are no prose."""
SENTENCE_WORDS: Final = (6, 40)
"""Shortest and longest sentence of a passage that contrasts are made of."""
MIN_SHORT_ANSWER_WORDS: Final = 6
LONG_SHARE: Final = 0.45
"""Share of the rows with a short premise that are put among distractors."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows of each source; real ``fit`` rows come once, whatever there are.

    Attributes:
        inference: inference rows as two classes.
        claims: contrasts of supported ``fit`` claims and entailed hypotheses.
        sentences: contrasts of passages' own sentences.
        questions: questions with short answers.
        policies: claims about rules with conditions.
        premise_words: longest premise of the rows made here; about 1.35 tokens a word.
    """

    inference: int = 6000
    claims: int = 4500
    sentences: int = 5000
    questions: int = 2000
    policies: int = 1200
    premise_words: int = 115

    @classmethod
    def scaled(cls, share: float) -> "Sizes":
        """Return the usual sizes times ``share``; the longest premise stays."""
        usual = cls()
        rows = (usual.inference, usual.claims, usual.sentences, usual.questions, usual.policies)
        inference, claims, sentence_rows, questions, policies = (round(share * count) for count in rows)
        return cls(inference, claims, sentence_rows, questions, policies, usual.premise_words)


def grounding_rows(
    nli: Sequence[NliRow], fit: Sequence[CheckedText], seed: int, sizes: Sizes | None = None
) -> list[GroundingRow]:
    """Return the mix, in an order that the seed decides.

    Args:
        nli: inference rows after ``training.cleaning.clean``; those of unclear origins are left out here.
        fit: rows of the fold ``fit``; others are an error.
        seed: decides every draw.
        sizes: how many rows of each source.

    Raises:
        ValueError: a row is not of the fold ``fit``.
    """
    sizes = sizes or Sizes()
    if any(row.fold != "fit" for row in fit):
        raise ValueError("grounding rows are made of the fold 'fit' alone: the other folds are for measuring")
    clear = [_prose(row) for row in nli if row.clear and row.origin in (*PASSAGE_SETS, *SHORT_SETS)]
    material = Material.of(clear, fit, sizes.premise_words)
    rows = [
        *real_rows(fit),
        *_inference_rows(clear, material, generator(seed, "inference"), sizes),
        *_claim_rows(clear, fit, material, generator(seed, "claims"), sizes),
        *_sentence_rows(material, generator(seed, "sentences"), sizes),
        *_question_rows(fit, material, generator(seed, "questions"), sizes),
        *policy_rows(sizes.policies, generator(seed, "policies")),
    ]
    generator(seed, "order").shuffle(rows)
    return rows


def real_rows(fit: Sequence[CheckedText]) -> list[GroundingRow]:
    """Return the rows as they are, once each: whole contexts (the trainer cuts them), claims as statements.

    Nobody marked what is unsupported in them, so the spans of those that are not supported are None.
    """
    return [
        GroundingRow(
            premise="\n\n".join(row.context),
            claim=statement(row.claim, row.query).text,
            supported=row.supported,
            spans=() if row.supported else None,
            origin=f"fit/{row.dataset}",
            query=row.query,
        )
        for row in fit
    ]


def _inference_rows(rows: Sequence[NliRow], material: Material, choice: Random, sizes: Sizes) -> list[GroundingRow]:
    """Two classes, half of the rows from sets with passages, half from the others, balanced within each set."""
    found: list[GroundingRow] = []
    for sets in (PASSAGE_SETS, SHORT_SETS):
        by_set: dict[tuple[str, bool], list[NliRow]] = defaultdict(list)
        for row in rows:
            if row.origin in sets:
                by_set[row.origin, row.label == ENTAILMENT].append(row)
        weights = {name: min(len(by_set[name, True]), len(by_set[name, False])) ** 0.5 for name in sets}
        total = sum(weights.values()) or 1.0
        for name in sets:
            count = round(sizes.inference / 4 * weights[name] / total)
            for supported in (True, False):
                there = by_set[name, supported]
                found += [_two_classes(row) for row in choice.sample(there, min(count, len(there)))]
    return [_long(row, material, choice, sizes) for row in found]


def _two_classes(row: NliRow) -> GroundingRow:
    supported = row.label == ENTAILMENT
    return GroundingRow(row.premise, row.hypothesis, supported, () if supported else None, f"nli/{row.origin}", None)


def _claim_rows(
    nli: Sequence[NliRow], fit: Sequence[CheckedText], material: Material, choice: Random, sizes: Sizes
) -> list[GroundingRow]:
    """Contrasts of claims that are supported already: two thirds from the fit fold, the rest from entailments."""
    real = [pair for row in fit if row.supported for pair in _supported_pairs(row, sizes)]
    entailed = [
        Pair(row.premise, row.hypothesis, row.origin)
        for row in nli
        if row.label == ENTAILMENT and word_count(row.hypothesis) >= 4  # noqa: PLR2004 - enough to change something in
    ]
    choice.shuffle(entailed)
    rows: list[GroundingRow] = []
    for source, wanted in ((real, sizes.claims * 2 // 3), (entailed, sizes.claims - sizes.claims * 2 // 3)):
        made: list[GroundingRow] = []
        for pair in _again(source, choice, rounds=4):
            made += pairs_of_claim(pair, material.scene(pair.premise), choice)
            if len(made) >= wanted:
                break
        rows += _distinct(made)
    return [_long(row, material, choice, sizes) for row in rows]


def _supported_pairs(row: CheckedText, sizes: Sizes) -> Iterator[Pair]:
    """Yield the claim, piece by piece when it is long, with the window of the context that it is nearest to."""
    for start, end in pieces(row.claim):
        claim = row.claim[start:end].strip()
        presented = statement(claim, row.query)
        premise = window(row.context, claim, row.query, sizes.premise_words)
        if premise and presented.text == claim and word_count(claim) >= MIN_SHORT_ANSWER_WORDS:
            yield Pair(premise, claim, row.dataset)


def _sentence_rows(material: Material, choice: Random, sizes: Sizes) -> list[GroundingRow]:
    """Contrasts of sentences that stand in a passage; passages of the fit fold and of the others in turn."""
    real = [passage for passage in material.passages if passage[0] not in PASSAGE_SETS]
    encyclopaedic = [passage for passage in material.passages if passage[0] in PASSAGE_SETS]
    rows: list[GroundingRow] = []
    for source in (real, encyclopaedic):
        made: list[GroundingRow] = []
        for origin, text in _again(source, choice, rounds=4):
            if len(made) >= sizes.sentences / 2:
                break
            fitting = [found for found in sentences(text) if _is_usable(found)]
            if fitting:
                sentence = choice.choice(fitting)
                made += pairs_of_sentence(Pair(text, sentence, origin), material.scene(text), choice)
        rows += _distinct(made)
    return [_long(row, material, choice, sizes) for row in rows]


def _question_rows(fit: Sequence[CheckedText], material: Material, choice: Random, sizes: Sizes) -> list[GroundingRow]:
    """Right and wrong short answers to questions of the fit fold and to questions made of passages' sentences."""
    made: list[GroundingRow] = []
    for row in fit:
        if row.supported and row.query and word_count(row.claim) < MIN_SHORT_ANSWER_WORDS:
            premise = window(row.context, row.claim, row.query, sizes.premise_words)
            wrong = wrong_answer(row.claim, material.scene(premise), choice)
            if wrong is not None:
                made += _answers(premise, Asked(row.query, row.claim, wrong), row.dataset)
    for origin, text in _again(material.passages, choice, rounds=1):
        if len(made) >= sizes.questions:
            break
        scene = material.scene(text)
        found = [question for sentence in sentences(text) for question in asked(sentence, scene, choice)]
        if found:
            made += _answers(text, choice.choice(found), origin)
    return [_long(row, material, choice, sizes) for row in _distinct(made)]


def _answers(premise: str, question: Asked, origin: str) -> Iterator[GroundingRow]:
    for answer, supported in ((question.right, True), (question.wrong, False)):
        presented = statement(answer, question.question)
        spans = () if supported else ((presented.claim_start, presented.claim_end),)
        yield GroundingRow(premise, presented.text, supported, spans, f"question/{origin}", question.question)


def _long(row: GroundingRow, material: Material, choice: Random, sizes: Sizes) -> GroundingRow:
    """Put a part of the rows among distractors; cut the few premises that are too long."""
    words = word_count(row.premise)
    if words > sizes.premise_words:
        return replace(row, premise=window([row.premise], row.claim, row.query, sizes.premise_words))
    if choice.random() >= LONG_SHARE or words > 0.8 * sizes.premise_words:
        return row
    length = choice.randint(words, sizes.premise_words)
    others = material.others(row.premise, choice)
    return replace(row, premise=among_distractors(row.premise, row.claim, others, length, choice))


def _again(items: Sequence[_T], choice: Random, *, rounds: int) -> Iterator[_T]:
    """Yield the items in a random order, then in another, so many times over."""
    for _ in range(rounds):
        yield from choice.sample(items, len(items))


def _distinct(rows: Iterable[GroundingRow]) -> list[GroundingRow]:
    return list({(row.premise, row.claim): row for row in rows}.values())


def _is_usable(sentence: str) -> bool:
    words = word_count(sentence)
    prose = sentence.rstrip()[-1:] in {".", '"'} and "http" not in sentence and "(meta data)" not in sentence
    return SENTENCE_WORDS[0] <= words <= SENTENCE_WORDS[1] and prose


def _prose(row: NliRow) -> NliRow:
    return replace(row, premise=joined(row.premise), hypothesis=joined(row.hypothesis))


def table(rows: Iterable[GroundingRow]) -> list[str]:
    """Return lines that say how many rows each source has, by verdict, and how long they are."""
    groups: dict[str, list[GroundingRow]] = defaultdict(list)
    for row in rows:
        first, _, rest = row.origin.partition("/")
        groups[first].append(row)
        groups[f"  {first}/{rest.split('/')[0] if first == 'contrast' else rest}"].append(row)
    lines = [f"{'source':<40}{'rows':>7}{'supported':>11}{'spans':>7}{'words':>7}"]
    for name in sorted(groups, key=lambda name: (name.strip().split("/")[0], name.strip())):
        there = groups[name]
        supported = sum(row.supported for row in there)
        spans = sum(bool(row.spans) for row in there)
        words = sum(word_count(row.premise) for row in there) / len(there)
        lines.append(f"{name:<40}{len(there):>7}{supported / len(there):>11.2f}{spans:>7}{words:>7.0f}")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the rows and print what came out, with some of them in full."""
    parser = argparse.ArgumentParser(prog="python -m training.grounding_rows", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/ and grounding/")
    parser.add_argument("--show", type=int, default=0, help="rows to print in full")
    parser.add_argument("--only", default="", help="show only rows whose origin begins so, such as contrast/dates")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    nli, done = clean(
        read_nli(options.data, "train"), read_nli(options.data, "dev"), options.seed, Limits(premise_words=200)
    )
    rows = grounding_rows(nli, [row for row in read_grounding(options.data) if row.fold == "fit"], options.seed)
    for line in (*(f"{reason}: {count}" for reason, count in sorted(done.items())), *table(rows)):
        print(line)
    for row in [row for row in rows if row.origin.startswith(options.only)][: options.show]:
        print(f"\n[{row.origin}] {'supported' if row.supported else 'NOT supported'}\n  premise: {row.premise[:600]}")
        print(f"  claim:   {row.claim}\n  spans:   {[row.claim[start:end] for start, end in row.spans or ()]}")


if __name__ == "__main__":
    main()
