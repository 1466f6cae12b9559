"""``crp.ckf.v1.SearchMode`` and the word for it, both ways; a number without a word leaves the mode to the server."""

from typing import Final

from crp.ckf.v1 import knowledge_service_pb2

from services.common.rpc.enums import EnumTable
from services.common.taxonomy import RetrievalMode

RETRIEVAL_MODES: Final = EnumTable(knowledge_service_pb2.SearchMode, RetrievalMode)
