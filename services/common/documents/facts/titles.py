"""What headings add to the texts below them, and what is no fact: names of files, addresses, figures of pages."""

import re
from typing import Final

_GENERIC_TITLE_WORDS: Final = frozenset(
    {
        *("about", "annex", "appendix", "background", "chapter", "contents", "definitions", "detail", "details"),
        *("document", "from", "general", "information", "introduction", "notes", "other", "overview", "part"),
        *("preamble", "purpose", "remarks", "scope", "section", "summary", "this", "what", "when", "which", "with"),
        *("glossary", "terms", "glossar", "begriffe", "definitionen", "allgemeines", "glossaire", "termes", "faq"),
    }
)
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_BARE: Final = re.compile(
    r"(?:file(?:name)?|datei|fichier)?:?\s*[\w.~/\\-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,4}:?"
    r"|(?:note|warning|tip|caution|important|danger|hint|info|hinweis|achtung|warnung|wichtig|remarque|attention)!?"
    r"|(?:https?|ftp|mailto):\S+|(?:page|seite|p\.)?\s*\d{1,4}(?:\s*(?:/|of|von|sur)\s*\d{1,4})?",
    re.IGNORECASE,
)
_MAX_BARE_CHARS: Final = 200


def adds_words(title: str, text: str) -> bool:
    """Say whether the title has content words and none of them, by its first five letters, occurs in the text."""
    words = content_words(title)
    return bool(words) and words.isdisjoint(content_words(text))


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about, by their first five letters."""
    return frozenset(word[:5] for word in _WORD.findall(text.lower()) if word not in _GENERIC_TITLE_WORDS)


def is_generic(title: str) -> bool:
    """Say whether a heading says nothing of what stands below it: ``Definitions``, ``2. Overview``."""
    return not content_words(title)


def is_bare(text: str) -> bool:
    """Say whether a text is a file's name, an address, a page's number or the word above a note, and nothing else."""
    return len(text) <= _MAX_BARE_CHARS and bool(_BARE.fullmatch(text.strip()))
