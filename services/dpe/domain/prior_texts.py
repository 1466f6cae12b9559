"""Earlier windows of a session: their texts, and what stage 1 reads in them."""

from dataclasses import dataclass, field

from services.common.reading.text_types import Claim, Sentence
from services.dpe.domain.statements import Statement


@dataclass(frozen=True, slots=True)
class PriorWindow:
    """An earlier window's answer, or a verified summary of it."""

    window_id: str
    window_number: int
    text: str = field(repr=False)
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class PriorText:
    """An earlier window that has words, as the stages read it; offsets are in its own text.

    Attributes:
        statements: its claims as they are compared, read once for all stages.
    """

    window: PriorWindow
    sentences: tuple[Sentence, ...]
    claims: tuple[Claim, ...] = ()
    statements: tuple[Statement, ...] = ()

    @property
    def sentence_texts(self) -> list[str]:
        """The texts of its sentences, in order."""
        return [self.window.text[sentence.start : sentence.end] for sentence in self.sentences]
