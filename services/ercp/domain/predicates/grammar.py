"""The grammar of the DSL, by lark: the text form of a predicate, and its operands (ERCP 1.0 §8, ADR 0070).

``CALL`` reads ``Equal(water.boiling_point, 100 degC)`` and ``water.boiling_point ≈ 100 °C``; ``OPERAND`` reads what
stands between the commas and in the strings of the JSON form. Both are LALR(1): linear in the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from lark import Lark, Token, UnexpectedInput
from lark.exceptions import UnexpectedEOF

from services.ercp.domain.predicates.model import PredicateError

MAX_TEXT_CHARS: Final = 10_000
"""Longest text form."""

_CALL: Final = r"""
start: call | infix
call: WORDS "(" [argument ("," argument)*] ")"
argument: [WORDS "="] value
infix: WORDS operator value
operator: "=" -> is_equal
        | SAME | NOT_EQUAL | AT_MOST | AT_LEAST | LESS | GREATER | ABOUT
value: QUOTED | WORDS
SAME: "=="
NOT_EQUAL: "!=" | "≠"
AT_MOST: "<=" | "≤"
AT_LEAST: ">=" | "≥"
LESS: "<"
GREATER: ">"
ABOUT: "≈" | "~="
QUOTED: /"(\\[^\n]|[^"\\])*"/
WORDS: /[^\s,()"=<>≈≠!≤≥~][^,()"=<>≈≠!≤≥~]*/
%ignore /\s+/
"""
_OPERAND: Final = r"""
start: QUOTED -> quoted
     | DATE -> moment
     | YEAR_DAY -> year_day
     | CLOCK -> hour
     | VERSION -> words
     | DURATION -> duration
     | SIGN NUMBER -> money
     | NUMBER UNIT? -> amount
     | DOTTED -> path
     | NAME -> name
     | WORDS -> words
QUOTED: /"(\\[^\n]|[^"\\])*"/
DATE.4: /\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?(?![\w-])/
YEAR_DAY.4: /--\d\d-\d\d(?!\w)/
CLOCK.5: /\d{1,2}:\d\d(\s?[aApP]\.?[mM]\.?)?(?![\w:.])|\d{1,2}\s?[aApP]\.?[mM]\.?(?![\w:.])/
VERSION.5: /[vV]?\d+(\.\d+){2,}([-+][\w.+-]+)?(?=\s*\Z)/
DURATION.4: /P(?=\d|T\d)(\d{1,9}Y)?(\d{1,9}M)?(\d{1,9}W)?(\d{1,9}D)?(T(\d{1,9}H)?(\d{1,9}M)?(\d{1,9}S)?)?(?!\w)/
SIGN.3: /(US|A|C)?[$]|[€£¥₹]/
NUMBER.3: /[+−-]?(\d{1,3}(,\d{3})+(\.\d+)?|\d+(\.\d+)?|\.\d+)([eE][+-]?\d{1,6}(?!\w))?/
UNIT: /[^\s\d.,][^\n]*/
DOTTED.2: /[^\W\d][\w-]*(\.[^\W\d][\w-]*)+(?=\s*\Z)/
NAME.1: /[^\W\d][\w-]*(?=\s*\Z)/
WORDS: /[^\W\d][^\n"]*/
%ignore /\s+/
"""  # noqa: RUF001 - minus sign
_READABLE: Final = {
    "WORDS": "a word", "QUOTED": 'a text in "quotes"', "LPAR": "(", "RPAR": ")", "COMMA": ",", "EQUAL": "=",
    "SAME": "==", "NUMBER": "a number", "UNIT": "a unit", "DOTTED": "an attribute such as water.boiling_point",
    "NAME": "a name", "DATE": "a date such as 2024-03-01", "DURATION": "a duration such as P30D", "YEAR_DAY": "a day such as --12-15",  # noqa: E501
    "CLOCK": "a time of day such as 09:00", "VERSION": "a version such as 2.4.0", "SIGN": "a currency",
    "NOT_EQUAL": "≠", "AT_MOST": "≤", "AT_LEAST": "≥", "LESS": "<", "GREATER": ">", "ABOUT": "≈", "$END": "the end",
}  # fmt: skip


@lru_cache(maxsize=2)
def _parser(grammar: str) -> Lark:
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A text form taken apart.

    Attributes:
        head: the operator's name, or the left side of an infix form.
        sign: the sign of an infix form; empty for a call.
        arguments: (name, value) in order; the name is empty where none was written, quotes are still on.
    """

    head: str
    sign: str
    arguments: tuple[tuple[str, str], ...]


def parse_call(text: str) -> Call:
    """Take a text form apart.

    Raises:
        PredicateError: with the column of the first character that does not fit.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise PredicateError("text", f"is {len(text):,} characters long", f"at most {MAX_TEXT_CHARS:,} characters")
    (form,) = _parse(_CALL, text, "text").children
    head, *rest = form.children
    if form.data == "infix":
        operator, value = rest
        sign = str(operator.children[0]) if operator.children else "="
        return Call(str(head).strip(), sign, (("", _value(value)),))
    named = (argument.children for argument in rest if argument is not None)
    arguments = tuple((str(name or "").strip(), _value(value)) for name, value in named)
    return Call(str(head).strip(), "", arguments)


def _value(tree: Any) -> str:
    return str(tree.children[0]).strip()


def parse_value(text: str, field: str) -> tuple[str, tuple[str, ...]]:
    """Return the kind of an operand (a rule's name) and its tokens.

    Raises:
        PredicateError: as for ``parse_call``.
    """
    tree = _parse(_OPERAND, text, field)
    return str(tree.data), tuple(str(child) for child in tree.children)


def _parse(grammar: str, text: str, field: str) -> Any:
    try:
        return _parser(grammar).parse(text)
    except UnexpectedInput as error:
        at_end = isinstance(error, UnexpectedEOF) or getattr(error, "token", None) == Token("$END", "")
        column = len(text) + 1 if at_end else error.column
        raise PredicateError(field, f"does not parse at column {column}", _expected(error)) from None


def _expected(error: UnexpectedInput) -> str:
    names: Sequence[str] = sorted(getattr(error, "accepts", None) or getattr(error, "allowed", None) or ())
    words = [_READABLE[name] for name in names if name in _READABLE]
    return " or ".join(dict.fromkeys(words)) or "a predicate such as Equal(water.boiling_point, 100 degC)"
