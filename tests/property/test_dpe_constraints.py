"""A violated constraint never makes an answer look better, whatever else is said of it (ADR 0078)."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.common.reading.text_types import Span
from services.common.rpc.canonical import message_json
from services.common.taxonomy import ConstraintState
from services.dpe.convert.responses import analyze_response
from services.dpe.domain.constraints import ConstraintVerdict
from services.dpe.domain.findings import Verdict
from tests.fakes.dpe_world import TableEntailment, TableGrounding, analyse, app
from tests.tenth import examples

SENTENCES = (
    "The fee is 5 euros.",
    "The fee is 7 euros.",
    "Globex pays no fee.",
    "I think that the fee is high.",
    "Please pay the fee by 3 March 2024.",
    "Die Gebühr beträgt 5 Euro.",
    "As said above, it rains.",
)
FACTS = ("The fee is 5 euros.", "Pay the fee by 1 March 2024.")
ANSWERS = st.lists(st.sampled_from(SENTENCES), max_size=5).map(" ".join)
_LEVELS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")


@st.composite
def cases(draw):
    """An answer, verdicts on it, and one more that is VIOLATED; how the models see it."""
    answer = draw(ANSWERS)

    def spans():
        pairs = st.tuples(st.integers(0, len(answer)), st.integers(0, len(answer)))
        found = draw(st.lists(pairs, max_size=3))
        return tuple(Span(min(pair), max(pair)) for pair in found if pair[0] != pair[1])

    states = draw(st.lists(st.sampled_from(list(ConstraintState)), max_size=4))
    held = tuple(
        ConstraintVerdict(f"r{number}", state, spans=spans() if state is ConstraintState.VIOLATED else ())
        for number, state in enumerate(states)
    )
    more = ConstraintVerdict("more", ConstraintState.VIOLATED, spans=spans())
    return answer, held, more, draw(st.sampled_from([None, 0.2, 0.9]))


def finished(answer, verdicts, support):
    using = app()
    if support is not None:
        judge = TableEntailment(lambda *_: (1 - support, 0.1, support - 0.1))
        using = app(entailment=judge, grounding=TableGrounding(lambda _: support))
    return asyncio.run(analyse(answer, *FACTS, using=using, constraint_verdicts=verdicts))


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_one_more_violation_never_raises_fidelity_nor_lowers_risk(case):
    answer, held, more, support = case
    before = finished(answer, held, support).analysis.outputs
    after = finished(answer, (*held, more), support).analysis.outputs
    assert after.fidelity.score <= before.fidelity.score
    assert after.fidelity.score < before.fidelity.score or before.fidelity.score == 0.0
    scores = before.risk.composite_score, after.risk.composite_score
    # An answer in a language that is not read has no score at all (ADR 0096).
    assert (scores[0] is None) is (scores[1] is None)
    assert None in scores or scores[1] >= scores[0]
    assert _LEVELS.index(str(after.risk.level)) >= _LEVELS.index(str(before.risk.level))
    # Nothing is grounded or supported by it.
    assert (after.attribution.by_claim, after.attribution.grounding_pct, after.entailment) == (
        before.attribution.by_claim,
        before.attribution.grounding_pct,
        before.entailment,
    )
    supported = {key for key, verdict in after.fidelity.verdicts.items() if verdict is Verdict.SUPPORTED}
    assert supported <= {key for key, verdict in before.fidelity.verdicts.items() if verdict is Verdict.SUPPORTED}
    contradicted = {key for key, verdict in before.fidelity.verdicts.items() if verdict is Verdict.CONTRADICTED}
    assert contradicted <= {key for key, verdict in after.fidelity.verdicts.items() if verdict is Verdict.CONTRADICTED}


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_what_holds_or_is_unknown_changes_nothing_but_its_own_list(case):
    answer, held, _, support = case
    quiet = tuple(each for each in held if each.state is not ConstraintState.VIOLATED)
    told = message_json(analyze_response(finished(answer, quiet, support)).report)
    plain = message_json(analyze_response(finished(answer, (), support)).report)
    assert len(told.pop("constraint_outcomes", {}).get("outcomes", ())) == len(quiet)
    for report in (told, plain):
        del report["timings"], report["report_hash"], report["report_id"]
    assert told == plain
