"""Office Open XML packages (ISO/IEC 29500-2): what they hold, checked before anything is unpacked.

Such a file is a ZIP archive of XML parts. What a hostile one can do is barred here, so that no parser meets it:
archives that unpack to more than is taken, parts of another size than the directory says, encryption, document type
definitions (which the standard forbids, and which make entities expand). Elements nested without end end at the
parsers' own bound.
"""

import io
import zipfile
from typing import Any, Final
from xml.etree import ElementTree as ET

from services.common.document_kinds import MediaType
from services.common.documents.limits import require_at_most
from services.common.documents.refusals import refusing_damage, unsupported_media

MAX_PARTS: Final = 20_000
MAX_UNPACKED_RATIO: Final = 300
"""What XML of many equal cells is packed to; the format's own bound is 1,032."""
_RATIO_FROM_BYTES: Final = 16 << 20
MAX_XML_BYTES: Final = 512 << 20
_CONTENT_TYPES: Final = "[Content_Types].xml"
_MAX_CONTENT_TYPES_BYTES: Final = 4 << 20
_KINDS: Final = (
    ("wordprocessingml.document.main", MediaType.DOCX),
    ("wordprocessingml.template.main", MediaType.DOCX),
    ("ms-word.document.macroenabled.main", MediaType.DOCX),
    ("presentationml.presentation.main", MediaType.PPTX),
    ("ms-powerpoint.presentation.macroenabled.main", MediaType.PPTX),
    ("spreadsheetml.sheet.main", MediaType.XLSX),
    ("spreadsheetml.template.main", MediaType.XLSX),
    ("ms-excel.sheet.macroenabled.main", MediaType.XLSX),
)
_OTHER_ARCHIVES: Final = {
    "application/epub+zip": "an EPUB book; convert it to HTML",
    "application/vnd.oasis.opendocument.text": "an OpenDocument text (ODT); save it as DOCX",
    "application/vnd.oasis.opendocument.spreadsheet": "an OpenDocument spreadsheet (ODS); save it as XLSX",
    "application/vnd.oasis.opendocument.presentation": "an OpenDocument presentation (ODP); save it as PPTX",
}
_ENCRYPTED: Final = 0x1
_FORBIDDEN: Final = tuple(
    word.encode(encoding) for word in ("<!DOCTYPE", "<!ENTITY") for encoding in ("ascii", "utf-16-le", "utf-16-be")
)


def package_kind(content: bytes) -> MediaType:
    """Return which kind of package a ZIP archive is; only its directory and the list of types are read.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: damaged, encrypted, or another kind of archive.
    """
    with refusing_damage("a ZIP archive (or an Office file)"), zipfile.ZipFile(io.BytesIO(content)) as archive:
        require_at_most("parts", len(archive.infolist()), MAX_PARTS)
        names = {info.filename: info for info in archive.infolist()}
        if any(info.flag_bits & _ENCRYPTED for info in names.values()):
            raise unsupported_media("the document is a ZIP archive that is encrypted; save it without its password")
        if _CONTENT_TYPES in names:
            types = _bounded(archive, names[_CONTENT_TYPES]).decode("utf-8", "replace").lower()
            kind = next((media for word, media in _KINDS if word in types), None)
            if kind is not None:
                return kind
        told = "a ZIP archive; unpack it and bring the files in it"
        if "mimetype" in names:
            written = _bounded(archive, names["mimetype"]).decode("ascii", "replace").strip()
            told = _OTHER_ARCHIVES.get(written, told)
        elif any("spreadsheetml" in part or part.startswith("xl/") for part in names):
            told = "a binary Excel workbook (XLSB); save it as XLSX"
    raise unsupported_media(f"the document is {told}", detail=told.partition(";")[0])


def _bounded(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as part:
        return part.read(_MAX_CONTENT_TYPES_BYTES)


def check_package(content: bytes, kind: str) -> None:
    """Read each XML part of a package once in bounds.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: damaged, or its XML declares types or entities.
        LimitExceededError: MESSAGE_TOO_LARGE: it unpacks to more than is taken.
    """
    with refusing_damage(kind), zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        written = {info.filename for info in parts}
        if len(written) < len(parts):
            raise unsupported_media(f"the document is {kind} with two parts of one name: it is damaged or forged")
        unpacked = sum(info.file_size for info in parts)
        if unpacked > _RATIO_FROM_BYTES:
            require_at_most("bytes for each that it is packed to", unpacked // len(content), MAX_UNPACKED_RATIO)
        xml = [info for info in parts if info.filename.lower().endswith((".xml", ".rels", ".vml"))]
        require_at_most("bytes of XML when unpacked", sum(info.file_size for info in xml), MAX_XML_BYTES)
        for info in xml:
            _check_part(archive.read(info), kind)


def parse_part(xml: bytes, kind: str) -> Any:
    """Return the root of a part that no library reads, whatever the part is called: ``check_package`` goes by names.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: it declares types or entities.
    """
    _check_part(xml, kind)
    return ET.fromstring(xml)  # noqa: S314 - what could expand is refused


def _check_part(text: bytes, kind: str) -> None:
    if any(word in text for word in _FORBIDDEN):
        raise unsupported_media(f"the document is {kind} whose XML declares types or entities, which is forbidden")
