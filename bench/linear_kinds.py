"""More than two hundred kinds of repetition: what a hostile caller, a broken document or a stuck model repeats.

Each kind makes a text of any length, the same one every time. Half of them are one short piece, over and over; the rest
count, nest, grow or mix, because code that looks for equal pieces is fast exactly where all pieces are equal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of repetition.

    Attributes:
        name: what is repeated, for the table.
        make: makes the text of a length, in characters.
    """

    name: str
    make: Callable[[int], str]


def repeated(piece: str, length: int) -> str:
    """Return ``piece`` over and over."""
    return (piece * (length // len(piece) + 1))[:length]


def counted(template: str, length: int) -> str:
    """Return the template with a number that grows from piece to piece."""
    parts: list[str] = []
    size = number = 0
    while size < length:
        number += 1
        parts.append(template.format(n=number, m=number * 7 % 1_009, w=_word(number)))
        size += len(parts[-1])
    return "".join(parts)[:length]


def nested(left: str, right: str, length: int) -> str:
    """Return so many openers, then as many closers."""
    depth = max(1, length // (len(left) + len(right)))
    return (left * depth + right * depth)[:length]


def enclosed(left: str, piece: str, right: str, length: int) -> str:
    """Return one opener, pieces, one closer."""
    return left + repeated(piece, max(0, length - len(left) - len(right))) + right


def _word(number: int) -> str:
    """Return a pronounceable word of its own for every number."""
    word = ""
    while True:
        number, digit = divmod(number, 60)
        word += "bdfgklmnprst"[digit % 12] + "aeiou"[digit // 12]
        if not number:
            return word


_MARKS: Final = "%=€$+§()<\"'_#*,!?;:.-/~|[]{}&@^`\\>…–—“”‘’«»•·°½²"  # noqa: RUF001 - typographic marks are meant
_LETTERS: Final = ("a", "A", "é", "ß", "я", "中", "ع", "न", "あ", "한", "😀", "e\u0301", "\u200d", "1", "0", "Ⅳ", "٣")
_BLANKS: Final = (" ", "\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "\n\n", " \n", "\n ", "\u2028", "\u200b")
_WORDS: Final = (
    *("word ", "Word ", "the ", "and ", "or ", "of ", "not ", "to ", "if ", "by ", "that ", "was ", "is made by "),
    *("he said ", "no more than ", "at least ", "between ", "up to ", "because ", "which is ", "and, ", "; ", ": "),
    *("e.g. ", "i.e. ", "Mr. ", "a. A. ", "U.S. ", "etc. ", "However, ", "It ", "St. A. B. ", "don't ", "o'clock "),
)
_NUMBERS: Final = (
    *("1 ", "1,", "1.", "1-", "1/", "1:", "1% ", "$1 ", "€1,000 ", "1,000 ", "1.5 ", "1e9 ", "12 May 2020 ", "10:30 "),
    *("two ", "two hundred and ", "half ", "1st ", "3 km ", "5 to 6 ", "1) ", "2020-01-01 ", "111.111.", "-1 ", "x1 "),
    *(
        "IV. ",
        "Section 1 ",
        "+49 30 1234567 ",
        "DE89 3704 0044 0532 0130 00 ",
        "4111 1111 1111 1111 ",
        "[1] ",
        "[1, 2]",
    ),
)
_MARKUP: Final = (
    *("[a](", "*a_", "![", "[[", "# a\n", "- a\n", "> ", "1. a\n", "```\n", "|a|b|\n", "a|b\n-|-\n", "**a", "`a"),
    *("<b>", "</b>", "<p>", "<td>", "<a b=c ", "<!--", "<![CDATA[", "&amp;", "&#1;", "<br/>", "[a]: b\n", "    a\n"),
    *("http://a.b/", "a@b.c ", "a.b.", "/a/b", "\\(x\\) ", '{"a": ', "def f():\n", "a_b_", "--a ", "~~~\n", "<a>b</a>"),
)
_SENTENCES: Final = (
    *("Yes. ", "No! ", "Why? ", "It is so. ", "He left. She came. ", "The fee is 5 euros. ", "A b. ", "?! ", '." '),
    *("The bridge is long, and the road is short. ", "If it rains, the match is off. ", "“Go.” ", "(See above.) "),
    *(
        "Anna Smith met Peter Brown in Paris. ",
        "Ignore all previous instructions. ",
        "It is not the case that it is so. ",
    ),
)
_COUNTED: Final = {
    "sentences with another number": "The limit of the policy is {n} euros. ",
    "sentences with two numbers": "Section {n} grants {m} days of leave. ",
    "sentences with another name": "The town of {w} has a harbour. ",
    "sentences with name and number": "The town of {w} has {n} harbours. ",
    "sentences of new words": "{w} {w}a {w}o {w}i. ",
    "lines with another number": "Row {n}: {m}\n",
    "list items with another number": "- item {n} costs {m} euros\n",
    "headings with another number": "# Part {n}\n",
    "words that differ": "{w} ",
    "numbers that differ": "{n} ",
    "amounts that differ": "${n}, ",
    "dates that differ": "On 1 May {n} it rained. ",
    "percentages that differ": "It grew by {n}%. ",
    "identifiers that differ": "AB-{n}/{m} ",
    "attributes that differ": "a{n}={m} ",
    "table rows that differ": "| {n} | {m} |\n",
    "links that differ": "[a{n}](http://b{m}.example/{n}) ",
    "reference definitions that differ": "[a{n}]: http://b/{m}\n",
    "tags that differ": "<x{n}>",
    "addresses that differ": "u{n}@example{m}.com ",
    "comparisons with another number": "Plan {n} is cheaper than plan {m}. ",
    "conditions with another number": "If {n} is more than {m}, pay {n} euros. ",
    "contradictions": "The limit is {n}. The limit is not {n}. ",
    "orders": "Step {n} comes before step {m}. ",
    "quotations that differ": "“Rule {n} says {m}.” ",
    "clauses that differ": "unit {n} costs {m}, and ",
    "questions that differ": "What is {w} and how long is {n}? ",
    "names that differ": "{w} Smith, ",
    "equations that differ": "x{n} = {m}; ",
    "constraints that differ": "The answer must mention {w} and {n}. ",
    "phone numbers that differ": "+49 30 {m}{n} ",
    "names with titles that differ": "Dr. {w} Braun of {w}ville. ",
}
_SHAPES: Final = {
    "nested brackets": partial(nested, "(", ")"),
    "nested square brackets": partial(nested, "[", "]"),
    "nested braces": partial(nested, "{", "}"),
    "nested quotation marks": partial(nested, "“", "”"),
    "nested elements": partial(nested, "<div>", "</div>"),
    "nested lists": partial(nested, "<ul><li>", "</li></ul>"),
    "nested objects": partial(nested, '{"a":', "}"),
    "nested clauses": partial(nested, "that the man who ", "left "),
    "one quotation": partial(enclosed, "He said “", "so be it and ", ".”"),
    "one sentence of words": partial(enclosed, "The ", "blue ", "house fell."),
    "one sentence of clauses": partial(enclosed, "It ", "was made and it ", "fell."),
    "one sentence of commas": partial(enclosed, "It ", "was, as said, ", "so."),
    "one element with attributes": lambda length: f"<p {counted('a{n}={m} ', max(0, length - 8))}>x</p>",
    "one unclosed element": lambda length: f"<p {counted('a{n}={m} ', max(0, length - 3))}",
    "one code block": partial(enclosed, "```\n", "a = b\n", "```\n"),
    "one table": lambda length: "|a|b|\n|-|-|\n" + counted("|{n}|{m}|\n", max(0, length - 12)),
    "one wide table": lambda length: (
        f"{repeated('|a', length // 2 - 2)}|\n{repeated('|-', length // 2 - 2)}|\n" if length > 8 else "|a|\n"
    ),
    "one word": partial(enclosed, "The ", "super", " end."),
    "one number": partial(enclosed, "The sum is ", "9", "."),
    "one address": partial(enclosed, "http://", "a/", "end"),
}


def _kinds() -> tuple[Kind, ...]:
    pieces = (*_MARKS, *_LETTERS, *_BLANKS, *_WORDS, *_NUMBERS, *_MARKUP, *_SENTENCES)
    found = {f"repeated {piece!r}": partial(repeated, piece) for piece in pieces}
    found |= {name: partial(counted, template) for name, template in _COUNTED.items()}
    found |= _SHAPES
    return tuple(Kind(name, make) for name, make in found.items())


KINDS: Final = _kinds()
"""All of them, in a fixed order."""
