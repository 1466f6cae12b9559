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

import groundtrail
import pytest

import services
from services.common.documents.pdf.joining import NOTICE_CHARS
from services.common.questions.decomposition import LONGEST_SENTENCE_CHARS
from services.ercp.domain.wording.understanding import MAX_WORDS_CHARS
from tests.speed import NOMINAL_S, reference_s
from tests.tenth import tenth

PACKAGES = (services, groundtrail)
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
    "services.common.questions.decomposition.comparisons._FORMS": "a table, matched against whole queries",
    **{
        f"services.ercp.domain.wording.choosing.{name}": "in a tuple, matched against whole sentences"
        for name in ("_ALLOW", "_GO", "_LISTED", "_ONE_OF", "_ONLY_MAY", "_THE_ONLY", "_USE")
    },
    "services.ercp.domain.wording.comparing._BEHIND_PATTERNS": "in a tuple, matched behind a value",
    "services.ercp.domain.predicates.assertions.COUNTED": "matched behind a value; another module's name is the same",
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
        for name in (
            *("amounts._NUMBER_END", "choosing._ALLOW", "choosing._GO", "choosing._ONE_OF", "choosing._ONLY_MAY"),
            *("choosing._SPLIT", "choosing._THE_ONLY", "choosing._USE", "clauses._COURTESY", "clauses._REASON"),
            *("clauses._SECOND", "comparing._BEHIND_PATTERNS", "comparing._CLOSER", "comparing._EACH_SUBJECT"),
            *("mentions._BE_SAID", "mentions._MUST_SAY", "mentions._NOT_WANTED", "mentions._WHERE"),
            *("naming._CONDITION", "naming._IS", "relating._ELLIPSIS", "relating._EXCEED", "relating._SAME"),
            *("relating._THAN", "steps._BEFORE", "steps._FIRST_THEN", "steps._INNER", "steps._ONLY_AFTER"),
            *("choosing._ENDING", "days._WEEKDAY", "mentions._NOT_HELD", "relating._HAS_MORE", "relating._NEARER"),
            *("relating._SAME_NOUN", "steps._BETWEEN", "steps._FIRST", "steps._LAST", "steps._NEXT", "steps._UNTIL"),
        )
    },
    **{
        f"services.common.questions.decomposition.shared.{name}": LONGEST_SENTENCE_CHARS
        for name in ("_ASKED_BEFORE", "_BARE_VERSIONS", "_COVERED")
    },
    "services.common.documents.pdf.joining._NOTICE": NOTICE_CHARS,
    "services.common.questions.decomposition.comparisons._FORMS": 1_000,
}
"""Patterns that only see so many characters (``2 * REACH``, or the bound that stands beside them) where they are
searched or matched, by where they stand: instead of their growth, the time that they take for those is tested."""
LINES = "services.ercp.domain.wording."
"""The patterns of these modules see a line as ``clauses.plain`` leaves it: with one blank at most between its words."""
MOST_BOUNDED_S = 0.1
SHORT, LONG = 2_000, 4_000
WORTH_S = 0.002
"""Linear searches of 2,000 characters stay below; only what is above is measured again."""
MOST_RATIO, MOST_S = 3.0, 0.025
"""What is measured again: twice the text takes twice as long in linear, four times in square time."""
LIMIT_S = 2.0
WORTH_QUICK_S, QUICK_LIMIT_S = 0.0005, 0.2


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
    """Return the patterns that stand as text in calls such as ``re.sub("…", …)``, and what is called."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        first = node.args[0]
        if of_re and node.func.attr != "compile" and isinstance(first, ast.Constant) and isinstance(first.value, str):
            ignores_case = any("IGNORECASE" in ast.dump(argument) for argument in node.args[1:])
            yield node.func.attr, re.compile(first.value, re.IGNORECASE if ignores_case else 0)


def _sources():
    """Yield the folder of each package, with each of its files."""
    for package in PACKAGES:
        folder = Path(package.__file__).parent
        for path in folder.rglob("*.py"):
            yield folder, path


def _searched_names():
    """Return what some code searches with, or hands on to who knows whom: names, and private ones with their module.

    A private name is that of its module alone, unless another imports it.
    """
    searched, shared = set(), set()
    for folder, path in _sources():
        module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        anchored = set()
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                shared |= {alias.name for alias in node.names}
            if isinstance(node, ast.Attribute) and node.attr in {"match", "fullmatch"}:
                anchored.add(id(node.value))
        for node in ast.walk(tree):
            if isinstance(getattr(node, "ctx", None), ast.Load) and id(node) not in anchored:
                name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
                own = isinstance(node, ast.Name) and name.startswith("_")
                searched.add(f"{module}.{name}" if own else name)
    return searched | {name.rpartition(".")[2] for name in searched if name.rpartition(".")[2] in shared}


def _is_anchored(places, searched):
    """Whether the pattern is matched from the beginning alone, at each of the places where it stands."""
    return all(
        place in ANCHORED
        or place.partition(" ")[2].startswith(("match ", "fullmatch "))
        or (" " not in place and place not in searched and place.rpartition(".")[2] not in searched)
        for place in places
    )


def _collected():
    """Return where each pattern stands; the same pattern may stand at some places."""
    found = {}
    for module in [
        one for package in PACKAGES for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]:
        if module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            for pattern in _patterns_of(value):
                places = found.setdefault(pattern, [])
                imported = not name.startswith("_") and any(place.endswith(f".{name}") for place in places)
                places += [] if imported else [f"{module.name}.{name}"]
        for called, pattern in _written_in(Path(loaded.__file__).read_text()):
            found.setdefault(pattern, []).append(f"{module.name} {called} {pattern.pattern!r}")
    return {pattern: places for pattern, places in found.items() if isinstance(pattern.pattern, str)}


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


def _seconds(pattern, piece, length, *, anchored, limit_s=LIMIT_S, is_line=False):
    text = (piece * (length // len(piece) + 1))[:length]
    text = " ".join((text * 2).split())[:length] if is_line else text
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    began = time.thread_time()
    try:
        if anchored:
            pattern.match(text)
            pattern.fullmatch(text)
        for _ in () if anchored else pattern.finditer(text):
            pass
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _Endless:
        return limit_s
    return time.thread_time() - began


def _grows(seconds, times):
    """Whether twice the text takes more than twice as long, in the best of some times."""
    once = min(seconds(LONG) for _ in range(times))
    enough_s = max(MOST_S, MOST_RATIO * once)
    # The limit counts the processor of all threads, so that it is well above what counts.
    return once >= LIMIT_S or min(seconds(2 * LONG, limit_s=2.0 * enough_s) for _ in range(times)) > enough_s


def _steep(pattern, *, anchored=False):
    """Return a piece whose repetition takes the pattern more than linear time, or ``None``."""
    for piece in _pieces(pattern):
        seconds = partial(_seconds, pattern, piece, anchored=anchored)
        first = seconds(SHORT)
        if first >= LIMIT_S:
            return piece
        if first < WORTH_S:
            continue
        if all(_grows(seconds, times) for times in (1, 3, 9)):
            return piece
    return None


def _may_be_steep(pattern, *, anchored):
    """Whether four times a text takes more than twice of that, in a quick look through few pieces."""
    own = sorted(set(_pieces(pattern)) - set(COMMON), key=len) or ["a"]
    for piece in (" ", "\n", "a", "1", own[len(own) // 2], own[-1]):
        seconds = partial(_seconds, pattern, piece, anchored=anchored)
        if seconds(SHORT, limit_s=QUICK_LIMIT_S) < WORTH_QUICK_S:
            continue
        quarter = min(seconds(SHORT // 4, limit_s=QUICK_LIMIT_S) for _ in range(2))
        enough_s = 8 * quarter
        if quarter >= QUICK_LIMIT_S or min(seconds(SHORT, limit_s=1.1 * enough_s) for _ in range(2)) > enough_s:
            return True
    return False


def _slow(pattern, *, most, anchored, is_line):
    """Return a piece of which ``most`` characters take the pattern long, or ``None``."""
    seconds = partial(_seconds, pattern, length=most, anchored=anchored, is_line=is_line)
    slow = (piece for piece in _pieces(pattern) if seconds(piece) > MOST_BOUNDED_S)
    return next((piece for piece in slow if _quickest(seconds, piece) > MOST_BOUNDED_S), None)


def _quickest(seconds, piece):
    """Return the least of some times, on the machine for which bounds are written (tests/speed.py)."""
    slowness = max(1.0, reference_s() / NOMINAL_S)
    return min(seconds(piece) for _ in range(3)) / slowness


def _name_of(item):
    pattern, places = item
    return f"{places[0]} {pattern.pattern}"


@pytest.fixture
def _limited():
    def stop(*_):
        raise _Endless

    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.usefixtures("_limited")
@pytest.mark.timeout(300)
def test_every_pattern_is_searched_in_linear_time():
    patterns = _collected()
    assert len(patterns) > 350
    assert {place for places in patterns.values() for place in places} >= ANCHORED.keys() | BOUNDED.keys()
    searched = _searched_names()
    chosen = dict(tenth("patterns", patterns.items(), name=_name_of, share=40))
    looked_at = dict(tenth("patterns, a quick look", patterns.items(), name=_name_of, share=8))
    steep = {}
    for pattern, places in patterns.items():
        bounds = [BOUNDED.get(place) for place in places]
        if pattern not in chosen | looked_at:
            continue
        anchored = _is_anchored(places, searched)
        if pattern not in chosen and (None not in bounds or not _may_be_steep(pattern, anchored=anchored)):
            continue
        look = _steep if None in bounds else partial(_slow, most=max(bounds), is_line=places[0].startswith(LINES))
        if piece := look(pattern, anchored=anchored):
            steep[", ".join(places)] = piece
    assert steep == {}


@pytest.mark.timed
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
    compiled = re.compile(pattern, re.DOTALL)
    assert any(_steep(compiled) is not None for _ in range(3))  # beside other work one look may see no growth


@pytest.mark.timed
@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize(
    ("pattern", "steep"),
    [
        pytest.param(r"\s+;", True, id="a run that is begun anew at each of its blanks"),
        pytest.param(r"[\w.]+@\w+", True, id="a run of letters that is begun anew at each"),
        pytest.param(r"(?<![\w.])[\w.]++@\w+", False, id="a run of letters that is begun once"),
    ],
)
def test_a_quick_look_sees_what_is_worth_the_long_one(pattern, steep):
    assert _may_be_steep(re.compile(pattern), anchored=False) is steep


@pytest.mark.timed
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
