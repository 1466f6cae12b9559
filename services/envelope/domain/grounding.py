"""What the grounding mode adds to the system prompt (SPEC-003 §13.1)."""

from types import MappingProxyType
from typing import Final

from services.common.taxonomy import GroundingMode

GROUNDING_INSTRUCTIONS: Final = MappingProxyType(
    {
        GroundingMode.CONTEXT_STRICT: (
            "Answer using ONLY the provided context. If the context does not contain sufficient information, "
            "state that clearly."
        ),
        GroundingMode.CONTEXT_PREFERRED: (
            "Prefer the provided context when answering. If you use general knowledge, indicate this clearly."
        ),
        GroundingMode.OPEN: "",
    }
)
