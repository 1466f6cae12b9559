"""Entities and personal data from worker processes: the same as in the process, and nothing of it loaded here."""

import subprocess
import sys

import pytest

from services.common.adapters.presidio.detector import open_detector
from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.adapters.text_workers import TextWorkers
from services.common.errors import UnavailableError
from services.common.model_repository import ModelRepositoryError
from services.common.ports.personal_data import RecognisedText
from services.common.settings import WorkerSettings
from services.common.settings.inference import InferenceSettings
from services.common.workers.counts import WorkerCounts

pytestmark = pytest.mark.timeout(240)
TEXTS = [
    "Anna Keller (born 4 March 1980) wrote to anna.keller@example.org from Bern.",
    "",
    f"Call +41 44 668 18 00. {'=' * 900} The premium is €1.2 million, says Emmanuel Macron.",
    "Berlin has 3 airports. " * 100,
]
COMPOSED = """
import asyncio, sys
from services.common.composition import Adapters
from services.common.ports.personal_data import RecognisedText
from services.common.settings import Settings

async def main():
    async with Adapters(Settings()) as adapters:
        recognizer, detector = await adapters.entity_recognizer(), await adapters.personal_data()
        await recognizer.recognize([""])  # what readiness asks
        await detector.detect([RecognisedText("a")])
        assert adapters.worker_counts.of_pool("text").running == 0

asyncio.run(main())
print(sorted({"spacy", "thinc", "presidio_analyzer", "phonenumbers"} & set(sys.modules)))
"""


async def test_what_workers_find_is_what_the_process_finds():
    workers = TextWorkers(WorkerSettings(), WorkerCounts())
    inside, outside = (
        await open_recognizer(InferenceSettings()),
        await open_recognizer(InferenceSettings(), None, workers),
    )
    near, far = await open_detector(InferenceSettings()), await open_detector(InferenceSettings(), workers)
    try:
        found = await outside.recognize(TEXTS)
        assert found == await inside.recognize(TEXTS)
        assert (outside.fingerprint, far.fingerprint) == (inside.fingerprint, near.fingerprint)
        given = [RecognisedText(text, entities) for text, entities in zip(TEXTS, found, strict=True)]
        personal = await far.detect(given)
        assert personal == await near.detect(given)
        assert {"EMAIL_ADDRESS", "DATE_OF_BIRTH", "PERSON"} <= {one.type for one in personal[0]}
        assert len(workers.pool.pids) == 1
    finally:
        for one in (inside, outside, near, far, workers):
            await one.close()
    with pytest.raises(UnavailableError):
        await outside.recognize(["x"])


def test_the_serving_process_loads_neither_and_readiness_starts_nothing():
    said = subprocess.run([sys.executable, "-c", COMPOSED], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


async def test_a_file_that_was_changed_after_the_start_is_not_loaded(caplog):
    workers = TextWorkers(WorkerSettings(), WorkerCounts())
    recognizer = await open_recognizer(InferenceSettings(), None, workers)
    workers.pool._setting["configuration"]["recognizer"]["files"][0][1] = "0" * 64
    for _ in range(2):
        with pytest.raises(UnavailableError, match="its process cannot be started"):
            await recognizer.recognize(["Bern"])
    with pytest.raises(UnavailableError, match="its process cannot be started"):
        await recognizer.recognize([""])  # readiness says so too
    assert "is not the pinned file any more" in caplog.text
    await workers.close()


async def test_a_wrong_digest_stops_the_start(tmp_path):
    workers = TextWorkers(WorkerSettings(), WorkerCounts())
    with pytest.raises(ModelRepositoryError):
        await open_recognizer(InferenceSettings(model_repository=tmp_path), None, workers)
    await workers.close()
