"""The stores on Milvus; the only package that imports its client (ADR 0060)."""

from services.common.adapters.milvus import environment  # noqa: F401 - before the client is imported
from services.common.adapters.milvus.facts import MilvusFactStore

__all__ = ["MilvusFactStore"]
