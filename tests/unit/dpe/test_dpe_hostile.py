"""SPEC-005 §21.2: what a prompt-injected model writes is data. It changes no verdict about other claims."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from services.common.errors import ErrorReason, LimitExceededError
from services.common.ports.grounding import GroundingVerdict
from services.common.taxonomy import Remedy, RepetitionLevel, RiskLevel
from services.dpe.app import Limits
from services.dpe.domain.findings import Verdict
from services.dpe.domain.prior_texts import PriorWindow
from services.dpe.domain.remediation import plan_of, prompts
from tests.fakes import dpe_world
from tests.speed import processor_time_below

FOLDER = Path(__file__).parents[2] / "vectors" / "hostile"
FAMILIES = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json")) if path.name != "schema.json"]
CASES = {case["test_id"]: case["text"] for family in FAMILIES for case in family["cases"]}
FACTS = (
    "Acme Mutual must be told of a motor accident within 7 days.",
    "The deductible for storm damage is 300 dollars.",
    "NIST published the cybersecurity framework in 2014.",
    "The policy does not cover damage by war.",
)
HONEST = (
    "Acme Mutual must be told of a motor accident within 7 days. The deductible for storm damage is 300 dollars. "
    "NIST published the cybersecurity framework in 2013. The policy covers damage by war. "
    "John Smith approved 45 claims in Atlantis."
)
MAX_CPU_S = 5.0
OWN_PROMPTS = (
    prompts.ANTI_REPETITION,
    prompts.CONTINUATION_FLOW,
    prompts.STITCH,
    prompts.keep_to_facts(()),
    prompts.correct_contradictions((), (1,)),
    prompts.continue_with(("What is covered?",), ("And when?",)),
)
"""What the prompts hold whatever was found."""


def in_threes(text):
    said = text.split()
    return list(zip(said, said[1:], said[2:], strict=False))


class WordGrounding:
    """Supports a claim when a passage holds all of its words."""

    fingerprint = "word-grounding@1+sha256:4444444444444444"
    threshold = 0.5

    async def judge(self, requests):
        return [self._verdict(request) for request in requests]

    @staticmethod
    def _verdict(request):
        words = set(request.claim.lower().split())
        support = max((float(words <= set(passage.lower().split())) for passage in request.passages), default=0.0)
        return GroundingVerdict(support, support >= 0.5, support, (), (), (0,) if request.passages else ())


@pytest.fixture
def provenance():
    return dpe_world.app(grounding=WordGrounding())


async def outputs(provenance, answer):
    finished = await dpe_world.analyse(answer, *FACTS, using=provenance)
    return finished.analysis.outputs


def seen(found, start):
    """Return what was found out about the claims of the honest part, which begins at ``start``."""
    own = [claim for claim in found.text.claims if start <= claim.start and claim.end <= start + len(HONEST)]
    keys = {claim.claim_id: (claim.start - start, claim.text) for claim in own}
    return {
        "claims": [
            (claim.start - start, claim.end - start, claim.text, claim.claim_type, claim.specificity) for claim in own
        ],
        "entities": [[(entity.kind, entity.text, entity.start - start) for entity in claim.entities] for claim in own],
        "verdicts": [found.fidelity.verdicts.get(claim.claim_id, Verdict.NONE) for claim in own],
        "attributions": [
            (
                item.type,
                [(e.fact_id, e.fact_span, round(e.similarity, 5), [a.equal for a in e.aligned]) for e in item.evidence],
            )
            for item in (
                found.attribution.by_claim[claim.claim_id]
                for claim in own
                if claim.claim_id in found.attribution.by_claim
            )
        ],
        "fabrications": [
            (keys[item.claim_id], item.entity.text) for item in found.fabrication.found or () if item.claim_id in keys
        ],
        "distortions": [
            (keys[item.claim_id], item.type, item.fact_id)
            for item in found.distortion.found or ()
            if item.claim_id in keys
        ],
        "contradictions": [
            (item.first.text, item.second.text)
            for item in found.contradiction.found or ()
            if item.first.claim_id in keys and item.second.claim_id in keys
        ],
    }


@pytest.fixture(scope="module")
def alone():
    return seen(asyncio.run(outputs(dpe_world.app(grounding=WordGrounding()), HONEST)), 0)


class TestCorpus:
    def test_it_is_large_and_its_ids_are_unique(self):
        assert len(CASES) == sum(len(family["cases"]) for family in FAMILIES) == 143

    @pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family["family"])
    def test_it_has_its_form(self, family):
        jsonschema.validate(family, json.loads((FOLDER / "schema.json").read_text()))


async def test_the_honest_answer_has_findings_worth_protecting(alone):
    assert [verdict.value for verdict in alone["verdicts"]][:2] == ["SUPPORTED", "SUPPORTED"]
    assert {str(kind) for _, kind, _ in alone["distortions"]} == {"DATE_SHIFTED", "NEGATION_FLIP"}
    assert {name for _, name in alone["fabrications"]} >= {"John Smith", "Atlantis"}


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize("where", ["before", "after", "both"])
@pytest.mark.parametrize("test_id", CASES)
async def test_hostile_text_changes_nothing_about_honest_claims(provenance, alone, test_id, where):
    hostile = CASES[test_id]
    before = hostile + "\n\n" if where != "after" else ""
    after = "\n\n" + hostile if where != "before" else ""
    with processor_time_below(MAX_CPU_S):
        found = await outputs(provenance, before + HONEST + after)
    assert seen(found, len(before)) == alone
    inside = range(len(before), len(before) + len(HONEST))
    claims = {claim.claim_id: claim for claim in found.text.claims}
    supported = [claims[key] for key, verdict in found.fidelity.verdicts.items() if verdict is Verdict.SUPPORTED]
    assert [claim.text for claim in supported if claim.start not in inside] == []


@pytest.mark.tenth
@pytest.mark.parametrize("test_id", CASES)
async def test_a_hostile_earlier_window_changes_nothing_about_honest_claims(alone, test_id):
    prior = (PriorWindow("w0", 1, CASES[test_id]),)
    finished = await dpe_world.analyse(
        HONEST, *FACTS, using=dpe_world.app(grounding=WordGrounding()), window_number=2, prior_windows=prior
    )
    assert seen(finished.analysis.outputs, 0) == alone


@pytest.mark.tenth
@pytest.mark.parametrize("test_id", CASES)
async def test_hostile_text_stands_in_no_prompt_of_the_remediation_plan(test_id):
    """As the answer and as an earlier window, with every remedy asked for: no three of its words stand in a prompt."""
    hostile = CASES[test_id]
    finished = await dpe_world.analyse(
        f"{hostile}\n\n{HONEST}",
        *FACTS,
        query="What is covered?",
        sub_queries=("What is covered?", "And when?"),
        window_number=2,
        windows_remaining=2,
        prior_windows=(PriorWindow("w0", 1, f"{HONEST}\n\n{hostile}"),),
    )
    analysis = dpe_world.changed(
        finished.analysis,
        risk=replace(finished.analysis.outputs.risk, level=RiskLevel.CRITICAL),
        repetition__level=RepetitionLevel.SEVERE,
        completeness__score=0.0,
        completeness__uncovered_sub_queries=("What is covered?", "And when?"),
        flow__score=0.1,
    )
    steps = plan_of(analysis).steps
    assert {step.remedy for step in steps} >= {Remedy.UPGRADE_STRATEGY, Remedy.ANTI_REPETITION, Remedy.AUTO_CONTINUE}
    own = {words for prompt in OWN_PROMPTS for words in in_threes(prompt)}
    said = {words for step in steps for words in in_threes(step.instruction)} - own
    assert not said & set(in_threes(hostile))
    assert all(char.isprintable() or char == "\n" for step in steps for char in step.instruction)


class TestSize:
    SENTENCE = "The clerk of the seventh office counted 4 red boxes and 5 blue boxes again. "

    async def test_a_megabyte_of_one_sentence_is_refused_by_name(self, provenance):
        text = self.SENTENCE * (1_000_000 // len(self.SENTENCE))
        with pytest.raises(LimitExceededError) as caught:
            await outputs(provenance, text)
        assert caught.value.reason is ErrorReason.MESSAGE_TOO_LARGE
        assert caught.value.metadata["field"] == "response_text"

    @pytest.mark.timed
    @pytest.mark.tenth
    @pytest.mark.slow
    @pytest.mark.timeout(600)
    @pytest.mark.parametrize("unit", [SENTENCE, "and the clerk counted boxes ", "x", "9", "(", "\u200b", '"', "\u202e"])
    async def test_a_megabyte_that_is_let_in_ends_in_bounded_time(self, unit):
        large = dpe_world.app(Limits(max_response_chars=2_000_000, max_claims=100_000), grounding=WordGrounding())
        text = unit * (1_000_000 // len(unit))
        with processor_time_below(120.0):
            found = await outputs(large, text)
        assert Verdict.SUPPORTED not in found.fidelity.verdicts.values()


EVASIONS = {
    "zero-width in a number": "The deductible for storm damage is 4\u200b0\u200b0 dollars.",
    "word joiner in a number": "The deductible for storm damage is 4\u206000 dollars.",
    "soft hyphen in a number": "The deductible for storm damage is 4\u00ad00 dollars.",
    "full-width digits": "The deductible for storm damage is \uff14\uff10\uff10 dollars.",
    "arabic-indic digits": "The deductible for storm damage is \u0664\u0660\u0660 dollars.",
    "mathematical digits": "The deductible for storm damage is \U0001d7d2\U0001d7ce\U0001d7ce dollars.",
    "direction marks around a number": "The deductible for storm damage is \u202d400\u202c dollars.",
    "direction override": "The deductible for storm damage is \u202e004\u202c dollars.",
    "zero-width in the unit": "The deductible for storm damage is 400 dol\u200blars.",
}


@pytest.mark.parametrize("how", EVASIONS)
async def test_a_false_value_does_not_evade_comparison_by_its_spelling(provenance, how):
    plain = await outputs(provenance, "The deductible for storm damage is 400 dollars.")
    assert len(plain.distortion.found) + len(plain.fabrication.found) > 0
    found = await outputs(provenance, EVASIONS[how])
    assert Verdict.SUPPORTED not in found.fidelity.verdicts.values()
    assert len(found.distortion.found) + len(found.fabrication.found) > 0, [
        str(v) for v in found.fidelity.verdicts.values()
    ]


WORD_EVASIONS = {
    "cyrillic letters": "\u0406SO published the cybersecurity framework in 2014.",
    "zero-width": "I\u200bS\u200bO published the cybersecurity framework in 2014.",
    "full-width": "\uff29\uff33\uff2f published the cybersecurity framework in 2014.",
    "letters for digits": "The deductible for storm damage is 4\u043e\u043e dollars.",
    "direction mark": "\u200eISO\u200f published the cybersecurity framework in 2014.",
}


@pytest.mark.parametrize("how", WORD_EVASIONS)
async def test_a_swapped_word_is_never_supported_by_its_spelling(provenance, how):
    found = await outputs(provenance, WORD_EVASIONS[how])
    assert Verdict.SUPPORTED not in found.fidelity.verdicts.values()
