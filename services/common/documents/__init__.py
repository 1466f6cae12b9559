"""Reading documents: bytes of a known media type to the domain's ``Document``. The only place that sees parsers."""

from services.common.document_kinds import MediaType
from services.common.documents.detection import detect_media_type
from services.common.documents.reading import ReadingLimits, read_document

__all__ = ["MediaType", "ReadingLimits", "detect_media_type", "read_document"]
