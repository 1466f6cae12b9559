"""What an ERCP run and a verification are worth against a scripted problem; pure, see docs/ercp-evaluation.md.

A found error is right when it names the place of a planted one of the same type, or the statement that this one clashes
with. One planted error is found once: what names it again is a repeat and counts neither way. Whatever else is found is
false.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from evaluation.ercp_problems import Draft, PlantedError, ScriptedProblem, Span

ANY: Final = "any type"
REFUSED: Final = "refused"
FINISHED: Final = ("converged", "infeasible", "partial", "failed", REFUSED)


@dataclass(frozen=True, slots=True)
class FoundError:
    """An error that the service reported: its type, its place ([start, end) in the draft; ``None`` = nowhere)."""

    type: str
    span: Span | None
    excerpt: str = ""
    detected_by: tuple[str, ...] = ()

    def place(self, text: str) -> Span | None:
        """Return where it is: its span, or where its excerpt stands in the text."""
        if self.span is not None:
            return self.span
        start = text.find(self.excerpt) if self.excerpt else -1
        return None if start < 0 else (start, start + len(self.excerpt))


@dataclass(slots=True)
class Counts:
    """Right, missed and false findings; precision and recall are ``None`` where there is nothing to divide by."""

    right: int = 0
    missed: int = 0
    false: int = 0

    @property
    def precision(self) -> float | None:
        """Return the share of the findings that are right."""
        return _ratio(self.right, self.right + self.false)

    @property
    def recall(self) -> float | None:
        """Return the share of the planted errors that were found."""
        return _ratio(self.right, self.right + self.missed)

    def add(self, other: "Counts") -> None:
        """Add another's counts to these."""
        self.right += other.right
        self.missed += other.missed
        self.false += other.false


@dataclass(slots=True)
class DraftScore:
    """One draft's findings against what is planted in it.

    Attributes:
        by_type: strict counts by error type, and ``any type``: places alone, whatever the type said.
        found, missed: the planted errors, by strict match.
        false: findings that name no planted error of their type.
        repeats: findings that name one again.
        negatives_hit: hard negatives that some false finding stands on.
    """

    by_type: dict[str, Counts] = field(default_factory=dict)
    found: list[PlantedError] = field(default_factory=list)
    missed: list[PlantedError] = field(default_factory=list)
    false: list[FoundError] = field(default_factory=list)
    repeats: int = 0
    negatives_hit: int = 0


def score_draft(draft: Draft, findings: Sequence[FoundError]) -> DraftScore:
    """Return how right the findings are."""
    score = DraftScore()
    named, repeats, false = _match(draft, findings, strict=True)
    score.repeats, score.false = repeats, false
    for planted in draft.errors:
        counts = score.by_type.setdefault(planted.type, Counts())
        if id(planted) in named:
            score.found.append(planted)
            counts.right += not planted.optional
        elif not planted.optional:
            score.missed.append(planted)
            counts.missed += 1
    for found in false:
        score.by_type.setdefault(found.type, Counts()).false += 1
    places = [found.place(draft.text) for found in false]
    score.negatives_hit = sum(any(_overlap(negative, place) for place in places) for negative in draft.hard_negatives)
    loose, _, astray = _match(draft, findings, strict=False)
    wanted = [planted for planted in draft.errors if not planted.optional]
    right = sum(id(planted) in loose for planted in wanted)
    score.by_type[ANY] = Counts(right, len(wanted) - right, len(astray))
    return score


def _match(draft: Draft, findings: Sequence[FoundError], *, strict: bool) -> tuple[set[int], int, list[FoundError]]:
    """Return the planted errors that are named (by identity), how many findings repeat, and the false ones."""
    named: set[int] = set()
    repeats = 0
    false = []
    for found in findings:
        place = found.place(draft.text)
        meant = [
            planted for planted in draft.errors if (planted.type == found.type or not strict) and _names(planted, place)
        ]
        fresh = [planted for planted in meant if id(planted) not in named]
        if fresh:
            named.add(id(fresh[0]))
        elif meant:
            repeats += 1
        else:
            false.append(found)
    return named, repeats, false


def _names(planted: PlantedError, place: Span | None) -> bool:
    return _overlap(planted.span, place) or _overlap(planted.against, place)


def _overlap(first: Span | None, second: Span | None) -> bool:
    return first is not None and second is not None and first[0] < second[1] and second[0] < first[1]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended.

    Attributes:
        status: a word of ERCP 1.0 §3.1, or ``refused`` when the call was.
        reason: the service's own, as text.
        final_text: of the last reasoning; empty when there is none.
        core, relaxed: names of the caller's constraints that are said to clash, and that were given up.
        core_learned: how many constraints of the core the run had learned itself.
        learned: predicate names of the constraints in force at the end that the caller did not bring.
        iterations: rounds that ran.
        seconds: wall time of the call.
    """

    status: str
    reason: str = ""
    final_text: str = ""
    core: frozenset[str] = frozenset()
    relaxed: frozenset[str] = frozenset()
    core_learned: int = 0
    learned: tuple[str, ...] = ()
    iterations: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run against its problem.

    Attributes:
        as_expected: it ended in the expected status.
        sound: it converged on a draft without a planted error; ``None`` when it did not converge.
        core_exact: the core is the expected one, no more and no less; ``None`` where none is expected.
        relaxed_exact: what was given up is what had to be; ``None`` where nothing had to.
    """

    problem: ScriptedProblem
    outcome: RunOutcome
    as_expected: bool
    sound: bool | None
    core_exact: bool | None
    relaxed_exact: bool | None


def score_run(problem: ScriptedProblem, outcome: RunOutcome) -> RunScore:
    """Return what the run is worth."""
    final = final_draft(problem, outcome.final_text)
    sound = None
    if outcome.status == "converged":
        sound = final is not None and all(error.optional for error in final.errors)
    core_exact = None
    if problem.status == "infeasible":
        core_exact = (
            outcome.status == "infeasible"
            and outcome.core == frozenset(problem.core)
            and bool(outcome.core_learned) == bool(problem.core_learned)
        )
    relaxed_exact = outcome.relaxed == frozenset(problem.relaxed) if problem.relaxed else None
    return RunScore(problem, outcome, outcome.status == problem.status, sound, core_exact, relaxed_exact)


def final_draft(problem: ScriptedProblem, text: str) -> Draft | None:
    """Return the draft of that text; white space does not matter."""
    wanted = " ".join(text.split())
    return next((draft for draft in problem.script if " ".join(draft.text.split()) == wanted), None)


def distinct_drafts(problem: ScriptedProblem) -> tuple[Draft, ...]:
    """Return the drafts of different texts, in order."""
    first: dict[str, Draft] = {}
    for draft in problem.script:
        first.setdefault(draft.text, draft)
    return tuple(first.values())


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the smallest value that at least that share of the values does not exceed; ``None`` of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def confusion(scores: Sequence[RunScore]) -> Counter[tuple[str, str]]:
    """Return how often each expected status ended in which."""
    return Counter((score.problem.status, score.outcome.status) for score in scores)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
