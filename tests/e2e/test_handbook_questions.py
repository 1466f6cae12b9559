"""Questions about the handbook, follow-ups among them: answered in one or two sentences, or refused (ADR 0096).

The facts come from the real envelope service; the answerer is asked as the gateway asks it.
"""

import json
import re
from pathlib import Path

import pytest
from crp.ckf.v1 import ckf_pb2
from crp.envelope.v1 import envelope_service_pb2 as envelopes

from services.allinone.parts import Part
from services.cli.commands.ingest import Terms, documents, ingest_all
from services.cli.connection import connect
from services.cli.console import Output
from services.common.composition import Adapters
from services.common.extractive.composing import NOT_FOUND, Asked, ExtractLimits, Source, extract
from services.common.extractive.selecting import AnswerSelector
from services.common.extractive.weighing import quoted
from services.common.questions.following import joined, leaned_on
from services.common.settings import load_settings
from services.common.settings.stores import StoreSettings
from tests.tenth import tenth

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
ROOT = Path(__file__).parents[2]
DOCUMENT = json.loads((ROOT / "tests" / "vectors" / "questions" / "handbook.json").read_text(encoding="utf-8"))
LIMITS = ExtractLimits(5, 0.3)
NATURAL = {
    "How deep may I dive and still be insured on holiday?": "30 metres",
    "With Motor Plus, how long do you pay for a rental car?": "14 days",
    "Up to what amount can a senior handler decide on his own?": "€25,000",
    "How long are claims files kept?": "10 years",
    "At what time does the head office in Harbour Row open in the morning?": "",
}
"""The quickstart's questions in people's own words, and one without an answer: what stands in the answer (ADR 0191)."""
_NEXT_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9€])|\n")


def right(item, text):
    if item.get("unanswerable") or text == NOT_FOUND:
        return bool(item.get("unanswerable")) and text == NOT_FOUND
    short = len([part for part in _NEXT_SENTENCE.split(text) if part.strip()]) <= 2
    return short and all(span in text for span in item["must"]) and not any(span in text for span in item["must_not"])


async def sources_for(suite, query):
    request = envelopes.BuildEnvelopeRequest(query=query, model="gpt-4o-mini")
    built = await suite.call(suite.envelopes.BuildEnvelope, request)
    return [
        Source(
            fact.fact_id,
            fact.content,
            fact.relevance_score,
            fact.status == ckf_pb2.FACT_STATUS_STALE,
            fact.source_location,
        )
        for fact in built.envelope.facts
    ]


@pytest.mark.tenth(inside=True)
async def test_questions_about_the_handbook(tmp_path):
    settings = load_settings(store=StoreSettings(data_dir=tmp_path))
    sessions: dict[str, list[str]] = {}
    wrong = set()
    async with connect(settings, Part.KNOWLEDGE) as suite:
        handbook = documents([ROOT / "examples" / "handbook"])
        taken = await ingest_all(suite, handbook, Terms("SOURCE_TYPE_OFFICIAL_DOCUMENT"), Output(as_json=True))
        assert not [each for each in taken if each.error]
        every = {item["session"]: None for item in DOCUMENT["questions"]}
        chosen = set(tenth("conversations about the handbook", every, share=4))
        for item in DOCUMENT["questions"]:
            if item["session"] not in chosen:
                continue
            earlier = sessions.setdefault(item["session"], [])
            leans_on = leaned_on(item["question"], earlier)
            earlier.append(item["question"])
            sources = await sources_for(suite, joined(item["question"], leans_on))
            answer = extract(Asked(item["question"], leans_on), sources, LIMITS)
            if not right(item, answer.text):
                wrong.add(item["test_id"])
        async with Adapters(settings) as adapters:
            selector = AnswerSelector(await adapters.embedding(), await adapters.entailment())
            for question, span in NATURAL.items():
                asked, sources = Asked(question), await sources_for(suite, question)
                found = await selector.choose(asked, sources, LIMITS)
                answer = quoted(asked, sources, LIMITS, found)
                assert span in answer.text if span else answer.text == NOT_FOUND, question
    assert wrong <= set(DOCUMENT["not_yet"]), sorted(wrong - set(DOCUMENT["not_yet"]))
