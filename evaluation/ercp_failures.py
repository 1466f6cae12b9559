"""What differed from the expected on the problems that may be looked at, in plain text, by problem."""

from collections.abc import Iterator

from evaluation.ercp_measure import Checked, Measured
from evaluation.ercp_problems import FINAL
from evaluation.ercp_scoring import RunScore, final_draft


def failures(measured: Measured) -> str:
    """Return what differed, one paragraph for each problem.

    Raises:
        ValueError: a problem belongs to the final set.
    """
    if any(run.problem.half == FINAL for run in measured.runs):
        msg = "the final set is counted and not for looking at"
        raise ValueError(msg)
    parts = []
    for run in measured.runs:
        drafts = [checked for checked in measured.drafts if checked.problem.id == run.problem.id]
        lines = [*_run(run), *(line for checked in drafts for line in _draft(checked))]
        if run.problem.id in measured.unequal:
            lines.append("  consecutive runs differ")
        if lines:
            parts.append("\n".join([f"{run.problem.id} ({run.problem.kind})", *lines]))
    return "\n\n".join(parts) + "\n"


def _run(run: RunScore) -> Iterator[str]:
    problem, outcome = run.problem, run.outcome
    if not run.as_expected:
        yield f"  run: expected {problem.status}, came {outcome.status} ({outcome.reason}) after {outcome.iterations}"
    if run.sound is False:
        final = final_draft(problem, outcome.final_text)
        yield f"  run: converged on {final.id if final else 'a text that is no draft'}, which is wrong"
    if run.core_exact is False:
        yield f"  core: expected {sorted(problem.core)}, came {sorted(outcome.core)} and {outcome.core_learned} learned"
    if run.relaxed_exact is False:
        yield f"  given up: expected {sorted(problem.relaxed)}, came {sorted(outcome.relaxed)}"


def _draft(checked: Checked) -> Iterator[str]:
    draft, score = checked.draft, checked.score
    for planted in score.missed:
        start, end = planted.span
        yield f"  {draft.id}: missed {planted.type}: {draft.text[start:end]!r} ({planted.wrong})"
    for found in score.false:
        by = ", ".join(found.detected_by)
        yield f"  {draft.id}: false {found.type} by {by}: {found.excerpt!r}"
