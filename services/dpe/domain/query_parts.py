"""The parts of the query: what stages 8 and 10 ask of an answer (SPEC-005 §10.1)."""

from services.common.questions.following import joined
from services.dpe.domain.analysis import Analysis


def standalone(analysis: Analysis) -> list[str]:
    """Return the parts as vectors are wanted of them: with the questions that the query leans on."""
    return [joined(part, analysis.input.leans_on) for part in analysis.input.questions]
