"""A generator without a model: it answers a problem's prompts from the problem's own table of drafts.

It is called scripted wherever its figures are told. ``begin`` puts it at the start of a problem; the first call gets
the first draft, whatever the prompt says; each later call goes on to the first draft whose conditions the prompt's
constraints meet, or says the same again. So it obeys, ignores, half obeys and falls back as the table says, and the
same calls always get the same answers.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from evaluation.ercp_problems import Condition, Draft, ScriptedProblem
from services.common.encoding import sha256_hex
from services.common.ports.language_model import LanguageReply, LanguageRequest

NAME: Final = "scripted-generator@1"
PREDICATE_NAMES: Final = (
    "Equal",
    "NotEqual",
    "LessThan",
    "GreaterThan",
    "NoContradiction",
    "TemporalOrder",
    "HasJustification",
)
_PREDICATE: Final = re.compile(rf"\b({'|'.join(PREDICATE_NAMES)})\b")


class ScriptedGenerator:
    """Implements ``LanguageModel``.

    Args:
        default_model: the name used when a request names none; known to the token counter.
    """

    def __init__(self, default_model: str) -> None:
        self._default_model = default_model
        self._problem: ScriptedProblem | None = None
        self._draft: Draft | None = None
        self._is_stubborn = False
        self.given: list[str] = []

    @property
    def default_model(self) -> str:
        """The model whose tokenizer texts are counted with."""
        return self._default_model

    def begin(self, problem: ScriptedProblem) -> None:
        """Start the problem's script; ``given`` holds the ids of the drafts that were answered since."""
        self._problem, self._draft, self.given, self._is_stubborn = problem, None, [], False

    def insist(self, problem: ScriptedProblem, draft: Draft) -> None:
        """Answer every call with one draft, whatever is demanded and asked."""
        self._problem, self._draft, self.given, self._is_stubborn = problem, draft, [], True

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return the script's next text.

        Raises:
            RuntimeError: no problem was begun.
        """
        if self._problem is None:
            msg = "a scripted generator answers only after begin(problem)"
            raise RuntimeError(msg)
        draft = self._next(self._problem, constraint_lines(message.content for message in request.messages))
        self._draft = draft
        self.given.append(draft.id)
        return LanguageReply(draft.text, "stop", f"{NAME};sha256:{sha256_hex(draft.text)}")

    async def check(self) -> None:
        """Ready whenever the process is."""

    async def close(self) -> None:
        """Nothing to release."""

    def _next(self, problem: ScriptedProblem, constraints: Sequence[str]) -> Draft:
        if self._draft is None:
            return problem.script[0]
        if self._is_stubborn:
            return self._draft
        for move in self._draft.moves:
            if all(any(meets(constraint, condition) for constraint in constraints) for condition in move.when):
                return problem.draft(move.to)
        return self._draft


def constraint_lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the lines of a prompt that state a constraint: those that hold the name of a predicate."""
    return tuple(line for text in texts for line in text.splitlines() if _PREDICATE.search(line))


def meets(constraint: str, condition: Condition) -> bool:
    """Say whether a constraint, as its line states it, meets a condition."""
    words = constraint.lower().replace("_", " ")
    by_predicate = any(re.search(rf"\b{name}\b", constraint) for name in condition.predicate_names) and _hold(
        words, condition.operands
    )
    return by_predicate or _hold(words, condition.nl_words)


def _hold(words: str, alternatives: Sequence[str]) -> bool:
    return all(any(stem.lower().replace("_", " ") in words for stem in one.split("|")) for one in alternatives)
