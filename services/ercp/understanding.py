"""Constraints that come as words alone get the predicate that is understood of them (ERCP 1.0 §2, ADR 0116).

Rules first. What they do not understand is asked of the language model where the deployment takes its proposals; what
neither understands stays without a predicate, and the request is refused with the reason; or, where the deployment says
so, it is held by its words alone, which only the second detector reads (ADR 0117).
"""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from services.common.computing import compute
from services.common.errors import CrpError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageModel, LanguageRequest
from services.ercp.domain.predicates import Predicate, PredicateName, Text, to_document
from services.ercp.domain.wording import Understanding, understand_constraint
from services.ercp.domain.wording.proposals import INSTRUCTIONS, LANGUAGE_MODEL, question, understood
from services.ercp.run_counts import RunCounts, WordsOutcome

RULES: Final = "rules"
WAYS: Final = (RULES, LANGUAGE_MODEL)
"""Who may have understood a constraint's words."""
UNDERSTOOD_BY: Final = "understood_by"
"""The field beside a predicate that says so; absent when the caller brought the predicate."""
MOST_UNDERSTOOD: Final = 200
"""So many constraints of one request are looked at; more are refused anyway."""
_MAX_WORDS_CHARS: Final = 2_000
_MAX_TOKENS: Final = 200
_TIMEOUT_S: Final = 20.0
_AT_ONCE: Final = 8
"""Proposals that are asked for at a time."""


async def propose(model: LanguageModel, words: str) -> Understanding:
    """Ask a language model for the predicate of some words; its failure is a reason like any other."""
    messages = (ChatMessage(ChatRole.SYSTEM, INSTRUCTIONS), ChatMessage(ChatRole.USER, question(words)))
    asked = LanguageRequest(
        words, messages, (), model.default_model, max_tokens=_MAX_TOKENS, temperature=0.0, timeout_s=_TIMEOUT_S
    )
    try:
        reply = await model.complete(asked)
    except CrpError as error:
        return Understanding(None, reason=f"the language model could not be asked: {error.reason}")
    return await compute(understood, words, reply.text)


class Wording:
    """Gives constraints that came as words alone their predicates.

    Args:
        model: ``None``: by rules alone.
        holds_words: what is not understood is held as InWords instead of being refused.
        counts: what became of the words is counted there.
    """

    def __init__(
        self, model: LanguageModel | None = None, *, holds_words: bool = False, counts: RunCounts | None = None
    ) -> None:
        self._model = model
        self._holds_words = holds_words
        self._counts = counts or RunCounts()

    async def complete(self, constraints: Iterable[Any]) -> None:
        """Set the predicate of every constraint of a request that has none and is understood.

        Args:
            constraints: messages with ``nl_text`` and ``predicate``; changed in place.
        """
        bare = [each for each in list(constraints)[:MOST_UNDERSTOOD] if _is_bare(each)]
        if not bare:
            return
        texts = [each.nl_text for each in bare]
        found = await compute(lambda: [understand_constraint(text) for text in texts])
        proposed = await self._proposed([text for text, one in zip(texts, found, strict=True) if one.predicate is None])
        for each, one in zip(bare, found, strict=True):
            understood, way = (one, RULES) if one.predicate else (proposed.get(each.nl_text, one), LANGUAGE_MODEL)
            if understood.predicate is None and self._holds_words:
                understood, way = Understanding(_in_words(each.nl_text)), ""
            self._counts.worded(_OUTCOMES[way] if understood.predicate is not None else WordsOutcome.REFUSED)
            if understood.predicate is not None:
                document = to_document(understood.predicate)
                each.predicate.predicate_name = document["predicate_name"]
                each.predicate.args.update(document["args"])
                if way:
                    each.predicate.extensions.update({UNDERSTOOD_BY: way})

    async def _proposed(self, texts: Iterable[str]) -> dict[str, Understanding]:
        """Ask the language model for those that no rule understands, several at a time, each once."""
        if self._model is None:
            return {}
        model, places = self._model, asyncio.Semaphore(_AT_ONCE)

        async def asked(text: str) -> tuple[str, Understanding]:
            async with places:
                return text, await propose(model, text)

        return dict(await asyncio.gather(*map(asked, dict.fromkeys(texts))))


def _in_words(words: str) -> Predicate:
    printable = "".join(char if char.isprintable() else " " for char in words)
    return Predicate(PredicateName.IN_WORDS, Text(" ".join(printable.split()) or "?"))


_OUTCOMES: Final = {RULES: WordsOutcome.RULES, LANGUAGE_MODEL: WordsOutcome.LANGUAGE_MODEL, "": WordsOutcome.IN_WORDS}


def _is_bare(constraint: Any) -> bool:
    return not constraint.HasField("predicate") and 0 < len(constraint.nl_text) <= _MAX_WORDS_CHARS
