"""PowerPoint presentations (PPTX)."""

from services.common.documents.pptx.reading import read_pptx

__all__ = ["read_pptx"]
