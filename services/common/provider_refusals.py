"""What is told of a provider's refusal of a model's call; nothing of its body, which may quote (ADR 0147)."""

from typing import Final

_HINTS: Final = {
    400: "It refused the request; check the model's name and limits.",
    401: "It refused the key; check GROUNDTRAIL_{section}__API_KEY.",
    403: "The key may not use this model; check GROUNDTRAIL_{section}__API_KEY and GROUNDTRAIL_{section}__MODEL.",
    404: "It does not know the path or model; check GROUNDTRAIL_{section}__BASE_URL and GROUNDTRAIL_{section}__MODEL.",
    429: "It limits the rate of requests.",
}


def refusal_hint(status: int, section: str) -> str:
    """Return what to do about a provider's status; empty where nobody can say.

    Args:
        status: of its answer.
        section: of the settings that name the provider: ``LLM`` or ``ANTHROPIC``.
    """
    return _HINTS.get(status, "").format(section=section)


def refusal_text(status: int, section: str) -> str:
    """Return what callers are told of a provider's status."""
    return f"The language model is not available (http_{status}). {refusal_hint(status, section)}".rstrip()
