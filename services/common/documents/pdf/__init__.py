"""PDF by position (ADR 0107)."""

from services.common.documents.pdf.reading import read_pdf

__all__ = ["read_pdf"]
