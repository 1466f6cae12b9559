"""Which documents are read: the one list that errors, help, contract and documentation follow (ADR 0108)."""

from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import PurePosixPath
from typing import Final

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."


@unique
class MediaType(StrEnum):
    """What can be read."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    PDF = "application/pdf"
    DOCX = f"{_OFFICE}wordprocessingml.document"
    PPTX = f"{_OFFICE}presentationml.presentation"
    XLSX = f"{_OFFICE}spreadsheetml.sheet"
    EML = "message/rfc822"
    RST = "text/x-rst"
    CSV = "text/csv"
    TSV = "text/tab-separated-values"
    JSON = "application/json"
    JSON_LINES = "application/jsonl"
    SOURCE_CODE = "text/x-source"


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """One kind of document.

    Attributes:
        name: for people, as it stands in "the document is …".
        suffixes: of file names, the usual one first.
        aliases: other media types that say the same.
        binary: recognised by its bytes, whatever it is called.
    """

    media: MediaType
    name: str
    suffixes: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    binary: bool = False


LANGUAGES: Final = {
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".cs": "csharp",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".mjs": "javascript",
    ".jsx": "javascript",
    ".kt": "kotlin",
    ".lua": "lua",
    ".php": "php",
    ".pl": "perl",
    ".proto": "protobuf",
    ".py": "python",
    ".pyi": "python",
    ".r": "r",
    ".rb": "ruby",
    ".rs": "rust",
    ".scala": "scala",
    ".sh": "bash",
    ".sql": "sql",
    ".swift": "swift",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".ini": "ini",
}
"""Suffixes of source code, each with the language's name."""

_SOURCE_ALIASES: Final = {
    "text/x-python": "python",
    "text/x-script.python": "python",
    "text/x-c": "c",
    "text/x-c++": "cpp",
    "text/x-csrc": "c",
    "text/x-chdr": "c",
    "text/x-c++src": "cpp",
    "text/x-java": "java",
    "text/x-go": "go",
    "text/x-java-source": "java",
    "text/javascript": "javascript",
    "application/javascript": "javascript",
    "application/x-sh": "bash",
    "text/x-shellscript": "bash",
    "text/x-sh": "bash",
    "text/x-rust": "rust",
    "application/typescript": "typescript",
    "text/x-ruby": "ruby",
    "text/x-perl": "perl",
    "text/rust": "rust",
    "application/sql": "sql",
    "text/x-sql": "sql",
    "application/yaml": "yaml",
    "text/yaml": "yaml",
    "application/toml": "toml",
    "application/x-httpd-php": "php",
    "text/x-lua": "lua",
    "text/x-csharp": "csharp",
}

KINDS: Final = (
    DocumentKind(MediaType.TEXT, "plain text", (".txt", ".text")),
    DocumentKind(MediaType.MARKDOWN, "Markdown", (".md", ".markdown", ".mdown"), ("text/x-markdown",)),
    DocumentKind(MediaType.HTML, "HTML", (".html", ".htm", ".xhtml"), ("application/xhtml+xml",)),
    DocumentKind(MediaType.PDF, "PDF", (".pdf",), ("application/x-pdf",), binary=True),
    DocumentKind(
        MediaType.DOCX,
        "a Word document (DOCX)",
        (".docx", ".docm", ".dotx"),
        (
            "application/vnd.ms-word.document.macroenabled.12",
            f"{_OFFICE}wordprocessingml.template",
        ),
        binary=True,
    ),
    DocumentKind(
        MediaType.PPTX,
        "a PowerPoint presentation (PPTX)",
        (".pptx", ".pptm"),
        ("application/vnd.ms-powerpoint.presentation.macroenabled.12",),
        binary=True,
    ),
    DocumentKind(
        MediaType.XLSX,
        "an Excel workbook (XLSX)",
        (".xlsx", ".xlsm", ".xltx"),
        (
            "application/vnd.ms-excel.sheet.macroenabled.12",
            f"{_OFFICE}spreadsheetml.template",
        ),
        binary=True,
    ),
    DocumentKind(MediaType.EML, "an e-mail (EML)", (".eml",)),
    DocumentKind(MediaType.RST, "reStructuredText", (".rst",), ("text/prs.fallenstein.rst", "text/restructuredtext")),
    DocumentKind(MediaType.CSV, "CSV", (".csv",), ("application/csv", "text/x-csv")),
    DocumentKind(MediaType.TSV, "tab-separated values (TSV)", (".tsv", ".tab")),
    DocumentKind(MediaType.JSON, "JSON", (".json",), ("text/json",)),
    DocumentKind(
        MediaType.JSON_LINES,
        "JSON Lines",
        (".jsonl", ".ndjson"),
        ("application/x-ndjson", "application/ndjson", "application/x-jsonlines", "application/jsonlines"),
    ),
    DocumentKind(MediaType.SOURCE_CODE, "source code", tuple(LANGUAGES), tuple(_SOURCE_ALIASES)),
)

KIND_OF: Final = {kind.media: kind for kind in KINDS}
BY_NAME: Final = {name: kind.media for kind in KINDS for name in (kind.media.value, *kind.aliases)}
"""Media types as callers write them."""
BY_SUFFIX: Final = {suffix: kind.media for kind in KINDS for suffix in kind.suffixes}
SUFFIXES: Final = tuple(BY_SUFFIX)
ACCEPTED: Final = (
    "text, Markdown, HTML, PDF, Word (DOCX), PowerPoint (PPTX), Excel (XLSX), e-mail (EML), reStructuredText, CSV, "
    "TSV, JSON, JSON Lines and source code"
)
"""All kinds, for people."""


def suffix_of(name: str) -> str:
    """Return the suffix of a file name or uri, in lower case: ``.md`` of ``a/b.MD?version=2#top``."""
    return PurePosixPath(name.split("?", 1)[0].split("#", 1)[0]).suffix.lower()


def language_of(name: str, declared: str) -> str:
    """Return the programming language that a name's suffix, or a declared media type, says; empty for none."""
    kind = declared.partition(";")[0].strip().lower()
    return LANGUAGES.get(suffix_of(name)) or _SOURCE_ALIASES.get(kind, "")
