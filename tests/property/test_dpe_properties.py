"""Properties of the provenance stages: what is copied is never found fault with; no text breaks them."""

import asyncio
import re
from itertools import pairwise

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.common.reading.clauses import clauses
from services.common.reading.sentences import sentences
from services.common.reading.values import scan_values
from services.dpe.convert.responses import analyze_response
from tests.fakes.dpe_world import analyse, app
from tests.tenth import examples

SLOW = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
LAYOUT = re.compile(r"\(?\w[.)]|(?:```|~~~)[^\n]*")
"""What layout may take away: list marks and fence lines."""
SUBJECTS = ("fee", "fine", "premium", "deductible", "refund", "waiting period", "limit", "bonus")
VERBS = ("is", "was", "is not more than", "will be", "may not exceed", "equals")
VALUES = (
    "5 euros", "€1,250.50", "15 %", "twelve months", "30 days", "3 March 2024", "one thousand points",
    "4.2 million dollars", "10:30 a.m.", "GT-2024-17", "0.5", "Article 5(1)(d)",
)  # fmt: skip
TAILS = (
    "", " for members", " if the form is complete", ", unless NIST objects", " and the branch pays it",
    "; Jane Doe decides",
)  # fmt: skip


@st.composite
def fact_lists(draw):
    """Facts about different subjects, so that they do not contradict one another."""
    subjects = draw(st.lists(st.sampled_from(SUBJECTS), min_size=1, max_size=5, unique=True))
    parts = st.tuples(st.sampled_from(VERBS), st.sampled_from(VALUES), st.sampled_from(TAILS))
    return [f"The {subject} {verb} {value}{tail}." for subject in subjects for verb, value, tail in [draw(parts)]]


@SLOW
@example(
    contents=[
        "The fee may not exceed 5 euros and the branch pays it.",
        "The fine is 5 euros.",
        "The premium is 5 euros and the branch pays it.",
    ],
    joint=" ",
)  # the last clause stands in two facts, under a limit in one of them
@given(contents=fact_lists(), joint=st.sampled_from([" ", "\n", "\n\n", "\n- "]))
def test_a_verbatim_copy_has_no_findings(contents, joint):
    finished = asyncio.run(analyse(joint.join(contents), *contents, importance=0.95))
    outputs = finished.analysis.outputs
    assert outputs.fabrication.found == ()
    assert outputs.distortion.found == ()
    assert outputs.contradiction.found == ()
    assert outputs.omission.found == ()
    assert outputs.attribution.grounding_pct in {1.0, None}
    assert outputs.fidelity.score == 1.0


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_cut_without_overlap_or_loss_of_words(text):
    found = sentences(text)
    assert all(left.end <= right.start for left, right in pairwise(found))
    covered = "".join(text[sentence.start : sentence.end] for sentence in found)
    for sentence in found:
        spans = clauses(text, sentence.start, sentence.end)
        assert all(sentence.start <= span.start <= span.end <= sentence.end for span in spans)
    lost = sum(char.isalpha() for char in text) - sum(char.isalpha() for char in covered)
    assert lost <= sum(char.isalpha() for match in LAYOUT.finditer(text) for char in match.group())
    values = scan_values(text)
    assert all(text[value.start : value.end] == value.text for value in values)
    assert all(left.end <= right.start for left, right in pairwise(values))


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=300), st.text(min_size=1, max_size=120))
def test_any_answer_gives_a_report_and_the_same_one_again(answer, fact):
    reports = [analyze_response(asyncio.run(analyse(answer, fact, using=app()))).report for _ in range(2)]
    for report in reports:
        report.ClearField("timings")
        assert all(answer[claim.span.start : claim.span.end] == claim.text for claim in report.claims)
    assert reports[0].SerializeToString(deterministic=True) == reports[1].SerializeToString(deterministic=True)
