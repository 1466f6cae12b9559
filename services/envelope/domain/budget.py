"""How many tokens the facts may take (SPEC-003 §7.2, §10.1)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BudgetTerms:
    """What the context window holds beside the facts; all in tokens of the target model.

    Attributes:
        system_prompt_tokens: measured: the caller's system prompt and the grounding instruction.
        ceiling_tokens: the caller's own upper bound; ``None`` = none.
    """

    context_window_tokens: int
    system_prompt_tokens: int
    user_query_tokens: int
    expected_response_tokens: int
    safety_margin_tokens: int
    ceiling_tokens: int | None = None


def token_budget(terms: BudgetTerms) -> int:
    """Return what is left for facts; zero or less when nothing is."""
    left = (
        terms.context_window_tokens
        - terms.system_prompt_tokens
        - terms.user_query_tokens
        - terms.expected_response_tokens
        - terms.safety_margin_tokens
    )
    return left if terms.ceiling_tokens is None else min(left, terms.ceiling_tokens)
