"""``groundtrail verify | show``: what the record says, and whether anybody changed it."""

from typing import Any, Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as sessions

from services.allinone.parts import Part
from services.cli import render
from services.cli.answer_screen import answer_lines
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.stored_answers import StoredAnswer, check_report_id, stored_answer
from services.cli.told import told_answer
from services.cli.words import enum_text
from services.common.settings import Settings

_EXITS: Final = {
    taxonomy.CHAIN_INTEGRITY_BROKEN: Exit.VERDICT,
    taxonomy.CHAIN_INTEGRITY_PARTIAL: Exit.FAILURE,
}
"""Of what is not simply in order; VALID, TRUNCATED and UNVERIFIED, a session without a window, are 0."""


async def verify(settings: Settings, output: Output, session_id: str) -> Exit:
    """Recompute a session's chain; one that does not hold is exit code 3, one that was recomputed in part is 1."""
    async with connect(settings, Part.SESSIONS) as suite:
        verdict = await suite.call(suite.sessions.VerifyChain, sessions.VerifyChainRequest(session_id=session_id))
    render.show_chain(session_id, verdict, output)
    output.result(render.response_json(verdict))
    return _EXITS.get(verdict.integrity, Exit.OK)


async def show(settings: Settings, output: Output, report_id: str) -> Exit:
    """Show a stored report as ``ask`` did, with its chain as it is now, then stages and scores; 3 for a broken one."""
    check_report_id(report_id)
    async with connect(settings, Part.SESSIONS, Part.STORED_KNOWLEDGE) as suite:
        stored = await stored_answer(suite, report_id)
    report = stored.report
    if not report.report_id:  # its body went with the session's content; place and hash stay
        place = stored.found.summary
        output.say(
            f"The report {report_id} was erased with the content of {place.session_id}. What is left of it: its hash "
            f"{place.report_hash}, in the chain that `groundtrail verify {place.session_id}` recomputes; now it is "
            f"{stored.chain}."
        )
        output.result(_as_json(stored))
        return stored.code
    if not output.as_json:
        told = told_answer(report, stored.text, chain=stored.integrity, contents=stored.contents)
        warned = [stored.broken] if stored.broken else []
        output.show_lines(answer_lines(told, warned, (), output, whole=True))
    render.show_constraints(report, output)
    render.show_stages(report, output)
    render.show_regulatory(report, output)
    scores = [
        (name, f"{getattr(report, name):.3f}" if report.HasField(name) else "not computed")
        for name in ("grounding_pct", "fidelity_score", "entailment_score", "composite_score", "quality_score")
    ]
    risk = render.coloured(enum_text(taxonomy.RiskLevel, report.risk_level))
    output.table(
        "Scores",
        ("score", "value"),
        [
            *scores,
            ("risk_level", risk),
            *render.floor_rows(report),
            ("report_hash", report.report_hash),
            ("hmac", report.hmac),
        ],
    )
    output.result(_as_json(stored))
    return stored.code


def _as_json(stored: StoredAnswer) -> dict[str, Any]:
    """Return the report as it is stored, with what the chain is now under a name of its own."""
    return {**render.response_json(stored.found), "chain": render.response_json(stored.verdict)}
