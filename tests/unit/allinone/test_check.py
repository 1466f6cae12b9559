"""The Python function: what a caller gets, for which inputs, and what a policy makes of it."""

import pytest
from groundtrail import Document, Fact, Level

from services.allinone import check as module
from services.allinone.check import CheckOrder, check
from services.common.errors import InvalidRequestError
from tests.fakes.checks import FEE, checker

WRONG = "The fee for late reports is 7 euros."
HANDBOOK = b"# Claims\n\n## Fees\n\nThe fee for late reports is 5 euros in every branch of the insurer today.\n"


async def test_a_supported_answer_names_the_words_and_their_document():
    result = await checker().check(FEE, [Fact(FEE, "Fees")], "What is the fee?")
    assert result.supported
    assert result.level is Level.LOW
    (claim,) = result.claims
    assert (claim.verdict, FEE[claim.start : claim.end]) == ("SUPPORTED", claim.text)
    assert (claim.quotes[0].title, claim.quotes[0].words) == ("Fees", FEE)
    assert "Fees" in claim.why


async def test_a_wrong_figure_is_contradicted_and_both_values_are_told():
    result = await checker().check(WRONG, [Fact(FEE, "Fees")])
    assert not result.supported
    (claim,) = result.judged
    assert claim.verdict == "CONTRADICTED"
    assert claim.why == "5 euros in Fees; the answer says 7 euros."


async def test_texts_files_and_documents_are_facts(tmp_path):
    file = tmp_path / "handbook.md"
    file.write_bytes(HANDBOOK)
    found = await checker().check(FEE, ["Hail is covered.", file, Document("other.md", HANDBOOK)])
    assert [fact.title for fact in found.response.facts] == ["", "Claims", "Claims"]


async def test_many_answers_come_back_in_order():
    orders = [CheckOrder(FEE if number % 3 else WRONG, (FEE,)) for number in range(40)]
    results = await checker().check_all(orders)
    assert [result.supported for result in results] == [bool(number % 3) for number in range(40)]


async def test_contradictions_with_earlier_answers_are_counted_apart():
    result = await checker().check(FEE, [], earlier_answers=[WRONG])
    assert result.contradictions_with_earlier == 1
    assert result.contradictions == 0


async def test_a_policy_that_does_not_hold_withholds_or_warns():
    halted = await checker().check(WRONG, [FEE], policy="halt-on LOW")
    assert halted.policy.halt_reason == "halt-on LOW"
    assert [finding.halts for finding in halted.policy.findings] == [True]
    warned = await checker().check(WRONG, [FEE], policy="warn-on LOW")
    assert (warned.policy.halt_reason, [finding.halts for finding in warned.policy.findings]) == ("", [False])
    assert (await checker().check(FEE, [FEE], policy="halt-on CRITICAL")).policy.findings == ()
    assert (await checker().check(FEE, [FEE])).policy is None


@pytest.mark.parametrize(
    ("policy", "reason"), [("halt-at HIGH", "UNKNOWN_DIRECTIVE"), ("halt-on VERY", "INVALID_FIELD")]
)
async def test_a_policy_that_cannot_be_read_is_refused(policy, reason):
    with pytest.raises(InvalidRequestError) as refused:
        await checker().check(FEE, [FEE], policy=policy)
    assert refused.value.reason == reason
    assert [violation.field for violation in refused.value.violations] == ["policy"]


async def test_nothing_to_hold_an_answer_against_is_refused():
    with pytest.raises(InvalidRequestError) as refused:
        await checker().check(FEE, [])
    assert [violation.field for violation in refused.value.violations] == ["facts"]


def test_callers_without_an_event_loop_get_the_same(monkeypatch):
    class Opened:
        async def __aenter__(self):
            return checker()

        async def __aexit__(self, *_):
            return None

    monkeypatch.setattr(module, "open_checker", lambda _settings: Opened())
    assert check(FEE, [FEE], "What is the fee?").supported
