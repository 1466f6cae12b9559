"""DAGs of every pattern, made by hand as messages of GetDag."""

from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

SESSION = "crp_sess_7f3a9bc2"


def window(window_id, number, parents=(), **changes):
    values = {
        "pattern": "LINEAR",
        "tier": "A",
        "risk": "LOW",
        "budget": 1.0,
        "status": "COMMITTED",
        "hmac": f"{number:02x}" * 32,
    } | changes
    return dag_pb2.WindowNode(
        window_id=window_id,
        session_id=SESSION,
        window_number=number,
        parent_ids=parents,
        pattern=f"WINDOW_PATTERN_{values['pattern']}",
        strategy=values.get("strategy", "push"),
        quality_tier=f"QUALITY_TIER_{values['tier']}",
        risk_level=f"RISK_LEVEL_{values['risk']}",
        safety_budget=values["budget"],
        hmac=values["hmac"],
        status=f"WINDOW_STATUS_{values['status']}",
    )


def edge(source, target, transfer="FULL_CONTEXT", tokens=0, summary_hash=""):
    return dag_pb2.WindowEdge(
        source_id=source,
        target_id=target,
        transfer_type=f"TRANSFER_TYPE_{transfer}",
        transferred_tokens=tokens,
        summary_hash=summary_hash,
    )


def agent(target, session_id, window_id, budget=1.0):
    return pb.MergedAgent(
        target_id=target, session_id=session_id, window_id=window_id, hmac="0a" * 32, safety_budget=budget
    )


def dag(*parts, status="OPEN", session_id=SESSION):
    windows = [part for part in parts if isinstance(part, dag_pb2.WindowNode)]
    edges = [part for part in parts if isinstance(part, dag_pb2.WindowEdge)]
    session = dag_pb2.Session(session_id=session_id, status=f"SESSION_STATUS_{status}")
    agents = [part for part in parts if isinstance(part, pb.MergedAgent)]
    return pb.GetDagResponse(session=session, windows=windows, edges=edges, agents=agents)


APPENDIX_A = dag(
    window("crp_win_1", 1),
    window("crp_win_2a", 2, ["crp_win_1"], pattern="FAN_OUT", budget=0.95),
    window("crp_win_2b", 2, ["crp_win_1"], pattern="FAN_OUT", risk="MEDIUM", budget=0.9),
    window("crp_win_2c", 2, ["crp_win_1"], pattern="FAN_OUT", tier="B", budget=0.95),
    window("crp_win_3a", 3, ["crp_win_2a"], tier="B", risk="HIGH", budget=0.8),
    window(
        "crp_win_4",
        4,
        ["crp_win_3a", "crp_win_2b", "crp_win_2c"],
        pattern="FAN_IN",
        tier="B",
        risk="MEDIUM",
        budget=0.8,
    ),
    edge("crp_win_1", "crp_win_2a", tokens=52),
    edge("crp_win_1", "crp_win_2b", "FACTS_ONLY"),
    edge("crp_win_1", "crp_win_2c", "SUMMARY", 12, "ab" * 32),
    edge("crp_win_2a", "crp_win_3a"),
    edge("crp_win_3a", "crp_win_4", "RESULT_ONLY", 5),
    edge("crp_win_2b", "crp_win_4", "RESULT_ONLY", 6),
    edge("crp_win_2c", "crp_win_4", "RESULT_ONLY", 7),
)
"""The example of SPEC-004 appendix A."""

EVERY_STATUS = dag(
    window("w1", 1, pattern="LINEAR"),
    window("w2f", 2, ["w1"], status="FAILED", tier="UNSPECIFIED", risk="UNSPECIFIED", hmac=""),
    window("w2", 2, ["w1"], risk="CRITICAL", budget=0.0, tier="D"),
    window("w3", 3, ["w2"], pattern="BRANCH", tier="S", strategy="reflexive"),
    window("w3p", 3, ["w2"], pattern="BRANCH", status="PENDING", tier="UNSPECIFIED", risk="UNSPECIFIED", hmac=""),
    status="COMPLETED",
)

AGENTS = dag(
    window("w1", 1),
    window("w2", 2, ["w1"], strategy="fan-in", budget=0.62),
    window("w3", 3, ["w2"], strategy="fan-in", budget=0.62),
    edge("w1", "w2", "RESULT_ONLY", 4),
    edge("w2", "w3", tokens=9),
    agent("w2", "crp_sess_a", "crp_win_a2", 0.62),
    agent("w2", "crp_sess_b", "crp_win_b1"),
    agent("w3", "crp_sess_b", "crp_win_b1"),
)
"""ADR 0170: two agents' sessions merged, the answer of one of them twice."""
