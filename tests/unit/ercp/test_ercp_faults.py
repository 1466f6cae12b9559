"""What counts as which error with which confidence: the table of ADR 0074 (ERCP 1.0 §4.2, §7)."""

import pytest

from services.ercp.domain.faults import Suspicion, faults_of, suspicion_of
from services.ercp.domain.findings import Finding, FindingKind
from services.ercp.domain.readings import sentences_of
from services.ercp.domain.records import Evidence
from services.ercp.domain.validators import validate
from services.ercp.domain.vocabulary import Detector, ErrorType

TABLE = {
    "number": (
        Finding(FindingKind.DISTORTION, (0, 5), "NUMBER_CHANGED", 0.97, "f", exact=True), "factual_incorrect", 0.90,
    ),
    "number without a model": (
        Finding(FindingKind.DISTORTION, (0, 5), "NUMBER_CHANGED", None, "f", exact=True), "factual_incorrect", 0.90,
    ),
    "doubtful number": (
        Finding(FindingKind.DISTORTION, (0, 5), "NUMBER_CHANGED", 0.2, "f", exact=True), "factual_incorrect", 0.55,
    ),
    "negation": (Finding(FindingKind.DISTORTION, (0, 5), "NEGATION_FLIP"), "factual_incorrect", 0.85),
    "name": (Finding(FindingKind.DISTORTION, (0, 5), "ENTITY_SUBSTITUTED"), "factual_incorrect", 0.80),
    "context": (Finding(FindingKind.DISTORTION, (0, 5), "CONTEXT_STRIPPED"), "factual_incorrect", 0.65),
    "contradicted": (Finding(FindingKind.CONTRADICTED, (0, 5)), "factual_incorrect", 0.80),
    "contradiction": (Finding(FindingKind.CONTRADICTION, (0, 5), probability=0.83), "contradiction", 0.83),
    "contradiction of values": (Finding(FindingKind.CONTRADICTION, (0, 5), exact=True), "contradiction", 0.90),
    "made-up person": (Finding(FindingKind.FABRICATION, (0, 5), "PERSON"), "factual_incorrect", 0.55),
    "made-up number": (Finding(FindingKind.FABRICATION, (0, 5), "NUMBER"), "factual_incorrect", 0.0),
    "unsupported": (Finding(FindingKind.UNSUPPORTED, (0, 5), probability=0.99), "missing_justification", 0.55),
}  # fmt: skip


@pytest.mark.parametrize(("finding", "kind", "confidence"), TABLE.values(), ids=TABLE)
def test_the_table(finding, kind, confidence):
    suspicion = suspicion_of(finding)
    assert (suspicion.type, suspicion.confidence) == (kind, confidence)
    assert suspicion.detector is Detector.FACT_CHECK


def suspicion(kind, confidence, detector, span=(0, 4)):
    return Suspicion(kind, detector, confidence, (Evidence(detector.value, confidence),), span)


def test_detectors_that_agree_on_a_sentence_are_one_error():
    found = faults_of(
        [
            suspicion(ErrorType.CONTRADICTION, 0.8, Detector.NLI, (0, 9)),
            suspicion(ErrorType.CONTRADICTION, 0.9, Detector.RULE, (3, 9)),
            suspicion(ErrorType.AMBIGUITY, 0.76, Detector.RULE, (0, 9)),
        ],
        "It is so.",
        [(0, 9)],
        "n",
    )
    assert [(each.type, each.confidence) for each in found] == [("ambiguity", 0.76), ("contradiction", 0.9)]
    assert found[1].detected_by == (Detector.NLI, Detector.RULE)
    assert [each.source for each in found[1].evidence] == ["rule", "nli"]


def test_what_is_less_sure_than_a_candidate_is_no_error():
    doubtful = [suspicion(ErrorType.CONTRADICTION, 0.599, Detector.NLI)]
    assert faults_of(doubtful, "text", [(0, 4)], "n") == ()
    assert len(faults_of([suspicion(ErrorType.CONTRADICTION, 0.6, Detector.NLI)], "text", [(0, 4)], "n")) == 1


def test_errors_stand_in_text_order_and_have_ids_of_their_own():
    late, early = (suspicion(ErrorType.CONTRADICTION, 0.9, Detector.NLI, span) for span in ((5, 9), (0, 4)))
    found = faults_of([late, early], "aaaa bbbb", [(0, 4), (5, 9)], "n")
    assert [each.span for each in found] == [(0, 4), (5, 9)]
    assert len({each.error_id for each in found}) == 2
    assert faults_of([late, early], "aaaa bbbb", [(0, 4), (5, 9)], "n") == found


RULES = {
    "empty": ("", "", "syntax_error"),
    "a fence that stays open": ("Use this:\n```\ncode.", "", "syntax_error"),
    "a bracket that stays open": ("The valve (a new one is open.", "", "syntax_error"),
    "no end": ("The valve opens before the pump has", "", "syntax_error"),
    "no text": ("The \ufffd valve is open.", "", "syntax_error"),
    "a conclusion first": ("Therefore the valve is open. It is blue.", "", "missing_justification"),
    "a necessity from nothing": ("The valve is blue. Hence it must be replaced.", "", "missing_justification"),
    "certainty": ("The valve is blue. Obviously the pump is broken.", "", "missing_justification"),
    "a decision": ("The valve must be replaced.", "Should the valve be replaced?", "missing_justification"),
    "an unclear word": ("It is broken. The pump runs.", "", "ambiguity"),
    "an unclear pronoun": ("The owner told the builder that he was wrong.", "", "ambiguity"),
    "amounts at choice": ("Take 5 or 50 drops a day.", "", "ambiguity"),
}


@pytest.mark.parametrize(("text", "question", "kind"), RULES.values(), ids=RULES)
def test_rules_find(text, question, kind):
    assert kind in {each.type.value for each in validate(text, sentences_of(text), question=question)}


CLEAN = {
    "a reason": ("The valve must be replaced because it leaks.", "Should the valve be replaced?"),
    "a reason that follows": ("The valve must be replaced. The reason is a leak.", "Should the valve be replaced?"),
    "what was measured": ("The pressure exceeds the limit. Hence the valve must be replaced.", ""),
    "an instruction": ("Close the valve. Take one or two drops a day.", "How do I take the drops?"),
    "a conclusion with its premise": ("Air pressure falls with height. Therefore water boils earlier.", ""),
}


@pytest.mark.parametrize(("text", "question"), CLEAN.values(), ids=CLEAN)
def test_rules_leave(text, question):
    assert validate(text, sentences_of(text), question=question) == []


def test_a_text_that_was_cut_says_so():
    (found,) = validate("It ends.", sentences_of("The valve ends."), was_cut=True)
    assert (found.type, found.confidence) == (ErrorType.SYNTAX_ERROR, 1.0)
