"""Every pattern of the code is searched in linear time, whatever stands in the text.

The patterns are collected, not listed: those that modules hold, in tables and records too, and those written where they
are used. Each is searched, or matched where no code does more with it, through repetitions of pieces that are common in
hostile texts, and of pieces that the pattern itself begins to match. Only processor time counts, and only the growth of
it where there is enough to measure.
"""

import ast
import importlib
import pkgutil
import random
import re
import re._constants as code
import re._parser as parser
import signal
import time
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path

import pytest

import services
from services.ercp.domain.wording.understanding import MAX_WORDS_CHARS
from tests.tenth import tenth

COMMON = (
    *(" ", "\n", "\t", '"', "'", "(", "[", "a", "A", "1", ".", ",", "-", "_", "%", "\u00a0", "\u201c", "#", "<", "$"),
    *(
        "a ",
        "A ",
        "1 ",
        "1.",
        "1,",
        "a.",
        "a. A",
        "a-",
        "\n ",
        "[1] ",
        "[a](",
        "and ",
        "of ",
        "by ",
        "e.g. ",
        "a@",
        "a/",
        ".",
    ),
)
ANCHORED = {
    "services.envelope.domain.decomposition_comparisons._FORMS": "a table, matched against whole queries",
}
"""Patterns that are matched from the beginning alone, where this cannot be read from the code; by where they stand."""
BOUNDED = {
    "services.ercp.domain.predicates." + name: 480
    for name in (
        *("assertions.DENIED", "assertions.FILLER", "assertions.HYPOTHETICAL", "binding.CONDITION", "binding._WHEN"),
        *("chronology._DATED", "chronology._FIRST", "chronology._SPAN_OF_TIME", "further_values._ALSO"),
        *("further_values._IT", "further_values._OWNER", "mentions._BETWEEN", "statements._COMPARED"),
        *("subjects._LIMIT", "subjects._OF", "subjects._POSSESSIVE", "subjects._TRAILING", "units._PER"),
    )
} | {
    **{
        f"services.ercp.domain.wording.{name}": MAX_WORDS_CHARS
        for name in ("comparing._CLOSER", "mentions._NOT_WANTED", "naming._CONDITION", "naming._IS")
    },
    "services.envelope.domain.decomposition_comparisons._FORMS": 1_000,
}
"""Patterns that only see so many characters (``2 * REACH``, ``MAX_WORDS_CHARS``, ``LONGEST_SENTENCE_CHARS``) where they
are searched or matched, by where they stand: instead of their growth, the time that they take for those is tested."""
MOST_BOUNDED_S = 0.1
SHORT, LONG = 2_000, 4_000
WORTH_S = 0.002
"""Linear searches of 2,000 characters stay below; only what is above is measured again."""
MOST_RATIO, MOST_S = 3.0, 0.025
"""What is measured again: twice the text takes twice as long in linear, four times in square time."""
LIMIT_S = 2.0


class _Endless(Exception):  # noqa: N818 - not an error, a finding
    pass


def _patterns_of(value, depth=0):
    if isinstance(value, re.Pattern):
        yield value
    elif depth > 4 or isinstance(value, type):
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _patterns_of(key, depth + 1)
            yield from _patterns_of(item, depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _patterns_of(item, depth + 1)
    elif is_dataclass(value):
        for name in value.__dataclass_fields__:
            yield from _patterns_of(getattr(value, name, None), depth + 1)


def _written_in(source):
    """Return the patterns that stand as text in calls such as ``re.sub("…", …)``."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        first = node.args[0]
        if of_re and node.func.attr != "compile" and isinstance(first, ast.Constant) and isinstance(first.value, str):
            ignores_case = any("IGNORECASE" in ast.dump(argument) for argument in node.args[1:])
            yield re.compile(first.value, re.IGNORECASE if ignores_case else 0)


def _searched_names():
    """Return the names of patterns that some code searches with, or hands on to who knows whom."""
    searched = set()
    for path in Path(services.__file__).parent.rglob("*.py"):
        anchored = set()
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in {"match", "fullmatch"}:
                anchored.add(id(node.value))
        for node in ast.walk(tree):
            if isinstance(getattr(node, "ctx", None), ast.Load) and id(node) not in anchored:
                searched.add(node.id if isinstance(node, ast.Name) else getattr(node, "attr", ""))
    return searched


def _collected():
    found = {}
    for module in pkgutil.walk_packages(services.__path__, "services."):
        if module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            for pattern in _patterns_of(value):
                found.setdefault(pattern, f"{module.name}.{name}")
        for pattern in _written_in(Path(loaded.__file__).read_text()):
            found.setdefault(pattern, f"{module.name} {pattern.pattern!r}")
    return {pattern: where for pattern, where in found.items() if isinstance(pattern.pattern, str)}


_EXAMPLES = {
    code.CATEGORY_DIGIT: "1",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_WORD: "a",
    code.CATEGORY_NOT_DIGIT: "a",
    code.CATEGORY_NOT_SPACE: "a",
    code.CATEGORY_NOT_WORD: " ",
}


def _one_of(items, rng):
    options, refused = [], False
    for kind, value in items:
        if kind is code.NEGATE:
            refused = True
        elif kind is code.LITERAL:
            options.append(chr(value))
        elif kind is code.RANGE:
            options.append(chr(rng.choice(value)))
        elif kind is code.CATEGORY:
            options.append(_EXAMPLES[value])
    if refused:
        return next((char for char in rng.sample('a1 .,("=\nA%', 11) if char not in options), "\u00e9")
    return rng.choice(options)


def _example(tree, rng, out):  # noqa: C901 - one branch for each kind of node
    """Write a text that the parsed pattern matches, but for its assertions."""
    for kind, value in tree:
        if kind is code.LITERAL:
            out.append(chr(value))
        elif kind is code.NOT_LITERAL:
            out.append("b" if value == ord("a") else "a")
        elif kind is code.ANY:
            out.append(rng.choice("a 1"))
        elif kind is code.IN:
            out.append(_one_of(value, rng))
        elif kind is code.BRANCH:
            _example(rng.choice(value[1]), rng, out)
        elif kind is code.SUBPATTERN:
            _example(value[3], rng, out)
        elif kind is code.ATOMIC_GROUP:
            _example(value, rng, out)
        elif kind in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
            least, most, inner = value
            for _ in range(rng.randint(least, min(most, least + 2))):
                _example(inner, rng, out)


def _pieces(pattern):
    """Return what to repeat: the common pieces, and beginnings and parts of what the pattern matches."""
    rng = random.Random(pattern.pattern)
    tree = parser.parse(pattern.pattern, pattern.flags)
    pieces = set()
    for _ in range(8):
        out = []
        _example(tree, rng, out)
        example = "".join(out)[:60]
        pieces.add(example.strip())
        cut, end = sorted((rng.randint(0, len(example)), rng.randint(0, len(example))))
        pieces |= {example, example[:end] + " ", example[cut:end], example[: end or None]}
    return [*COMMON, *sorted(pieces - {""})]


def _seconds(pattern, piece, length, *, anchored):
    text = (piece * (length // len(piece) + 1))[:length]
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
    began = time.thread_time()
    try:
        if anchored:
            pattern.match(text)
        for _ in () if anchored else pattern.finditer(text):
            pass
    except _Endless:
        return LIMIT_S
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.thread_time() - began


def _steep(pattern, *, anchored=False):
    """Return a piece whose repetition takes the pattern more than linear time, or ``None``."""
    for piece in _pieces(pattern):
        seconds = partial(_seconds, pattern, piece, anchored=anchored)
        first = seconds(SHORT)
        if first >= LIMIT_S:
            return piece
        if first < WORTH_S:
            continue
        once = min(seconds(LONG) for _ in range(3))
        twice = min(seconds(2 * LONG) for _ in range(3))
        if once >= LIMIT_S or (twice > MOST_S and twice > MOST_RATIO * once):
            return piece
    return None


def _slow(pattern, *, most, anchored):
    """Return a piece of which ``most`` characters take the pattern long, or ``None``."""
    return next(
        (piece for piece in _pieces(pattern) if _seconds(pattern, piece, most, anchored=anchored) > MOST_BOUNDED_S),
        None,
    )


@pytest.fixture
def _limited():
    def stop(*_):
        raise _Endless

    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.tenth
@pytest.mark.usefixtures("_limited")
@pytest.mark.timeout(300)
def test_every_pattern_is_searched_in_linear_time():
    patterns = _collected()
    assert len(patterns) > 350
    assert set(patterns.values()) >= ANCHORED.keys() | BOUNDED.keys()
    searched = _searched_names()
    steep = {}
    for pattern, where in tenth("patterns", patterns.items(), name=lambda item: f"{item[1]} {item[0].pattern}"):
        is_held = " " not in where  # by a module, under a name
        anchored = where in ANCHORED or (is_held and where.rpartition(".")[2] not in searched)
        look = partial(_slow, most=BOUNDED[where]) if where in BOUNDED else _steep
        if piece := look(pattern, anchored=anchored):
            steep[where] = piece
    assert steep == {}


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"\s+;", id="a run that is begun anew at each of its blanks"),
        pytest.param(r"\bis\b.*\bby\b", id="a beginning, then all of the rest"),
        pytest.param(r"(?:\[\d+\]\s?)+$", id="a run that must reach the end"),
        pytest.param(r"(?:<!--.*?-->\s*)*<html", id="ways without number to cut the same text"),
        pytest.param(r"\"(?:[^\"\\]|\\.)*\"x", id="a quotation that is not followed by what it should be"),
    ],
)
def test_a_pattern_that_is_not_linear_is_found(pattern):
    assert _steep(re.compile(pattern, re.DOTALL)) is not None


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize(
    ("pattern", "anchored"),
    [
        pytest.param(r"(?<!\s)\s++;", False, id="a run that is begun once"),
        pytest.param(r"\bis\b[^.]{0,40}\bby\b", False, id="so much of the rest"),
        pytest.param(r"(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+<html", True, id="one way to cut the text"),
    ],
)
def test_its_linear_form_is_not(pattern, anchored):
    assert _steep(re.compile(pattern), anchored=anchored) is None
