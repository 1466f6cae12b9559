"""From a constraint in everyday words to its predicate, by rules in a fixed order (ERCP 1.0 §2, ADR 0116).

Every rule takes a whole sentence or nothing. A sentence that a rule takes only in part, that has an exception or a
condition, or that says more than one thing, is not understood, and the reason says so. Linear in the text, which is
short.
"""

import re
from collections.abc import Callable
from typing import Final

from services.ercp.domain.predicates import Predicate, PredicateError, parse_predicate, parse_text, to_document
from services.ercp.domain.wording import clauses
from services.ercp.domain.wording.choosing import read_choice
from services.ercp.domain.wording.comparing import read_values
from services.ercp.domain.wording.days import read_weekday
from services.ercp.domain.wording.formats import read_format
from services.ercp.domain.wording.mentions import read_mention
from services.ercp.domain.wording.model import NotUnderstoodError, Understanding
from services.ercp.domain.wording.naming import read_name
from services.ercp.domain.wording.relating import read_relation
from services.ercp.domain.wording.setting import demanded_by
from services.ercp.domain.wording.steps import read_order

MAX_WORDS_CHARS: Final = 500
"""A constraint that is longer says more than one predicate can."""
_RULES: Final[tuple[Callable[[str], tuple[Predicate, str] | None], ...]] = (
    read_format, read_order, read_mention, read_weekday, read_choice, read_relation, read_name, read_values,
)  # fmt: skip


def understand_constraint(text: str) -> Understanding:
    """Return the predicate that a constraint in words demands, or why none was understood.

    Args:
        text: the constraint's ``nl_text``.
    """
    try:
        return _understood(text)
    except NotUnderstoodError as error:
        return Understanding(None, reason=str(error))


def _understood(text: str) -> Understanding:
    line = clauses.plain(text)
    if not line:
        raise NotUnderstoodError("it is empty")
    if len(line) > MAX_WORDS_CHARS:
        raise NotUnderstoodError(f"it is longer than {MAX_WORDS_CHARS} characters")
    if _WRITTEN.search(line):
        return _written(line)
    if line.endswith("?"):
        raise NotUnderstoodError("it is a question")
    found: list[Understanding] = []
    faults: list[str] = []
    for sentence in clauses.sentences(line):
        try:
            understood = _read(demanded_by(clauses.bare(sentence)))
        except NotUnderstoodError as error:
            faults.append(str(error))
            continue
        found.append(understood)
    if faults:
        raise NotUnderstoodError(faults[0])
    if len(found) > 1:
        raise NotUnderstoodError("it makes more than one demand; give each its own constraint")
    return found[0]


def _written(line: str) -> Understanding:
    """Read a predicate in its text form: ``timeout <= 30 s``."""
    try:
        return Understanding(parse_text(line.rstrip(" .")), rule="predicate")
    except PredicateError as error:
        raise NotUnderstoodError(f"it looks like a predicate and is none: {error}") from None


_WRITTEN: Final = re.compile(r"\A[A-Z][A-Za-z]+\(.*\)\.?\Z|\A[\w.]+\s*(?:<=|>=|==|!=|[<>≈≠≤≥=])")


def _read(sentence: str) -> Understanding:
    for rule in _RULES:
        found = rule(sentence)
        if found is not None:
            return _checked(*found)
    raise NotUnderstoodError("no rule knows this wording")


def _checked(predicate: Predicate, rule: str) -> Understanding:
    """Return a predicate as the grammar reads it back: what cannot be written was not understood."""
    document = to_document(predicate)
    try:
        read = parse_predicate(document["predicate_name"], document["args"])
    except PredicateError as error:
        raise NotUnderstoodError(f"what it demands is no predicate: {error}") from None
    return Understanding(read, rule=rule)
