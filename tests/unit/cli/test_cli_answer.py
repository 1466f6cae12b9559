"""The screen of an answer: what matters first, what is wrong marked, forty lines of eighty columns (ADR 0097)."""

import re

import pytest
from crp.dpe.v1 import claim_pb2, finding_pb2, quality_pb2, report_pb2
from crp.gateway.v1 import dispatch_service_pb2 as dispatch

from services.cli import outcomes
from services.cli.answer_screen import MAX_LINES
from services.cli.commands.ask import show_outcome
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.page import PageMatter, page
from services.cli.told import Mark, marked, marks, told_answer
from services.common.rpc.report_views import in_view, withheld
from tests.fakes.reports import FACT_ID, QUOTE, TEXT, WHY, answered, report

COLOUR = re.compile("\x1b\\[")


@pytest.fixture
def shown(monkeypatch, capsys):
    def show(response, columns=80, *, headers=False):
        monkeypatch.setenv("COLUMNS", str(columns))
        code = show_outcome(response, Output(as_json=False), headers=headers)
        return capsys.readouterr().out, code

    return show


def test_the_first_line_is_the_one_that_matters(shown):
    out, code = shown(answered())
    assert code is Exit.OK
    assert out.splitlines()[0].rstrip() == (
        "HIGH 0.50 · 1 of 3 claims contradicted, 1 unsupported · 1 fabrication · chain"
    )
    assert "VALID" in out.splitlines()[1]


def test_violations_and_warnings_come_before_the_answer(shown):
    out, _ = shown(answered())
    order = [out.index(each) for each in ("! warned: warn-on HIGH: the risk is HIGH", "max_windows", "Claims files")]
    assert order == sorted(order)


def test_what_is_wrong_is_marked_without_colour(shown):
    out, _ = shown(answered(), 200)
    assert "Claims files are kept for >>3 years<<. Recordings are kept for 6 months." in out
    assert "The founder was >>Ada Quill<<." in out


def test_claims_say_why_with_words_and_document_the_wrong_ones_first(shown):
    out, _ = shown(answered(), 200)
    assert WHY in out
    assert f"“{QUOTE}” — (fact {FACT_ID[:8]})" in out  # the sentence has named the document
    order = [out.index(word) for word in ("c1 CONTRADICTED", "c3 UNSUPPORTED", "c2 SUPPORTED")]
    assert order == sorted(order)


def test_a_claim_that_stands_word_for_word_names_its_fact(shown):
    response = answered()
    claim = response.answer.report.claims[1]
    claim.judgement.evidence[0].quote = claim.text
    out, _ = shown(response, 200)
    assert f"Stands word for word in Data retention. (fact {FACT_ID[:8]})" in out
    assert f"“{claim.text}”" not in out


def test_advice_is_never_cut(shown):
    response = answered()
    response.warnings.add(code="Y", message="switch to hierarchical " * 12 + "or ingest more")
    words = " ".join(shown(response, 60)[0].split())
    assert "! switch to hierarchical switch" in words
    assert "hierarchical or ingest more" in words


def trend(response):
    response.warnings.add(code="QUALITY_CRITICAL", message="The envelope's quality stays at D; start a new session.")
    response.warnings.add(code="STRATEGY_RECOMMENDED", message="the envelopes' quality falls")
    response.headers.add(name="CRP-Context-Quality-Tier", value="D")
    response.headers.add(name="CRP-Context-Facts-Used", value="3/4")
    return response


def test_the_envelopes_trend_is_one_line_with_facts_where_the_answer_may_want_something(shown):
    out, _ = shown(trend(answered()), 200)
    assert "of this one's to tier D, 3/4 facts: if something is missing here, ask for it without --session" in out
    assert "stays at D" not in out
    assert out.count("quality") == 1


def test_below_a_sound_answer_nothing_is_said_of_the_envelopes_trend(shown):
    response = trend(answered(level="LOW"))
    for claim in list(response.answer.report.claims):
        if claim.verdict != claim_pb2.CLAIM_VERDICT_SUPPORTED:
            response.answer.report.claims.remove(claim)
    out, _ = shown(response, 200)
    assert "quality" not in out
    response.answer.report.relevance.status = quality_pb2.RELEVANCE_STATUS_REFUSAL
    assert "tier D" in shown(response, 200)[0]


def test_the_worst_three_omissions_are_named(shown):
    out, _ = shown(answered(), 200)
    assert "left out of the answer: 5, the worst 3" in out
    assert [number for number in range(5) if f"Left out {number}." in out] == [0, 1, 2]
    assert out.index("CRITICAL Data retention") < out.index("MEDIUM Data retention")


def test_headers_only_when_asked_for(shown):
    assert "CRP-Safety-Risk-Level" not in shown(answered())[0]
    assert "CRP-Safety-Risk-Level" in shown(answered(), headers=True)[0]


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("claims", [3, 30])
def test_it_fits(shown, columns, claims):
    response = answered()
    for number in range(claims - 3):
        response.answer.report.claims.add().CopyFrom(response.answer.report.claims[number % 3])
    lines = shown(response, columns)[0].splitlines()
    assert max(len(line) for line in lines) <= columns
    if columns >= 80:
        assert len(lines) <= MAX_LINES
    assert any("more claim" in line for line in lines) is (claims > 3 or columns < 80)


def test_a_long_answer_is_whole(shown):
    response = answered()
    response.answer.text = TEXT + " Word." * 2_000
    out, _ = shown(response)
    assert out.count("Word.") == 2_000
    assert "c1 CONTRADICTED" in out


def test_no_escapes_in_a_pipe_and_none_with_no_color(shown, monkeypatch):
    assert not COLOUR.search(shown(answered())[0])
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert re.search("\x1b\\[[0-9;]*31m", shown(answered())[0])  # red: the test can fail
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search("\x1b\\[[0-9;]*3[0-9]m", shown(answered())[0])


def test_a_halt_shows_claims_without_their_text_and_what_to_do(shown):
    response = dispatch.DispatchResponse()
    halted = response.halted
    halted.halt_reason, halted.retry_condition, halted.session_id = "HALT_ON_HIGH", "oversight-required", "crp_sess_x"
    halted.oversight_required, halted.report_id = True, report().report_id
    halted.report.CopyFrom(withheld(report()))
    out, code = shown(response, 200)
    assert code is Exit.VERDICT
    assert "halted: HALT_ON_HIGH (oversight-required)" in out
    assert "HIGH 0.50 · 1 of 3 claims contradicted" in out
    assert WHY in out
    assert QUOTE not in out
    assert "c1 CONTRADICTED characters 0 to 34 of the answer" in out
    assert halted.report_id in out
    assert "A person has to decide" in out
    assert "Recordings are kept" not in out


def test_a_halt_before_any_answer_says_what_to_do(shown):
    response = dispatch.DispatchResponse()
    response.halted.halt_reason = "UNACCEPTABLE_EU_AI_ACT"
    out, _ = shown(response, 200)
    assert "groundtrail systems list" in out


def test_nothing_is_drawn_as_json(capsys):
    for show in (outcomes.show_answer, outcomes.show_halted):
        show(answered(), Output(as_json=True))
    assert capsys.readouterr().out == ""


def test_an_answer_without_claims_says_so():
    told = told_answer(report_pb2.DpeReport(risk_level="RISK_LEVEL_MEDIUM"), "Guten Tag.")
    assert told.headline[:2] == ("MEDIUM", "no claims")
    assert told.reasons == ("not everything could be checked, so it is never better than MEDIUM",)


def test_a_part_that_is_known_to_be_answered_is_not_called_unanswered():
    made = report()
    made.uncovered_sub_queries.append("How deep may I dive?")
    made.sub_queries_total = 1
    told = told_answer(made, TEXT)
    assert told.unanswered == ("How deep may I dive?",)
    assert "1 of 1 part unanswered" in told.headline
    made.relevance.status, made.relevance.questions_total = quality_pb2.RELEVANCE_STATUS_RELEVANT, 1
    told = told_answer(made, TEXT)
    assert told.unanswered == ()
    assert not [part for part in told.headline if "unanswered" in part]
    made.sub_queries_total = 2
    assert told_answer(made, TEXT).unanswered, "of two parts relevance knows one alone"
    made.sub_queries_total = 1
    made.relevance.unanswered_questions.append("How deep may I dive?")
    assert told_answer(made, TEXT).unanswered


def test_reasons_are_words():
    assert told_answer(report(), TEXT).reasons == (
        "33% of the claims rest on no fact of the envelope",
        "what was found in the answer takes 0.40 off its fidelity",
    )
    assert told_answer(report(level="LOW"), TEXT).reasons == ()


class TestMarks:
    def test_pieces_together_are_the_text(self):
        pieces = marked(TEXT, marks(report()))
        assert "".join(piece.text for piece in pieces) == TEXT
        assert [piece.text for piece in pieces if piece.mark] == ["3 years", "Ada Quill"]

    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            ([], ["abcdef"]),
            ([(0, 6, Mark.CONTRADICTED)], ["abcdef"]),
            ([(1, 3, Mark.CONTRADICTED), (2, 5, Mark.UNSUPPORTED)], ["a", "bc", "de", "f"]),
            ([(4, 99, Mark.CONTRADICTED), (9, 12, Mark.UNSUPPORTED)], ["abcd", "ef"]),
            ([(3, 3, Mark.CONTRADICTED), (5, 2, Mark.CONTRADICTED)], ["abcdef"]),
        ],
    )
    def test_overlaps_and_spans_that_are_none(self, found, expected):
        assert [piece.text for piece in marked("abcdef", found)] == expected

    def test_a_wrong_claim_of_which_no_words_are_known_is_marked_whole(self):
        made = report()
        del made.distortions[:]
        assert "Claims files are kept for 3 years." in [
            piece.text for piece in marked(TEXT, marks(made)) if piece.mark is Mark.CONTRADICTED
        ]


class TestViews:
    def test_a_summary_is_smaller_and_keeps_what_is_shown(self):
        whole = report()
        for claim in whole.claims:
            for _ in range(2):
                claim.judgement.evidence.add().CopyFrom(claim.judgement.evidence[0])
                claim.attribution.evidence.add().CopyFrom(claim.judgement.evidence[0])
        told = in_view(whole, report_pb2.REPORT_VIEW_SUMMARY)
        assert told.ByteSize() < whole.ByteSize() / 2
        assert [claim.judgement.why for claim in told.claims] == [claim.judgement.why for claim in whole.claims]
        assert told_answer(told, TEXT) == told_answer(whole, TEXT)
        assert [stage.name for stage in told.stages] == ["Entailment Scoring"]
        assert (len(told.omissions), len(told.models)) == (3, 0)

    def test_full_and_none(self):
        made = report()
        assert in_view(made, report_pb2.REPORT_VIEW_UNSPECIFIED) is made
        assert in_view(made, report_pb2.REPORT_VIEW_FULL) is made
        assert in_view(made, report_pb2.REPORT_VIEW_NONE) is None

    def test_a_withheld_report_does_not_tell_the_answers_own_amounts(self):
        made = report()
        made.risk_floors.add(reason=report_pb2.RISK_FLOOR_REASON_MISRECKONED, details=["14 + 9 + 6 is 29, not 31"])
        (floor,) = [
            each for each in withheld(made).risk_floors if each.reason == report_pb2.RISK_FLOOR_REASON_MISRECKONED
        ]
        assert list(floor.details) == []
        assert made.risk_floors[-1].details, "the report itself stays as it was"

    def test_a_withheld_report_has_no_word_of_the_answer_but_in_its_sentences(self):
        made = report(why="Of it.")
        made.claims[2].judgement.why = "Of it."
        pair = made.claims[0].judgement.evidence[0].aligned_values.add(answer_text="3 years", fact_text="10 years")
        pair.relation = claim_pb2.VALUE_RELATION_DIFFERENT
        made.contradictions.add(
            claim_text="3 years", other_text="Ada Quill", values=made.distortions[0].values, why="First “Ada Quill”."
        )
        told = str(withheld(made))
        assert [word for word in ("3 years", "Ada Quill", "Recordings") if word in told] == []
        assert "10 years" in told
        assert "Ada Quill" in str(made)

    def test_with_personal_data_the_sentences_go_too(self):
        made = report()
        made.gdpr_pii_detected = True
        assert not any(claim.judgement.why for claim in withheld(made).claims)


def test_what_only_held_before_is_marked_and_told_with_what_sources_disagree_on(shown):
    response = answered()
    outdated = response.answer.report.claims[1]
    outdated.verdict = claim_pb2.CLAIM_VERDICT_SUPERSEDED
    outdated.judgement.why = "Stands word for word in Data retention. That stood there until 2026-03-03."
    disagreement = response.answer.report.source_disagreements.add()
    disagreement.values.add(fact_id=FACT_ID, text="6 months", source=report().claims[0].judgement.evidence[0].source)
    disagreement.values.add(fact_id=FACT_ID, text="9 months")
    out, _ = shown(response, 200)
    assert "1 of 3 claims contradicted, 1 unsupported, 1 superseded" in out
    assert ">>Recordings are kept for 6 months.<<" in out
    assert "c2 SUPERSEDED" in out
    assert "That stood there until 2026-03-03." in out
    assert "sources disagree: 6 months in Data retention" in out
    assert f"9 months in fact {FACT_ID[:8]}" in out


def test_contradictions_are_told_in_sentences_the_gravest_first(shown):
    response = answered()
    response.answer.report.contradictions.add(
        severity=finding_pb2.CONTRADICTION_SEVERITY_MEDIUM, why="The answer says “dear”, and then “cheap”."
    )
    response.answer.report.cross_window_contradictions.add(
        severity=finding_pb2.CONTRADICTION_SEVERITY_CRITICAL,
        why="In window 2 the answer said 5 euros; now it says 7 euros.",
    )
    out, _ = shown(response, 120)
    assert out.index("In window 2 the answer said 5 euros") < out.index("The answer says “dear”")
    told = told_answer(response.answer.report, TEXT)
    assert "In window 2 the answer said 5 euros; now it says 7 euros." in told.contradictions
    html = page(PageMatter(response.answer.report, told, "", "INTACT", "2026-11-28"))
    assert html.index("<h2>Contradictions</h2>") < html.index("In window 2 the answer said 5 euros")
