"""Presidio's analyzer over our own recogniser's entities: nothing is downloaded, nothing is logged.

Presidio would load a spaCy model of its own; here the entities come with the text. Its loggers write texts (the IBAN
recogniser does on an error), so they are shut.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from presidio_analyzer import AnalyzerEngine, EntityRecognizer, RecognizerRegistry, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

from services.common.adapters.presidio import contact, identity, money, people, places, special
from services.common.adapters.presidio.duplicates import settle_duplicates
from services.common.adapters.presidio.nearby import NearbyWords, hints

LANGUAGE: Final = "en"
THRESHOLD: Final = 0.5
"""Findings of less confidence are left out."""
_PERSON: Final = "PERSON"


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """An entity in the form that Presidio's recognisers read."""

    label_: str
    start_char: int
    end_char: int


class GivenEntities(NlpEngine):
    """An NLP engine that computes nothing: its artifacts come with each call."""

    def load(self) -> None:
        """Need nothing."""

    def is_loaded(self) -> bool:
        """Say that it is ready."""
        return True

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        """Return artifacts without an entity."""
        del text, language
        return artifacts(())

    def process_batch(
        self, texts: Iterable[str], language: str, batch_size: int = 1, n_process: int = 1, **_: Any
    ) -> Iterator[tuple[str, NlpArtifacts]]:
        """Yield each text with artifacts without an entity."""
        del batch_size, n_process
        yield from ((text, self.process_text(text, language)) for text in texts)

    def is_stopword(self, word: str, language: str) -> bool:
        """Know no stop words."""
        del word, language
        return False

    def is_punct(self, word: str, language: str) -> bool:
        """Know no punctuation."""
        del word, language
        return False

    def get_supported_entities(self) -> list[str]:
        """Return the kinds that it passes on."""
        return [_PERSON]

    def get_supported_languages(self) -> list[str]:
        """Return the language that the recognisers are registered under; the patterns know more."""
        return [LANGUAGE]


def artifacts(persons: Iterable[tuple[int, int]]) -> NlpArtifacts:
    """Return the places of persons as Presidio's artifacts."""
    spans = [NamedSpan(_PERSON, start, end) for start, end in persons]
    # Presidio's recognisers read label and offsets alone; it types them as spaCy's spans.
    return NlpArtifacts(cast("Any", spans), cast("Any", []), [], [], cast("Any", None), LANGUAGE)


class Analyzer:
    """Presidio's ``AnalyzerEngine`` with the recognisers of this package; not for two threads at once."""

    def __init__(self) -> None:
        silence()
        settle_duplicates()
        enhancer = NearbyWords()
        registry = RecognizerRegistry(recognizers=[], supported_languages=[LANGUAGE])
        self._hints: list[tuple[str, tuple[str, ...]]] = []
        for one in identity.known():
            registry.add_recognizer(one.recognizer)
            enhancer.learn(one.recognizer, one.words, needed=one.needed)
            self._hints.append((one.recognizer.supported_entities[0], hints(one.words) if one.needed else ()))
        for recognizer in ours():
            registry.add_recognizer(recognizer)
            self._hints.append((recognizer.supported_entities[0], getattr(recognizer, "hints", ())))
        self._engine = AnalyzerEngine(
            registry, GivenEntities(), supported_languages=[LANGUAGE], context_aware_enhancer=enhancer
        )

    def analyze(self, text: str, persons: Iterable[tuple[int, int]]) -> list[RecognizerResult]:
        """Return what all recognisers found, overlaps included; ``persons`` are the places of persons in the text."""
        lowered = text.lower()
        wanted = {name for name, each in self._hints if not each or any(hint in lowered for hint in each)}
        found: list[RecognizerResult] = self._engine.analyze(
            text, LANGUAGE, sorted(wanted), score_threshold=THRESHOLD, nlp_artifacts=artifacts(persons)
        )
        return found

    def types(self) -> set[str]:
        """Return the types that may be found."""
        return set(self._engine.get_supported_entities(LANGUAGE))


def ours() -> list[EntityRecognizer]:
    """Return the recognisers that need no context words."""
    parts = (contact, money, people, places, special)
    return [*identity.ours(), *(one for part in parts for one in part.recognizers())]


def search(analyzer: Analyzer) -> Callable[[str, Iterable[tuple[int, int]]], list[tuple[str, int, int, float]]]:
    """Return what finds personal data in a text with persons at known places: type, start, end, confidence."""

    def found(text: str, persons: Iterable[tuple[int, int]]) -> list[tuple[str, int, int, float]]:
        return [(one.entity_type, one.start, one.end, one.score) for one in analyzer.analyze(text, persons)]

    return found


def silence() -> None:
    """Shut the loggers of Presidio and of what it brings: they may hold text."""
    for name in ("presidio-analyzer", "presidio_analyzer", "decision_process", "tldextract"):
        logging.getLogger(name).disabled = True
