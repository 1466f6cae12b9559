"""Reads the protobuf text format as far as ``config.pbtxt`` files use it, without a schema.

Covers scalar and message fields with or without a colon, lists in brackets, repeated fields, ``{}`` and ``<>``,
comments, quoted strings with escapes and adjacent strings, identifiers (enum values, booleans), integers and floats.
Leaves out extensions and ``Any``, which such files do not hold.
"""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias, Union

Value: TypeAlias = Union[str, int, float, bool, "Message"]
Message: TypeAlias = dict[str, list[Value]]
"""Field name to its values in order of appearance; a field that appears once has a list of one."""

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]?))
      | (?P<word>-?[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark>[{}<>\[\]:,;])""",
    re.VERBOSE,
)
_CLOSING: Final = {"{": "}", "<": ">"}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


class TextFormatError(ValueError):
    """The text is not in the format; the message names the line."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def parse_text_format(text: str) -> Message:
    """Return the fields of the outermost message.

    Raises:
        TextFormatError: the text breaks the grammar.
    """
    return _Parser(_tokens(text)).message(end="")


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise TextFormatError(f"line {line}: unexpected character {text[position]!r}")
        if match.lastgroup != "space":
            tokens.append(_Token(match.lastgroup or "", match.group(), line))
        line += match.group().count("\n")
        position = match.end()
    tokens.append(_Token("end", "", line))
    return tokens


class _Parser:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def message(self, end: str) -> Message:
        fields: Message = {}
        while not self._accept_end(end):
            name = self._take("word").text
            values = self._field_values()
            fields.setdefault(name, []).extend(values)
            if self._peek().text in {",", ";"} and self._peek().kind == "mark":
                self._next += 1
        return fields

    def _accept_end(self, end: str) -> bool:
        token = self._peek()
        if token.kind == "end":
            if end:
                raise TextFormatError(f"line {token.line}: {end!r} is missing")
            return True
        if end and token.kind == "mark" and token.text == end:
            self._next += 1
            return True
        return False

    def _field_values(self) -> list[Value]:
        colon = self._accept(":")
        if self._accept("["):
            return self._list()
        token = self._peek()
        if token.kind != "mark" and not colon:
            raise TextFormatError(f"line {token.line}: ':' expected before {token.text!r}")
        return [self._value()]

    def _list(self) -> list[Value]:
        values: list[Value] = []
        while not self._accept("]"):
            if values and not self._accept(","):
                raise TextFormatError(f"line {self._peek().line}: ',' or ']' expected")
            values.append(self._value())
        return values

    def _value(self) -> Value:
        token = self._peek()
        self._next += 1
        if token.kind == "mark" and token.text in _CLOSING:
            return self.message(_CLOSING[token.text])
        if token.kind == "string":
            parts = [token.text]
            while self._peek().kind == "string":
                parts.append(self._take("string").text)
            return "".join(_unquote(part, token.line) for part in parts)
        if token.kind == "number":
            return _number(token)
        if token.kind == "word":
            return {"true": True, "false": False}.get(token.text, token.text)
        raise TextFormatError(f"line {token.line}: a value expected, found {token.text or 'the end'!r}")

    def _peek(self) -> _Token:
        return self._tokens[min(self._next, len(self._tokens) - 1)]

    def _accept(self, mark: str) -> bool:
        token = self._peek()
        if token.kind == "mark" and token.text == mark:
            self._next += 1
            return True
        return False

    def _take(self, kind: str) -> _Token:
        token = self._peek()
        if token.kind != kind:
            raise TextFormatError(f"line {token.line}: a field name expected, found {token.text or 'the end'!r}")
        self._next += 1
        return token


def _unquote(quoted: str, line: int) -> str:
    def replace(match: re.Match[str]) -> str:
        if match.group(1) not in _ESCAPES:
            raise TextFormatError(f"line {line}: unknown escape \\{match.group(1)}")
        return _ESCAPES[match.group(1)]

    return re.sub(r"\\(.)", replace, quoted[1:-1])


def _number(token: _Token) -> int | float:
    text = token.text
    if text.lower().lstrip("+-").startswith("0x"):
        return int(text, 16)
    try:
        return int(text)
    except ValueError:
        return float(text.rstrip("fF"))
