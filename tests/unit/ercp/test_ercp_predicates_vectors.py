"""The committed vectors of ERCP 1.0 §8: every operator TRUE, FALSE and UNKNOWN, with the places that show it."""

import json
from collections import defaultdict
from pathlib import Path

from jsonschema import Draft202012Validator

from services.common.grounding.words import sentences
from services.ercp.domain.predicates import Holds, PredicateName, Span, evaluate, extract_facts, parse_predicate
from tests.each import each

FOLDER = Path(__file__).parents[2] / "vectors" / "ercp"
DOCUMENT = json.loads((FOLDER / "predicates.json").read_text(encoding="utf-8"))
VECTORS = DOCUMENT["vectors"]


def test_the_file_fits_its_schema():
    schema = json.loads((FOLDER / "predicates.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(DOCUMENT)
    assert [item["test_id"] for item in VECTORS] == [f"predicates-{n:03d}" for n in range(1, len(VECTORS) + 1)]


def test_every_operator_is_there_with_every_answer():
    answers = defaultdict(set)
    for item in VECTORS:
        answers[item["input"]["predicate"]["predicate_name"]].add(item["expected"]["holds"])
    no_rule = {PredicateName.IN_WORDS: {Holds.UNKNOWN}}
    assert answers == {name: set(Holds) for name in PredicateName} | no_rule


@each("item", VECTORS, ids=lambda item: item["test_id"])
def test_what_a_text_says_of_a_predicate(item):
    predicate, text = item["input"]["predicate"], item["input"]["text"]
    facts = extract_facts(text, [Span(*place) for place in sentences(text)])
    found = evaluate(parse_predicate(predicate["predicate_name"], predicate["args"]), facts)
    assert found.holds == item["expected"]["holds"], found.why
    assert [text[span.start : span.end] for span in found.evidence] == item["expected"]["evidence"]
    assert found.why
