"""Plain text."""

from services.common.documents.plain.reading import read_text

__all__ = ["read_text"]
