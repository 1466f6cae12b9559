"""Finding entities in the process and in a worker process: texts per processor second, and that they agree.

``python -m bench.text_workers`` reads the handbook's sentences in both ways by turns, so
that what else runs on the machine meets both. The processor time of a worker counts together with that of the process
that asks.
"""

import argparse
import asyncio
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Final

from services.common.adapters.spacy.recognizer import SpacyEntityRecognizer, open_recognizer
from services.common.adapters.text_workers import TextWorkers
from services.common.settings.inference import InferenceSettings
from services.common.settings.workers import WorkerSettings
from services.common.workers.counts import WorkerCounts

_HANDBOOK: Final = Path(__file__).resolve().parents[1] / "examples" / "handbook"
_ROUNDS: Final = 7
_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences() -> list[str]:
    """Return the handbook's sentences."""
    texts = (page.read_text(encoding="utf-8") for page in sorted(_HANDBOOK.glob("*.md")))
    return [part for text in texts for part in _END.split(text) if part.strip()]


async def measure(rounds: int) -> dict[str, float]:
    """Return texts per processor second of both ways, medians, and their ratio."""
    texts = sentences()
    workers = TextWorkers(WorkerSettings(), WorkerCounts())
    inside = await open_recognizer(InferenceSettings())
    outside = await open_recognizer(InferenceSettings(), workers=workers)
    try:
        if await inside.recognize(texts) != await outside.recognize(texts):
            raise RuntimeError("the two ways do not agree")
        rates: dict[str, list[float]] = {"inside": [], "outside": []}
        for _ in range(rounds):
            for name, recognizer in (("inside", inside), ("outside", outside)):
                rates[name].append(len(texts) / await _spent_s(recognizer, texts, workers))
    finally:
        await inside.close()
        await workers.close()
    medians = {name: statistics.median(found) for name, found in rates.items()}
    ratios = [out / own for own, out in zip(rates["inside"], rates["outside"], strict=True)]
    return medians | {"ratio": statistics.median(ratios), "texts": float(len(texts))}


async def _spent_s(recognizer: SpacyEntityRecognizer, texts: list[str], workers: TextWorkers) -> float:
    before = time.process_time() + workers.pool.processor_s()
    await recognizer.recognize(texts)
    return time.process_time() + workers.pool.processor_s() - before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    found = asyncio.run(measure(parser.parse_args().rounds))
    sys.stdout.write(
        f"{found['texts']:.0f} texts: {found['inside']:.0f} a processor second in the process, "
        f"{found['outside']:.0f} in a worker process, ratio {found['ratio']:.3f}\n"
    )


if __name__ == "__main__":
    main()
