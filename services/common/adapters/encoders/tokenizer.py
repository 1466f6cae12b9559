"""Text to the token ids that an encoder reads: an encoder's own ``tokenizer.json``, never truncating.

Special tokens are laid around token ids here, from what the tokenizer's template does to a probe, so that windows of a
text that was tokenised once get exactly what the tokenizer itself would have given them.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from tokenizers import Encoding, Tokenizer

from services.common.adapters.encoders.backend import TokenIds
from services.common.computing import compute
from services.common.model_repository import ModelRepository, ModelRepositoryError, PairLayout

TOKENIZER_FILE: Final = "tokenizer.json"
IN_PLACE_CHARS: Final = 4_000
"""Up to this many characters (well under a millisecond) are tokenised on the event loop, more in a thread."""
SENTENCE_ENDS: Final = (".", "!", "?", "。", "！", "？")  # noqa: RUF001 - full-width marks are meant
_PROBE: Final = "a"

ResultT = TypeVar("ResultT")


class EncoderTokenizer:
    """One model's tokenizer. Thread-safe: it is only read.

    Args:
        tokenizer: the library's; truncation and padding are switched off.
        layout: how a pair is laid out, of an encoder of the user's own: its texts' own special tokens are then read as
            plain text, since one of them between the texts would be taken for the place where the second begins.
            ``None`` = by the tokenizer's template.

    Raises:
        ModelRepositoryError: its templates for one text and for a pair cannot be told from a probe.
    """

    def __init__(self, tokenizer: Tokenizer, layout: PairLayout | None = None) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._swapped = layout is not None and layout.hypothesis_first
        if layout is None:
            self._before, self._after = _around(tokenizer.encode(_PROBE), 1)
            self._first, self._between, self._last = pair_specials(tokenizer)
        else:
            tokenizer.encode_special_tokens = True
            self._before, self._after = (), ()
            self._first, self._between, self._last = layout.before, layout.between, layout.after
        marks = (tokenizer.token_to_id(mark) for mark in SENTENCE_ENDS)
        self.sentence_ends: frozenset[int] = frozenset(mark for mark in marks if mark is not None)
        """Ids of the tokens that end a sentence."""

    @classmethod
    def load(cls, repository: ModelRepository, name: str) -> "EncoderTokenizer":
        """Read the tokenizer of a verified model.

        Raises:
            ModelRepositoryError: it cannot be read, or not be used for an encoder.
        """
        path = _path(repository, name)
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise ModelRepositoryError(f"{path} cannot be loaded: {error}") from error
        own = repository.entry(name).own
        return cls(tokenizer, None if own is None else own.layout)

    @property
    def text_specials(self) -> int:
        """How many special tokens stand around one text."""
        return len(self._before) + len(self._after)

    @property
    def text_start(self) -> int:
        """Where a text's own tokens begin."""
        return len(self._before)

    @property
    def pair_specials(self) -> int:
        """How many special tokens stand around and between the texts of a pair."""
        return len(self._first) + len(self._between) + len(self._last)

    @property
    def first_start(self) -> int:
        """Where the tokens of the text that stands first begin in a pair."""
        return len(self._first)

    def ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return each text's token ids, without special tokens, whole."""
        return [tuple(encoding.ids) for encoding in self.encodings(texts)]

    def encodings(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the library's encodings, without special tokens; their offsets count code points."""
        if sum(map(len, texts)) <= IN_PLACE_CHARS:
            # One by one: the library's own threads wait for processors that the encoders are using.
            return [self._tokenizer.encode(text, add_special_tokens=False) for text in texts]
        return self._tokenizer.encode_batch(list(texts), add_special_tokens=False)

    def text(self, ids: TokenIds) -> TokenIds:
        """Lay the special tokens around one text."""
        return (*self._before, *ids, *self._after)

    def pair(self, first: TokenIds, second: TokenIds) -> TokenIds:
        """Lay the special tokens around and between premise and hypothesis, in the order in which the model reads."""
        if self._swapped:
            first, second = second, first
        return (*self._first, *first, *self._between, *second, *self._last)

    def second_start(self, first: TokenIds) -> int:
        """Return where the second text's tokens, the hypothesis', begin in a pair with this first one."""
        return len(self._first) if self._swapped else len(self._first) + len(first) + len(self._between)


async def off_the_loop(texts: Sequence[str], work: Callable[[Sequence[str]], ResultT]) -> ResultT:
    """Run pure ``work`` on the texts: in place when they are few and short, else beside the loop (ADR 0087)."""
    if sum(map(len, texts)) <= IN_PLACE_CHARS:
        return work(texts)
    return await compute(work, texts)


def _path(repository: ModelRepository, name: str) -> Path:
    path = repository.folder(name) / TOKENIZER_FILE
    if repository.entry(name).file(TOKENIZER_FILE) is None:
        raise ModelRepositoryError(f"{path} is not listed in MANIFEST.json")
    return path


def pair_specials(tokenizer: Tokenizer) -> tuple[TokenIds, TokenIds, TokenIds]:
    """Return the special tokens that a tokenizer's template lays before, between and after a pair.

    Raises:
        ModelRepositoryError: they cannot be told from a probe.
    """
    before, between, after = _around(tokenizer.encode(_PROBE, _PROBE), 2)
    return before, between, after


def _around(encoding: Encoding, texts: int) -> list[TokenIds]:
    """Return the special tokens before, between and after the texts."""
    groups: list[list[int]] = [[] for _ in range(texts + 1)]
    seen = 0
    for number, sequence in zip(encoding.ids, encoding.sequence_ids, strict=True):
        if sequence is None:
            groups[seen].append(number)
        else:
            seen = sequence + 1
    if seen != texts:
        raise ModelRepositoryError(f"{TOKENIZER_FILE}: its special tokens cannot be told from those of a probe")
    return [tuple(group) for group in groups]
