"""``groundtrail ercp constraint``: what is understood of a constraint in words, before it is sent (ADR 0116)."""

import json

from services.cli.console import Output
from services.cli.exits import Exit
from services.common.composition import Adapters
from services.common.settings import Settings
from services.ercp.domain.predicates import describe, to_document, to_text
from services.ercp.domain.wording import Understanding, understand_constraint
from services.ercp.domain.wording.proposals import LANGUAGE_MODEL
from services.ercp.understanding import RULES
from services.ercp.understanding import propose as ask


async def constraint(settings: Settings, output: Output, words: str, *, propose: bool) -> Exit:
    """Show the predicate of a constraint in words, or why there is none.

    Exit code 0: understood by the rules; 3: proposed by the language model, and to be confirmed by sending it as the
    constraint's predicate; 1: not understood.
    """
    found, way = understand_constraint(words), RULES
    if found.predicate is None and propose:
        output.say(f"The rules do not understand it: {found.reason}.", style="dim")
        found, way = await _proposed(settings, words), LANGUAGE_MODEL
    if found.predicate is None:
        output.say(f"Not understood: {found.reason}.", style="yellow")
        output.say(
            "Write it otherwise, give the constraint a predicate, or hold it by its words alone as InWords: "
            "docs/how-to/ercp-predicates.md.",
            style="dim",
        )
        output.result({"understood": False, "reason": found.reason})
        return Exit.FAILURE
    document = to_document(found.predicate)
    output.say(describe(found.predicate), style="bold green" if way == RULES else "bold yellow")
    output.say(to_text(found.predicate))
    output.drawn([(json.dumps(document, ensure_ascii=False), "")])  # one line: people copy it
    if way == LANGUAGE_MODEL:
        output.say(
            "The language model proposes this. Send it as the constraint's predicate to confirm it.", style="dim"
        )
    told = {
        "understood": True,
        "understood_by": way,
        "words": describe(found.predicate),
        "text": to_text(found.predicate),
    }
    output.result({**told, "predicate": document})
    return Exit.OK if way == RULES else Exit.VERDICT


async def _proposed(settings: Settings, words: str) -> Understanding:
    async with Adapters(settings) as adapters:
        model = await adapters.language_model()
        if model is None:
            return Understanding(None, reason="no language model is configured: set GROUNDTRAIL_LLM__BASE_URL")
        return await ask(model, words)
