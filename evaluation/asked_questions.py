"""Questions to the suite without a language model: does the answer hold what it must, and nothing that it must not?

    PART-questions.jsonl: {"id", "conversation", "question", "must", "must_not", "document", "quote"}
    PART-unanswerable.jsonl: {"id", "conversation", "question", "why"}

``must`` is a list of groups of alternatives; an answer is right when each group is hit, nothing of ``must_not`` is
there, and it has at most two sentences. An alternative is matched whole: "7" is not in "17", "5,000" not in "15,000".
``conversation`` lists the questions that were asked before, oldest first: they are asked first, in the same session.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crp.gateway.v1 import dispatch_service_pb2 as dispatch

from evaluation.data import EvaluationDataError
from evaluation.embedded_suite import KnownSuite
from evaluation.held_back import rows_of
from evaluation.shares import Share
from evaluation.tables import Table
from services.cli.commands.ask import Asked as Typed
from services.cli.commands.ask import send
from services.cli.local_state import LocalState
from services.common.documents.facts.sentences import split_sentences
from services.common.extractive.composing import NOT_FOUND, NOTHING_NEW

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "tests" / "vectors" / "dpe" / "questions"
HANDBOOK: Final = ROOT / "examples" / "handbook"
MAX_SENTENCES: Final = 2
_DASHES: Final = re.compile("[\u2010-\u2015\u2212]")
_SPACES: Final = re.compile(r"\s+")
_REFUSAL: Final = "RELEVANCE_STATUS_REFUSAL"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question; ``must`` is empty for one that no document answers.

    Attributes:
        before: questions that are asked first in the same session, oldest first.
    """

    id: str
    question: str
    before: tuple[str, ...]
    must: tuple[tuple[str, ...], ...]
    must_not: tuple[str, ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, the answer's text, and whether the suite says that it found none."""

    asked: AskedQuestion
    text: str
    refused: bool

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the answer; empty for a right one."""
        if not self.asked.answerable:
            return () if self.refused else ("answered",)
        faults = ["refused"] if self.refused else []
        faults += [f"lacks {' / '.join(group)}" for group in self.asked.must if not hit(self.text, group)]
        faults += [f"holds {words}" for words in self.asked.must_not if hit(self.text, (words,))]
        number = len(split_sentences(self.text))
        return (*faults, *([f"{number} sentences"] if number > MAX_SENTENCES else []))


def hit(text: str, alternatives: Sequence[str]) -> bool:
    """Say whether an alternative stands in the text, between boundaries of words and numbers, whatever the case."""
    plain = _plain(text)
    return any(_pattern(_plain(one)).search(plain) for one in alternatives)


def _pattern(words: str) -> re.Pattern[str]:
    # A digit may not go on with a separator and a digit: 5 is not in 5,000 nor in 0.5.
    before = r"(?<!\w)(?<!\d[.,])" if words[:1].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if words[-1:].isalnum() else ""
    return re.compile(f"{before}{re.escape(words)}{after}")


def _plain(text: str) -> str:
    return _SPACES.sub(" ", _DASHES.sub("-", text).replace("\u2019", "'")).strip().casefold()


def read_questions(part: str, folder: Path = FOLDER, *, open_test: bool = False) -> list[AskedQuestion]:
    """Return the questions of both files of a part, ``development`` or ``test``.

    Raises:
        EvaluationDataError: a file is not there or held back, or a row lacks a field.
    """
    asked = rows_of(folder, f"{part}-questions", open_test=open_test)
    open_ = rows_of(folder, f"{part}-unanswerable", open_test=open_test)
    return [_question(row, answerable=True) for row in asked] + [_question(row, answerable=False) for row in open_]


def _question(row: Mapping[str, Any], *, answerable: bool) -> AskedQuestion:
    try:
        must = tuple(map(tuple, row["must"])) if answerable else ()
        before, must_not = tuple(row.get("conversation") or ()), tuple(row.get("must_not") or ())
        return AskedQuestion(str(row["id"]), row["question"], before, must, must_not, answerable)
    except KeyError as error:
        raise EvaluationDataError(f"question {row.get('id', '?')}: the field {error} is not there") from None


async def ask_all(questions: Sequence[AskedQuestion], known: KnownSuite) -> list[Answered]:
    """Ask the questions, each in a session of its own after those before it."""
    state = LocalState(known.folder)
    answered = []
    for asked in questions:
        session = ""
        for earlier in asked.before:
            session = _session_of(await send(known.suite, state, Typed(earlier, session)), session)
        answered.append(Answered(asked, *_said(await send(known.suite, state, Typed(asked.question, session)))))
    return answered


def _session_of(response: dispatch.DispatchResponse, before: str) -> str:
    answer = response.answer
    return answer.session_id if response.HasField("answer") and answer.continuation_id else before


def _said(response: dispatch.DispatchResponse) -> tuple[str, bool]:
    if not response.HasField("answer"):
        return "", True
    text = response.answer.text
    return text, text.strip() in {NOT_FOUND, NOTHING_NEW} or _is_refusal(response.answer.report)


def _is_refusal(report: Any) -> bool:
    """Say whether the report itself calls the answer a refusal, where its schema can say so."""
    field = report.DESCRIPTOR.fields_by_name.get("relevance")
    if field is None or not report.HasField("relevance"):
        return False
    statuses = field.message_type.fields_by_name["status"].enum_type.values_by_number
    return bool(statuses[report.relevance.status].name == _REFUSAL)


def shares_of_answers(answered: Sequence[Answered]) -> dict[str, Share]:
    """Return the share of right answers: first questions, follow-ups, all, and of refusals."""
    right = [one for one in answered if one.asked.answerable]
    return {
        "first questions": Share.among(not one.faults for one in right if not one.asked.before),
        "follow-ups": Share.among(not one.faults for one in right if one.asked.before),
        "answered right": Share.among(not one.faults for one in right),
        "without an answer: refused": Share.among(one.refused for one in answered if not one.asked.answerable),
    }


def table_of_answers(answered: Sequence[Answered]) -> Table:
    """Return a row for each share."""
    rows = tuple((name, str(share)) for name, share in shares_of_answers(answered).items())
    return Table("questions", "Questions without a language model", ("questions", "share"), rows)


def mistakes_of_answers(answered: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return the wrong answers and what is wrong with each."""
    return [
        {"id": one.asked.id, "question": one.asked.question, "answer": one.text, "faults": list(one.faults)}
        for one in answered
        if one.faults
    ]
