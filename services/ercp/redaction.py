"""``Redactor`` over the shared detector of personal data (ERCP 1.0 §11)."""

from collections.abc import Sequence

from services.common.ports.personal_data import PersonalDataDetector, RecognisedText
from services.common.ports.recognition import EntityRecognizer


class DetectingRedactor:
    """Replaces what the detector finds by its kind: ``<EMAIL_ADDRESS>``."""

    def __init__(self, recognizer: EntityRecognizer, detector: PersonalDataDetector) -> None:
        self._recognizer = recognizer
        self._detector = detector

    async def redact(self, texts: Sequence[str]) -> list[str]:
        """Recognise, detect and replace, from the end of each text on."""
        entities = await self._recognizer.recognize(texts)
        read = [RecognisedText(text, found) for text, found in zip(texts, entities, strict=True)]
        redacted = []
        for text, places in zip(texts, await self._detector.detect(read), strict=True):
            clean = text
            for place in reversed(places):
                clean = f"{clean[: place.start]}<{place.type}>{clean[place.end :]}"
            redacted.append(clean)
        return redacted


class NoRedactor:
    """Leaves texts as they are: for deployments whose settings say so."""

    async def redact(self, texts: Sequence[str]) -> list[str]:
        """Return the texts."""
        return list(texts)
