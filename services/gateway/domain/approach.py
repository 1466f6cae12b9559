"""How a strategy has a window answered: what the model is told, who writes, and what is done about findings."""

from dataclasses import dataclass, replace
from typing import Final

from services.common.taxonomy import DispatchStrategy
from services.gateway.domain.tools import ToolCall, ToolSpec
from services.gateway.domain.window import OpenedWindow

EXTRACT: Final = (
    "Extract from the context what bears on the question, and nothing else. Keep to the words of the facts: copy "
    "numbers, dates, names, conditions and negations exactly. Say each thing once, the most important first. Add no "
    "introduction, no conclusion and no advice. If the context holds nothing on the question, say only that."
)
"""Pull's prompt (CRP-SPEC-008)."""
REFINE_TEMPERATURE: Final = 0.3
"""Of an answer that reflexive writes anew (CRP-SPEC-008)."""


@dataclass(frozen=True, slots=True)
class Inner:
    """Windows of the same dispatch whose answers nobody is given: to say it again is no repetition.

    Attributes:
        window_ids: the windows.
        fact_ids: what their envelopes held.
    """

    window_ids: frozenset[str] = frozenset()
    fact_ids: frozenset[str] = frozenset()

    def hidden(self, opened: OpenedWindow) -> OpenedWindow:
        """Return a window as if nobody had seen what they say and hold (ADR 0160)."""
        return replace(
            opened,
            facts_seen=tuple(each for each in opened.facts_seen if each not in self.fact_ids),
            prior_windows=tuple(each for each in opened.prior_windows if each.window_id not in self.window_ids),
        )


@dataclass(frozen=True, slots=True)
class Approach:
    """What a strategy changes about a window; the default is push's.

    Attributes:
        called: the strategy's word for the answer, whatever the window was opened as; ``None`` = as it was opened.
        task: what the model is told, behind the application's own instruction.
        refines: an answer with a risk is written anew with what was found, whatever policy and remedies say.
        quotes: the built-in answerer writes, whatever model is configured.
        delivers: somebody is given the answer; else other windows alone read it, and no person has to look at it.
        inner: windows of the same dispatch before it.
        parts: of the question, for the built-in answerer, which answers each.
        tools: that may be called for the window; ``None`` = it has none called.
        tool_calls: of the windows of the same dispatch before it.
    """

    called: DispatchStrategy | None = None
    task: str = ""
    refines: bool = False
    quotes: bool = False
    delivers: bool = True
    inner: Inner | None = None
    parts: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] | None = None
    tool_calls: tuple[ToolCall, ...] = ()


PLAIN: Final = Approach()
