"""The operators together, as a run and the single calls use them."""

from dataclasses import dataclass

from services.ercp.deciding import Deciding
from services.ercp.generating import Generating
from services.ercp.ports import KnowledgeSource
from services.ercp.verifying import Verifying


@dataclass(frozen=True, slots=True)
class OperatorParts:
    """The five operators and what they read."""

    generating: Generating
    verifying: Verifying
    deciding: Deciding
    knowledge: KnowledgeSource
