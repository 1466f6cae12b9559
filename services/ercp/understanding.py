"""Constraints that come as words alone get the predicate that is understood of them (ERCP 1.0 §2, ADR 0116).

Rules first. What they do not understand is asked of the language model where the deployment takes its proposals; what
neither understands stays without a predicate, and the request is refused with the reason.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from services.common.computing import compute
from services.common.errors import CrpError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageModel, LanguageRequest
from services.ercp.domain.predicates import to_document
from services.ercp.domain.wording import Understanding, understand_constraint
from services.ercp.domain.wording.proposals import INSTRUCTIONS, LANGUAGE_MODEL, question, understood

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
    """Gives constraints that came as words alone their predicates; ``model`` ``None``: by rules alone."""

    def __init__(self, model: LanguageModel | None = None) -> None:
        self._model = model

    async def complete(self, constraints: Iterable[Any]) -> None:
        """Set the predicate of every constraint of a request that has none and is understood.

        Args:
            constraints: messages with ``nl_text`` and ``predicate``; changed in place.
        """
        for each in list(constraints)[:MOST_UNDERSTOOD]:
            if each.HasField("predicate") or not 0 < len(each.nl_text) <= _MAX_WORDS_CHARS:
                continue
            found = await compute(partial(understand_constraint, each.nl_text))
            way = RULES
            if found.predicate is None and self._model is not None:
                found, way = await propose(self._model, each.nl_text), LANGUAGE_MODEL
            if found.predicate is not None:
                document = to_document(found.predicate)
                each.predicate.predicate_name = document["predicate_name"]
                each.predicate.args.update(document["args"])
                each.predicate.extensions.update({UNDERSTOOD_BY: way})
