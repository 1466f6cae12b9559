"""Source code, by the lexers of Pygments: symbols as sections, comments and documentation as text, the rest as code.

A symbol is what a definition names; what stands deeper (by indentation, or by braces) belongs to it. Comments and
documentation strings are read as plain text without their marks. Code follows the text of its section, so that both are
found.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pygments.lexers import get_lexer_by_name, guess_lexer
from pygments.token import Comment, Keyword, Name, String, Token
from pygments.util import ClassNotFound

from services.common.document_kinds import MediaType
from services.common.documents.document import Block, BlockKind, Document, Place, place_of_lines
from services.common.documents.plain import read_text
from services.common.documents.wording import has_words

_DEFINING: Final = frozenset(
    {
        *("class", "def", "enum", "extension", "fn", "fun", "func", "function", "impl", "interface", "message"),
        *("mod", "module", "namespace", "object", "package", "protocol", "record", "rpc", "service", "struct", "sub"),
        *("table", "trait", "type", "typedef", "union", "view", "procedure"),
    }
)
_C: Final = frozenset({"c", "cpp"})
_OF_OTHERS: Final = frozenset({"struct", "union", "enum", "typedef", "type", "object", "message", "table", "view"})
"""What in C names a type wherever it is used."""
_INDENTED: Final = frozenset({"python", "yaml"})
_MARKS: Final = re.compile(
    r"^[ \t]*(?:/\*+!?|\*+/|\*(?!/)|//+[!/]?|\#+!?|--+|;+|%+|<!--|-->|\"\"\"|''')?[ \t]?", re.MULTILINE
)
_TAIL: Final = re.compile(r"(?<![ \t])[ \t]*+(?:(?<!\*)\*++/|-->|\"\"\"|''')\s*+\Z")
_QUOTES: Final = re.compile(r"\A[rRuUbB]{0,2}(\"\"\"|'''|\"|')(.*?)(?:\1)?\s*\Z", re.DOTALL)
_TOOL_DIRECTIVE: Final = re.compile(
    r"(?:!|\s*-\*-|\s*(?:noqa|type:|pylint|eslint|clang-format|pragma|mypy:|ruff:))", re.IGNORECASE
)
_GUESSED_CHARS: Final = 10_000
_MAX_LEVEL: Final = 6
_RULE: Final = re.compile(r"[\W_]*")


@dataclass(slots=True)
class _Section:
    """What belongs to one symbol: its comments, and its code."""

    name: str = ""
    level: int = 0
    line: int = 1
    depth: int = -1
    texts: list[tuple[int, str]] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    code_line: int = 0


def read_source_code(text: str, language: str) -> Document:
    """Parse source code; without a language it is guessed from what stands in it."""
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    lexer = _lexer(normal, language)
    sections = _Sections(str(lexer.aliases[0]) if lexer.aliases else "")
    sections.read(lexer.get_tokens(normal))
    blocks = [block for section in sections.found for block in _blocks(section)]
    return Document(MediaType.SOURCE_CODE.value, "", tuple(blocks), properties={"language": str(lexer.name)})


def _lexer(text: str, language: str) -> Any:
    options = {"stripnl": False, "ensurenl": False}
    try:
        return get_lexer_by_name(language, **options) if language else guess_lexer(text[:_GUESSED_CHARS], **options)
    except ClassNotFound:
        return get_lexer_by_name("text", **options)


class _Sections:
    """Gathers sections from the tokens of a file."""

    def __init__(self, language: str) -> None:
        self.found = [_Section()]
        self._indented = language in _INDENTED
        self._open = [self.found[0]]
        self._line = 1
        self._depth = 0
        self._column = 0
        self._indent = 0
        self._fresh = True
        self._worded = False
        self._decorated = False
        self._parentheses = 0
        self._defined = _DEFINING - _OF_OTHERS if language in _C else _DEFINING
        self._defining = ""
        self._waiting: list[tuple[int, str]] = []
        """Comments of whole lines: of what comes next."""

    def read(self, tokens: Any) -> None:
        for kind, value in tokens:
            self._token(kind, value)
            self._line += value.count("\n")
        self._open[-1].texts.extend(self._waiting)

    def _token(self, kind: Any, value: str) -> None:
        if not value.strip():
            self._blank(value)
            if self._open[-1].code:
                self._open[-1].code.append(value)
            return
        if kind in Comment and kind not in Comment.Preproc and kind not in Comment.PreprocFile:
            self._comment(kind, value)
        elif kind in String.Doc:
            self._settle()
            self._open[-1].texts.append((self._line, _unquoted(value)))
        else:
            self._word(kind, value)
        self._fresh = value.endswith("\n")

    def _comment(self, kind: Any, value: str) -> None:
        """Keep a comment of whole lines for what follows it; one beside code stays with the code."""
        if kind in Comment.Hashbang:
            self._new_line()
            return
        if self._fresh or "\n" in value.strip("\n"):
            self._settle()
            self._waiting.append((self._line, value))
        elif self._open[-1].code:
            self._open[-1].code.append(value)
        if value.endswith("\n"):
            self._new_line()

    def _new_line(self) -> None:
        self._fresh = True
        if self._decorated:
            self._decorated = self._worded = False
        self._settle()

    def _settle(self) -> None:
        """Give comments to the section that goes on, once a line of code has come that defines nothing."""
        if self._worded:
            self._flush()
        self._worded = False

    def _blank(self, value: str) -> None:
        if "\n" in value:
            self._new_line()
            self._column = len(value.rpartition("\n")[2].expandtabs(4))
        elif self._fresh:
            self._column = len(value.expandtabs(4))

    def _word(self, kind: Any, value: str) -> None:
        self._worded = True
        self._decorated = self._decorated or kind in Name.Decorator
        self._parentheses += value.count("(") - value.count(")")
        if self._fresh:
            self._indent = self._column
            if self._indented:
                self._close(self._indent)
        named = kind in Name.Class or kind in Name.Function or kind in Name.Namespace
        word = value.strip()
        if self._defining and (kind in Name) and word:
            self._begin(f"{self._defining} {word}")
        elif named and not self._defining and kind in Name.Function and self._fresh_definition():
            self._begin(word)
        if kind in Keyword:
            self._defining = word if word in self._defined and self._parentheses == 0 else self._defining
        elif word and kind not in Keyword:
            self._defining = ""
        section = self._open[-1]
        if not section.code:
            section.code_line = self._line
            value = f"{' ' * self._indent}{value}" if self._fresh else value
        section.code.append(value)
        if not self._indented and kind in Token.Punctuation:
            self._braces(value)

    def _fresh_definition(self) -> bool:
        """Say whether a name that a lexer calls a function's defines one: calls stand inside of functions."""
        return self._depth <= 1 and not self._indented and (self._open[-1].depth < self._depth)

    def _braces(self, value: str) -> None:
        for character in value:
            if character == "{":
                self._depth += 1
            elif character == "}":
                self._depth -= 1
                self._close(self._depth)

    def _close(self, depth: int) -> None:
        while len(self._open) > 1 and self._open[-1].depth >= depth:
            self._open.pop()

    def _begin(self, name: str) -> None:
        depth = self._indent if self._indented else self._depth
        self._close(depth)
        last = self._open[-1]
        start = _line_start(last.code)
        head, last.code[:] = "".join(last.code[start:]), last.code[:start]
        section = _Section(
            name, min(len(self._open), _MAX_LEVEL), self._line, depth, [*self._waiting], [head], self._line
        )
        self._waiting.clear()
        self._worded = False
        self._open.append(section)
        self.found.append(section)

    def _flush(self) -> None:
        self._open[-1].texts.extend(self._waiting)
        self._waiting.clear()


def _line_start(code: list[str]) -> int:
    """Return where the last line of code begins."""
    for index in range(len(code) - 1, -1, -1):
        if "\n" in code[index]:
            return index + 1
    return 0


def _unquoted(value: str) -> str:
    found = _QUOTES.match(value.strip())
    return found[2] if found else value


def _blocks(section: _Section) -> Iterator[Block]:
    if section.name:
        yield Block(BlockKind.HEADING, section.name, section.level, place_of_lines(section.line, section.line))
    for line, text in _joined(section.texts):
        plain = _MARKS.sub("", _TAIL.sub("", text))
        if _RULE.fullmatch(plain) or _TOOL_DIRECTIVE.match(plain):
            continue
        for block in read_text(plain).blocks:
            kind = BlockKind.PARAGRAPH if block.kind is BlockKind.HEADING else block.kind
            place = Place(path=_shifted(block.place.path, line))
            yield Block(
                kind, block.text, block.level if kind is block.kind else 0, place, block.number, block.term, block.table
            )
    code = "".join(section.code).strip("\n").rstrip()
    if has_words(code):
        last = section.code_line + code.count("\n")
        yield Block(BlockKind.CODE, code, place=place_of_lines(section.code_line, last))


def _joined(texts: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield comments, those of consecutive lines as one."""
    lines: list[str] = []
    start, following = 0, -1
    for line, text in texts:
        if lines and line == following:
            lines.append(text.rstrip("\n"))
        else:
            if lines:
                yield start, "\n".join(lines)
            start, lines = line, [text.rstrip("\n")]
        following = line + text.rstrip("\n").count("\n") + 1
    if lines:
        yield start, "\n".join(lines)


def _shifted(path: str, line: int) -> str:
    """Return lines counted in a comment as lines of the file."""
    return re.sub(r"\d+", lambda match: str(int(match[0]) + line - 1), path)
