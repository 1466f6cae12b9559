"""The parts of the query: what stages 8 and 10 ask of an answer (SPEC-005 §10.1)."""

from services.common.questions.following import joined
from services.dpe.domain.analysis import Analysis


def parts(analysis: Analysis) -> list[str]:
    """Return the parts of the query, each once; none without a question (ADR 0098), and of a beginning (ADR 0172)."""
    if analysis.input.is_beginning:
        return []
    every = analysis.input.sub_queries or (analysis.input.query,)
    return [part for part in dict.fromkeys(every) if part.strip()]


def standalone(analysis: Analysis) -> list[str]:
    """Return the parts as vectors are wanted of them: with the questions that the query leans on."""
    return [joined(part, analysis.input.leans_on) for part in parts(analysis)]
