"""Word documents (DOCX)."""

from services.common.documents.docx.reading import read_docx

__all__ = ["read_docx"]
