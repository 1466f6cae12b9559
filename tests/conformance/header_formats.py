"""The form of each response header: CRP-SPEC-002's table, SPEC-003 §10, SPEC-004 §14, SPEC-005 §9.4, §10.4, §11.6.

The order is the table's; a response may leave headers out but must not change their order.
"""

import re

FRACTION = r"(?:0(?:\.\d+)?|1(?:\.0+)?)"
INTEGER = r"\d+"
DIGEST = r"sha256:[0-9a-f]{64}"
LEVEL = r"(?:LOW|MEDIUM|HIGH|CRITICAL)"
SESSION = r"crp_sess_[A-Za-z0-9]{16,32}"
CONTINUATION = r"crp_cont_[A-Za-z0-9]{16,32}"
TRAIL = r"crp_trail_[A-Za-z0-9]{16,32}"
WINDOW = r"crp_win_[A-Za-z0-9]+"
TIERS = r"(?:[SABCD]|\[[SABCD](?:,[SABCD])*\])"  # SPEC-004 appendix A: brackets denote parallel windows
NUMBERED_TIERS = rf"{TIERS}(?:,{TIERS})*"
TOKEN = r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}"
SLUGS = r"[a-z0-9-]+(?:,[a-z0-9-]+)*"
DURATION = r"P(?=[\dT])(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?"

FORMATS = {
    "CRP-Context-Quality-Tier": "[SABCD]",
    "CRP-Context-Window": r"\d+/\d+",
    "CRP-Context-Saturation": FRACTION,
    "CRP-Context-Facts-Used": r"\d+/\d+",
    "CRP-Context-Tokens-Used": INTEGER,
    "CRP-Context-Strategy": "push|pull|reflexive|agentic|hierarchical|batch|streaming|fan-out|fan-in",
    "CRP-Context-Session-Id": SESSION,
    "CRP-Context-ETag": DIGEST,
    "CRP-Context-Cache-Status": r"(?:HIT|MISS|PARTIAL)(?:; reason=[a-z0-9-]+)?",
    "CRP-Context-Continuation-Id": CONTINUATION,
    "CRP-Context-Protocol-Version": r"3\.0\.0",
    "CRP-Safety-Hallucination-Risk": LEVEL,
    "CRP-Safety-Hallucination-Score": FRACTION,
    "CRP-Safety-Attribution": "CONTEXT_GROUNDED|PARAMETRIC|MIXED|UNVERIFIABLE",
    "CRP-Safety-Grounding-Pct": FRACTION,
    "CRP-Safety-Fabrications": INTEGER,
    "CRP-Safety-Entailment-Score": FRACTION,
    "CRP-Safety-Distortions": r"\d+(?:; types=[A-Z_]+(?:,[A-Z_]+)*)?",
    "CRP-Safety-Contradictions": r"\d+(?:; scope=(?:intra|cross-window|both))?",
    "CRP-Safety-Omissions": r"CRITICAL:\d+, HIGH:\d+, MEDIUM:\d+",
    "CRP-Safety-Oversight-Mode": "auto|human-review|halt|log-only",
    "CRP-Safety-Policy-Applied": r"[ -~]+",
    "CRP-Safety-Policy-Violation": r"[ -~]+",
    "CRP-Safety-Retry-After": r"\d+|oversight-required|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "CRP-Safety-Nonce": r"base64:[A-Za-z0-9+/]+=*",
    "CRP-Safety-Budget-Warning": "caution|low",
    "CRP-Provenance-HMAC": DIGEST,
    "CRP-Provenance-Window-HMAC": DIGEST,
    "CRP-Provenance-DAG-Root": f"dag:{WINDOW}",
    "CRP-Provenance-Chain-Integrity": "VALID|BROKEN|PARTIAL|UNVERIFIED|TRUNCATED",
    "CRP-Provenance-Claim-Count": INTEGER,
    "CRP-Provenance-Attribution-Score": FRACTION,
    "CRP-Provenance-Fidelity-Score": FRACTION,
    "CRP-Provenance-Report-URI": r"(?:https?://|/)\S+",
    "CRP-Provenance-Window-Lineage": rf"{WINDOW}(?: -> (?:{WINDOW}|\[[^\]]+\]))*",
    "CRP-Compliance-EU-AI-Act": "UNACCEPTABLE|HIGH|LIMITED|MINIMAL|UNKNOWN",
    "CRP-Compliance-NIST-Tier": "TIER-[1-4]",
    "CRP-Compliance-GDPR-PII": "true|false",
    "CRP-Compliance-ISO-42001": r"A\.[\d.]+(?:, A\.[\d.]+)*",
    "CRP-Compliance-Audit-Trail-Id": TRAIL,
    "CRP-Compliance-Audit-Trail-URI": r"(?:https?://|/)\S+",
    "CRP-Compliance-Data-Residency": r"[A-Za-z0-9-]+",
    "CRP-Compliance-Controls-Met": r"\d+/\d+",
    "CRP-Agent-Phase": "ANALYZE|PLAN|GENERATE|EVALUATE|CRITIQUE|REFINE|INTEGRATE|COMPLETE",
    "CRP-Agent-Loop-Depth": INTEGER,
    "CRP-Agent-Tool-Calls": INTEGER,
    "CRP-Agent-Revision-Round": r"\d+/\d+",
    "CRP-Agent-Safety-Budget": FRACTION,
    "CRP-Agent-Session-Parent": SESSION,
    "CRP-Memory-Tier-Hit": "[0-3]",
    "CRP-Memory-CKF-Hits": INTEGER,
    "CRP-Memory-CKF-Community": r"[a-z0-9-]+",
    "CRP-Memory-Knowledge-Age": DURATION,
    "CRP-Quality-Repetition": f"NONE|(?:MINOR|MODERATE|SIGNIFICANT|SEVERE); overlap={FRACTION}",
    "CRP-Quality-Completeness": rf"[A-Z]+; sub-queries=\d+/\d+(?:; uncovered={SLUGS})?",
    "CRP-Quality-Flow": rf"{FRACTION}(?:; remediation=[a-z-]+)?",
    "CRP-Quality-Relevance": rf"(?:RELEVANT|PARTIAL|BESIDE_THE_QUESTION); score={FRACTION}|REFUSAL"
    r"|NOT_ASSESSED; reason=[A-Z_]+",
    "CRP-Quality-Score": FRACTION,
    "CRP-Set-Session": rf"token={TOKEN}; Path=/; Max-Age=\d+; Signed; SameSite=Strict; Window=\d+;"
    rf" QualityHistory={NUMBERED_TIERS}",
}


def faults(headers: dict[str, str]) -> list[str]:
    """Return what is wrong with these headers: unknown names, malformed values, wrong order."""
    found = [f"{name}: unknown header" for name in headers if name not in FORMATS]
    known = [name for name in headers if name in FORMATS]
    found += [
        f"{name}: {headers[name][:80]!r}" for name in known if not re.fullmatch(FORMATS[name], headers[name], re.ASCII)
    ]
    order = list(FORMATS)
    if known != sorted(known, key=order.index):
        found.append(f"order: {known}")
    return found
