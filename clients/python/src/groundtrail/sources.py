"""What an answer is checked against."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact and the document that it is from, for people."""

    text: str = field(repr=False)
    title: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document of any kind that is read; the name's suffix tells kinds of text from each other."""

    name: str
    content: bytes = field(repr=False)
    media_type: str = ""


Source = str | Fact | Document | Path
"""A fact's text, a fact with its title, a document, or a document's file."""
