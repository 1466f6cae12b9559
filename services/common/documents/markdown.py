"""Markdown (CommonMark with tables, footnotes, definition lists, raised and lowered text), read as the page it makes.

What raw HTML a document holds is read as in a page: hidden text, tables with spans, line breaks. Front matter becomes
properties, and comments, also those in the form of a link nobody follows, are hidden text. A line in capitals with a
number of several parts ("1.1 MINUTES OF MEETING") above what is in none is a heading, as in plain text.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.subscript import sub_plugin
from mdit_py_plugins.superscript import superscript_plugin

from services.common.documents.document import Document, HiddenText
from services.common.documents.html import read_html
from services.common.documents.plain.clauses import clause_numbers, large_heading
from services.common.documents.wording import collapse, language_code

_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_FRONT_CHARS: Final = 20_000
_COMMENT: Final = re.compile(
    r"^[ ]{0,3}\[(?://|comment|_|#)\]:[ \t]*(?:#|<>)[ \t]*[(\"']([^\n]*)[)\"'][ \t]*$", re.MULTILINE | re.IGNORECASE
)
_DONE_TASK: Final = re.compile(r"^\[[xX]\]\s+")
_OPEN_TASK: Final = re.compile(r"^\[ \]\s+")
_LEAST_PARTS: Final = 2
"""Of the number of a heading without a mark: "1." begins an item."""
_DEEPEST: Final = 6
_OTHER: Final = "-"
"""What stands below a paragraph where that is no text: a list, a table."""
_SCALARS: Final = (str, int, float, bool)


def read_markdown(text: str) -> Document:
    """Parse Markdown; the title is the front matter's, else the first heading of level 1.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE: raw HTML nests deeper than in any document that people write.
    """
    normal = text.replace("\r\n", "\n")
    properties: dict[str, str] = {}
    front = _FRONT_MATTER.match(normal)
    if front:
        properties = _properties(front[1])
        normal = normal[front.end() :]
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(deflist_plugin).use(superscript_plugin).use(sub_plugin)
    parser.core.ruler.after("block", "numbered_headings", _numbered_headings)
    environment: dict[str, Any] = {}
    tokens = parser.parse(normal, environment)
    _without_task_marks(tokens)
    page = read_html(parser.renderer.render(tokens, parser.options, environment))
    told = tuple(HiddenText(collapse(match), "comment") for match in _COMMENT.findall(normal) if match.strip())
    return replace(
        page,
        media_type="text/markdown",
        title=properties.get("title") or page.title,
        hidden=(*page.hidden, *told),
        language=page.language or language_code(properties.get("lang") or properties.get("language")),
        properties={**page.properties, **properties},
    )


def _properties(front: str) -> dict[str, str]:
    """Return the plain values of front matter; lists of plain values are joined. What is no YAML has none."""
    if len(front) > _MAX_FRONT_CHARS or "&" in front:  # anchors could unfold to any size
        return _lines(front)
    try:
        read = yaml.safe_load(front)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _lines(front)
    if not isinstance(read, dict):
        return {}
    found: dict[str, str] = {}
    for name, value in read.items():
        if isinstance(value, list):
            told = ", ".join(str(one) for one in value if isinstance(one, _SCALARS))
        elif isinstance(value, dict) or value is None:
            continue
        else:
            told = str(value)
        found[str(name).strip().lower()] = collapse(told)
    return found


def _lines(front: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in front[:_MAX_FRONT_CHARS].split("\n"):
        name, colon, value = line.partition(":")
        if colon and name.strip() and not name[0].isspace():
            found[name.strip().lower()] = collapse(value).strip("\"'")
    return found


def _numbered_headings(state: StateCore) -> None:
    """Make headings of lines in capitals with a number in paragraphs, of those in lists and quotations none."""
    tokens, made = state.tokens, []
    clauses = clause_numbers([line for one in tokens if one.type == "inline" for line in one.content.split("\n")])
    skips = 0
    for index, token in enumerate(tokens):
        if skips:
            skips -= 1
            continue
        if token.type == "paragraph_open" and token.level == 0:
            inline, below = tokens[index + 1], tokens[index + 3 : index + 5]
            is_text = [one.type for one in below[:1]] == ["paragraph_open"]
            parts = _divided(
                inline.content.split("\n"), below[1].content if is_text else _OTHER if below else "", clauses
            )
            if any(level for _, level in parts):
                made += [one for text, level in parts for one in _block(text, level, inline)]
                skips = 2
                continue
        made.append(token)
    state.tokens = made


def _divided(lines: Sequence[str], below: str, clauses: frozenset[tuple[int, ...]]) -> list[tuple[str, int]]:
    """Return the texts of a paragraph with the levels of those that are headings, 0 for the others."""
    following = [*lines[1:], below]
    numbers = [large_heading(line, after, clauses) for line, after in zip(lines, following, strict=True)]
    levels = [min(parts + 1, _DEEPEST) if parts >= _LEAST_PARTS else 0 for parts in numbers]
    grouped = groupby(enumerate(levels), key=lambda one: (one[1], one[0] if one[1] else -1))
    return [("\n".join(lines[at] for at, _ in group), level) for (level, _), group in grouped]


def _block(text: str, level: int, like: Token) -> list[Token]:
    """Return the tokens of a heading, or of a paragraph where the level is 0."""
    kind, tag = ("heading", f"h{level}") if level else ("paragraph", "p")
    opening = Token(f"{kind}_open", tag, 1, map=like.map, block=True)
    inline = Token("inline", "", 0, map=like.map, level=1, content=text, children=[], block=True)
    return [opening, inline, Token(f"{kind}_close", tag, -1, block=True)]


def _without_task_marks(tokens: Sequence[Token]) -> None:
    """Drop ``[x]`` before the text of an item, and draw the box of what is not done."""
    for index, token in enumerate(tokens):
        opener = tokens[index - 2].type if index > 1 else ""
        if token.type == "inline" and opener == "list_item_open" and token.children:
            first = token.children[0]
            if first.type == "text":
                first.content = _OPEN_TASK.sub("\u2610 ", _DONE_TASK.sub("", first.content, count=1), count=1)
