"""Every decision record has its parts, stands in the index, and its worked example says what the rule gives.

The rules are written down here a second time, in a line or two each, so that a record, the code and this file have to
agree before a number may change.
"""

import asyncio
import hashlib
import hmac
import itertools
import json
import math
import re
import tomllib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import rfc8785
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from services.common import merkle
from services.common.adapters.onnx.session import EMBEDDING_WIDTH_STEP
from services.common.adapters.sqlite import claims
from services.common.adapters.triton.grouping import grouped, padded_width
from services.common.build_manifest import BuildManifest, SigningKey, code_digest, sign
from services.common.encoding import base64url
from services.common.errors import ErrorReason
from services.common.keywords import Stemming, keywords
from services.common.ports.sessions import AuditEventRecord
from services.common.regulation import ISO_42001_CONTROLS
from services.dag.exports.ocsf import KINDS, ocsf_event
from services.dag.sink.backoff import pause_s
from services.dpe.deadline import REPORT_SHARE, SHARE_KEPT
from services.dpe.domain.passages import choose
from services.dpe.domain.policy import CONTRADICTION_COST, Amplifiers, Weights
from services.dpe.domain.regulation.eu_ai_act import classify
from services.dpe.domain.regulation.iso_42001 import BY_DISPATCH
from services.dpe.domain.regulation.nist import nist_tier
from services.dpe.domain.regulation.system import AiSystem, Domain
from services.dpe.domain.risk import amplified, level_of
from services.envelope.domain.decomposition import decompose
from services.envelope.domain.quality_gap import quality_gap
from services.envelope.domain.quality_tier import QualityTier, TierSignals
from services.envelope.domain.quality_tier import classify as classify_tier
from training.quantise import int8_along

ROOT = Path(__file__).resolve().parents[3]
ADR = ROOT / "docs" / "adr"
RECORDS = sorted(ADR.glob("[0-9]*.md"))
PARTS = ("## Context", "## Options", "## Decision", "## Consequences", "## Worked example")


def record(number: int) -> str:
    return next(ADR.glob(f"{number:04d}-*.md")).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_record_has_its_parts(path):
    text = path.read_text(encoding="utf-8")
    assert re.match(rf"# {path.name[:4]}\. \S", text)
    assert re.search(r"^Status: (accepted|superseded by \[?ADR)", text, re.MULTILINE)
    assert [part for part in PARTS if not re.search(f"^{part}", text, re.MULTILINE)] == []


def test_index_lists_every_record_with_its_title():
    listed = dict(re.findall(r"\((\d{4}-[\w-]+\.md)\) \| (.+) \|", (ADR / "README.md").read_text(encoding="utf-8")))
    assert listed == {path.name: path.read_text(encoding="utf-8").splitlines()[0][8:] for path in RECORDS}


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def test_0001_names_exactly_the_direct_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = {re.match(r"[A-Za-z0-9-]+", line).group() for line in project["dependencies"]}
    table = re.findall(r"^\| ([a-z][a-z0-9, -]*[a-z0-9]) \|", record(1), re.MULTILINE)
    named: set[str] = set()
    for cell in table:
        first, *others = cell.split(", ")
        stem = first.removesuffix("-health-checking").removesuffix("-api")
        named |= {first} | {stem + other if other.startswith("-") else other for other in others}
    assert named - {"package"} == direct
    assert f"names {len(direct)} direct runtime" in record(1)


def tier(score: float, bounds: Sequence[tuple[float, str]], floor: str) -> str:
    return next((name for bound, name in bounds if score >= bound), floor)


@pytest.mark.parametrize(
    ("coverage", "saturation", "relevance", "row"),
    [
        (0.98, 0.97, 0.96, "| 0.98 | 0.97 | 0.96 | 0.9700 | S | A | | A |"),
        (0.90, 0.62, 0.81, "| 0.90 | 0.62 | 0.81 | 0.7845 | B | C | | C |"),
        (40 / 312, 0.994, 0.71, "| 40/312 | 0.994 | 0.71 | 0.5916 | C | S | coverage below 0.30 | D |"),
    ],
)
def test_0002_tiers(coverage, saturation, relevance, row):
    score = coverage * 0.35 + saturation * 0.30 + relevance * 0.35
    by_score = tier(score, ((0.95, "S"), (0.85, "A"), (0.70, "B"), (0.50, "C")), "D")
    by_saturation = tier(saturation, ((0.99, "S"), (0.95, "A"), (0.85, "B")), "C")
    worst = "D" if coverage < 0.30 else max(by_score, by_saturation, key="SABCD".index)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert (f"{score:.4f}", by_score, by_saturation, worst) == (cells[3], cells[4], cells[5], cells[7])
    assert row in record(2)


@pytest.mark.parametrize(
    "before", [(0.50, 0.35, 0.15, 0.10), (0.40, 0.35, 0.25, 0.10), (0.35, 0.15, 0.15, 0.10), (0.35, 0.15, 0.25, 0.10)]
)
def test_0003_weights(before):
    left = " | ".join(f"{weight:.2f}" for weight in (*before, sum(before)))
    right = ", ".join(f"{weight / sum(before):.6f}" for weight in before)
    assert f"{left} | {right} |" in record(3)


def test_0003_scores():
    fact = (0.80, 0.90, 0.50, 1.00)
    plain = sum(a * b for a, b in zip(fact, (0.50, 0.25, 0.15, 0.10), strict=True))
    strict = sum(a * b for a, b in zip(fact, (0.50, 0.35, 0.15, 0.10), strict=True)) / 1.10
    assert f"scores {plain:.4f} for the plain query" in record(3)
    assert f"and {strict:.4f} in context-strict" in record(3)


SESSION = "crp_sess_0123456789abcdef"


def window(number: int, moment: str, response: str, parent: str) -> list[str]:
    """Return key, response hash, report hash and HMAC of ADR 0004's example window."""
    key = HKDF(SHA256(), 32, SESSION.encode(), b"crp-session-hmac-v3").derive(bytes(range(32)))
    report = {"claims_total": 1, "composite_score": 0.14, "session_id": SESSION, "window_number": number}
    hashes = [sha(response), sha(rfc8785.dumps(report))]
    text = SESSION + str(number) + moment + "".join(hashes) + parent
    return [key.hex(), *hashes, hmac.new(key, text.encode(), "sha256").hexdigest()]


def test_0004_chain():
    first = window(1, "2026-05-24T09:02:00.000000Z", "A motor accident must be reported within 7 days.", "")
    closing = "The claim is decided within 15 working days."
    second = window(2, "2026-05-24T09:03:30.250000Z", closing, first[-1])
    alone = window(2, "2026-05-24T09:03:30.250000Z", closing, "")
    missing = [value for value in (*first, *second, *alone) if value not in record(4)]
    assert missing == []
    assert len(SESSION) + 1 + 27 + 64 + 64 == 181
    assert "The input has 181 characters" in record(4)


def sandwich(facts: Sequence[tuple[str, float]]) -> str:
    critical = [name for name, score in facts if score >= 0.80]
    important = [name for name, score in facts if 0.50 <= score < 0.80]
    supporting = [name for name, score in facts if score < 0.50]
    return " ".join(critical[:1] + critical[1:][-1:] + supporting + important + critical[1:-1])


def test_0005_order():
    facts = [("a", 0.95), ("b", 0.91), ("c", 0.88), ("d", 0.83), ("e", 0.71), ("f", 0.55), ("g", 0.40), ("h", 0.21)]
    for chosen in ("abcdefgh", "aefgh", "efgh"):
        assert f"`{sandwich([fact for fact in facts if fact[0] in chosen])}`" in record(5)


def test_0006_etag():
    assert f"sha256:{sha('fact_a|fact_b|fact_c|3')}" in record(6)


def test_0006_state_hash():
    entry = f"fact_a:{'1' * 64}:2026-05-24T09:00:00.000000Z:ACTIVE"
    assert f"`sha256:{sha(f'{entry}|epoch:3|model:m1')}`" in record(6)


def test_0007_budget():
    cost = {"LOW": "0", "MEDIUM": "0.05", "HIGH": "0.15", "CRITICAL": "0.35"}
    budget = Decimal("1.00")
    rows = re.findall(r"^\| (\d) \| (\w+) \| (\d\.\d\d) \|([^|]*)\|([^|]*)\|$", record(7), re.MULTILINE)
    assert len(rows) == 9
    for _number, risk, after, warning, _other in rows:
        budget -= Decimal(cost[risk])
        expected = (
            "halt"
            if budget <= 0
            else "low, review"
            if budget <= Decimal("0.10")
            else "low"
            if budget < Decimal("0.25")
            else "caution"
            if budget <= Decimal("0.50")
            else ""
        )
        assert (after, warning.strip()) == (f"{budget:.2f}", expected)


def test_0008_limits():
    assert "after 39 windows of the third level" in record(8)
    assert 50 - (1 + 10) == 39


def test_0009_token_form():
    header = base64url(b'{"alg":"HS256","typ":"CRP"}')
    assert f"`{header}`, {len(header)}\ncharacters" in record(9)
    assert (len(base64url(bytes(32))), len(base64url(bytes(450)))) == (43, 600)
    expiry = datetime(2026, 5, 24, 9, 2, tzinfo=UTC) + timedelta(seconds=3600)
    assert f"refused from {expiry:%H:%M:%S} on" in record(9)


def test_0010_cost():
    assert pytest.approx(65.5, abs=0.05) == 32 * 1024 / 500e6 * 1e6
    assert "0.33 ms" in record(10)
    assert pytest.approx(0.33, abs=0.005) == 5 * 65.536e-3


def test_0011_report_hash():
    whole = json.loads(re.search(r"`(\{\"window_number\".*?\}\})`", record(11), re.DOTALL).group(1))
    kept = {
        key: value for key, value in whole.items() if key not in {"hmac", "chain_integrity", "report_hash", "timings"}
    }
    canonical = rfc8785.dumps(kept)
    assert f"`{canonical.decode()}`" in record(11)
    assert f"`{sha(canonical)}`" in record(11)


def test_0012_map():
    points = [(0.0, 0.0), (0.42, 0.60), (0.58, 0.75), (1.0, 1.0)]

    def calibrated(raw: float) -> float:
        (x0, y0), (x1, y1) = next(pair for pair in itertools.pairwise(points) if pair[0][0] <= raw <= pair[1][0])
        return y0 + (raw - x0) / (x1 - x0) * (y1 - y0)

    assert [round(calibrated(raw), 3) for raw in (0.50, 0.58, 0.79)] == [0.675, 0.75, 0.875]
    assert "= 0.675: MIXED" in record(12)


def test_0014_quality():
    assert pytest.approx(0.885) == 0.72 * 0.25 + 0.35 + 0.82 * 0.25 + 0.15
    register = [max(0.0, 1 - difference / limit) for difference, limit in ((0.10, 0.20), (0.06, 0.15), (0.15, 0.10))]
    assert sum([*register, 1.0]) / 4 == pytest.approx(0.525)
    assert pytest.approx(0.883333, abs=1e-6) == (0.25 + 0.80 * 0.35) / 0.60
    assert [value for value in ("0.885", "0.525", "0.883333") if value not in record(14)] == []


def test_0015_attribution():
    assert pytest.approx(0.142857, abs=1e-6) == 1 - 6 / 7
    assert " = 0.142857 in open" in record(15)
    assert f"= {6 / 7:.6f} in open" in record(15)


def test_0017_risk():
    weights = (0.35, 0.25, 0.25, 0.15)
    first = sum(a * b for a, b in zip(weights, (1 - 31 / 34, 0.022, 0.088, 0.0), strict=True))
    second = sum(a * b for a, b in zip(weights, (0.40, 0.10, 0.30, 0.20), strict=True))
    values = (first, first * 1.30 * 1.15, second * 1.30 * 1.25 * 1.15)
    assert [f"{value:.6f}" for value in values] == ["0.058382", "0.087282", "0.504563"]
    assert [f"{value:.6f}" for value in values if f"{value:.6f}" not in record(17)] == []
    assert second == pytest.approx(0.27)


def test_0037_windows():
    text = " ".join(record(37).split())
    assert "(1 ÷ 16 = 0.0625, at most 0.10)" in text
    assert 1 / 16 == 0.0625
    assert "3 ÷ 3 = 0.0" in text
    low = (0.8 * 0.25 + 0.9 * 0.35 + 0.0 * 0.15) / 0.75
    high = (0.8 * 0.25 + 0.9 * 0.35 + 1.0 * 0.15) / 0.75
    assert f"÷ 0.75 = {low:.6f}" in text
    assert f"÷ 0.75 = {high:.6f}" in text


def test_0018_without_entailment():
    value = (0.35 * (1 - 31 / 34) + 0.25 * 0.022) / 0.75
    assert f"÷ 0.75 = {value:.6f}" in record(18)


def test_0019_counts_the_reasons():
    assert f"The enum has {len(ErrorReason)} reasons" in record(19)


def taken(passages: Sequence[tuple[float, float]], least: float) -> list[int]:
    """Return the places of those taken, of (score, share of terms not yet held), best first."""
    if not passages or passages[0][0] < least:
        return []
    floor = max(least, 0.80 * passages[0][0])
    fitting = [(place, score, new) for place, (score, new) in enumerate(passages, start=1) if score >= least]
    return [place for place, score, new in fitting if score >= floor or new >= 0.30]


def test_0020_passages():
    assert f"max(0.30, 0.80 × 0.81) = {max(0.30, 0.80 * 0.81):.3f}" in record(20)  # noqa: RUF001 - as it is printed
    assert taken([(0.81, 1.0), (0.70, 0.0), (0.52, 0.40), (0.45, 0.10), (0.28, 0.9)], 0.30) == [1, 2, 3]
    assert taken([(0.28, 1.0), (0.12, 0.5)], 0.30) == []


def test_0032_windows():
    budget, premise = 512 - 4, 1_200
    width = budget - 40
    count = -(-(premise - width // 4) // (width - width // 4))
    starts = [part * (premise - width) // (count - 1) for part in range(count)]
    assert f"/ 4 = {width // 4}. ⌈(1,200 - 117) / (468 - 117)⌉ = {count} windows" in record(32)
    assert f"begin at {', '.join(map(str, starts[:-1]))} and {starts[-1]}" in record(32)
    rows = ((0.90, 0.08, 0.02), (0.15, 0.55, 0.30), (0.70, 0.25, 0.05))
    entailment, contradiction = min(row[0] for row in rows), max(row[2] for row in rows)
    assert f"neutral 1 - 0.15 - 0.30 = {1 - entailment - contradiction:.2f}" in record(32)


def test_0033_requests():
    lengths = (5, 300, 12, 5, 120, 31)
    groups = grouped([(0,) * length for length in lengths], 8)
    widths = [padded_width(max(map(len, group)), 512) for group in groups]
    assert [[len(item) for item in group] for group in groups] == [[300], [120], [31, 12, 5, 5]]
    assert f"Widths are {widths[0]}, {widths[1]} and {widths[2]}." in record(33)
    positions = sum(width * len(group) for width, group in zip(widths, groups, strict=True))
    assert f"= {positions} positions for\n{sum(lengths)} tokens" in record(33)
    assert f"6 × 300 = {len(lengths) * max(lengths)}." in record(33)  # noqa: RUF001 - as it is printed
    assert f"8 bytes = {16 * 8 * 512 * 2 * 8} bytes" in record(33)


LINES: list[tuple[int, Callable[[], str]]] = [
    (13, lambda: f"cost {4 * 0.25:.1f} ms, that is {4 * 0.25 / 40:.1%}"),
    (16, lambda: f" ÷ 1 = {1 - 0.30:.2f}"),
    (41, lambda: f"4 × 3 ÷ 2 = {4 * 3 // 2}. A rule"),  # noqa: RUF001 - as it is printed
    (41, lambda: f"so that {4 * 3 // 2} - 2 = {4 * 3 // 2 - 2} are asked"),
    (41, lambda: f"so {4 * 3 // 2 - 2} + 2 = {4 * 3 // 2 - 2 + 2} pairs go out"),
    (21, lambda: f"hands {2.000 - 0.350:.3f} s to Analyze"),
    (47, lambda: f"72 ÷ 108 = {72 / 108:.3f} unread, mostly"),
    (47, lambda: f"72 ÷ 168 = {72 / 168:.3f} is unread"),
    (47, lambda: f"0.25 ÷ 0.60 = {0.25 / 0.60:.3f} of the weight"),
]


@pytest.mark.parametrize(("number", "line"), LINES, ids=[f"{number:04d}" for number, _ in LINES])
def test_a_line_of_arithmetic(number, line):
    assert line() in record(number)


def test_0035_spans_of_a_contrast():
    sentence, contrast = (f"It opened in 1950 with {clerks} clerks." for clerks in (40, 90))
    at = contrast.index("90")
    assert sentence.index("40") == at
    assert f'"{contrast}" is unsupported by the passage, span [{at}, {at + 2})' in record(35)
    assert f'"{sentence}" is not, span [{at}, {at + 2}) again' in record(35)


def test_0036_codes():
    columns = np.array([[0.508, 0.254], [-1.27, 0.1], [0.004, 0.004]], dtype=np.float32)
    codes, scale = int8_along(columns, axis=0)
    assert scale[0] == pytest.approx([0.01, 0.002])
    assert codes[:, 0].tolist() == [51, -127, 0]
    assert codes[2].tolist() == [0, 2]
    assert (codes * scale)[:, 0] == pytest.approx([0.51, -1.27, 0.0])


def test_0039_claims_desk():
    system = AiSystem(Domain.GENERAL_INFORMATION, sector="insurance", makes_decisions=True, interacts_with_people=True)
    with_data, without = (classify(system, pii_detected=found) for found in (True, False))
    assert ", ".join(f"{row.token} ({row.eu_class})" for row in with_data.rows) in record(39).replace("\n", " ")
    score = 0.27 * 1.30 * 1.25 * 1.15
    assert f"= {score:.6f}, {level_of(score, degraded=False)}. Tier: class HIGH 3" in record(39)
    assert nist_tier(with_data.eu_class, level_of(score, degraded=False)) == 3
    assert f"1.15 = {0.27 * 1.15:.6f} is {level_of(0.27 * 1.15, degraded=False)}" in record(39)
    assert (without.eu_class, nist_tier(without.eu_class, level_of(0.27 * 1.15, degraded=False))) == ("LIMITED", 2)
    assert set(re.findall(r"^\| (A\.[\d.]+) ", record(39), re.MULTILINE)) == set(BY_DISPATCH)
    assert f"{len(ISO_42001_CONTROLS)} controls" in record(39)
    assert f"other {len(ISO_42001_CONTROLS) - len(BY_DISPATCH)} concern" in record(39)


def test_0040_months_and_specificity():
    def is_month(days: float) -> bool:
        return -2.4375 <= days - 30.4375 <= 1.4 or days == 30

    assert (30 - 30.4375, 32 - 30.4375) == (-0.4375, 1.5625)
    assert (is_month(30), is_month(32)) == (True, False)
    assert f"= {(1 - 0.6**2 * 0.7) * 0.8:.4f}" in record(40)


def test_0042_summary_and_deadline():
    text = record(42).replace("\n", " ")
    stage3, ratio = 1 - (0.30 + 0.20) / 10, 9 / 10
    assert (
        f"÷ 10 = {stage3:.2f}; supported_ratio = 9 ÷ 10 = {ratio:.2f}; fidelity_score {min(stage3, ratio):.2f}" in text
    )
    assert f"supported_ratio 7 ÷ 10 = {7 / 10:.2f}, RESULT_ONLY" in text
    assert f"three fabrications among five claims still give {1 - 3 * 0.30 / 5:.2f}" in text
    spare = 2.05 - 0.05
    assert f"{spare:.2f} × 0.50 = {spare * (1 - 2 * SHARE_KEPT):.2f} s" in text  # noqa: RUF001 - as it is printed
    assert f"1.60 × 0.75 = {(spare - 0.40) * (1 - SHARE_KEPT):.2f} s" in text  # noqa: RUF001 - as it is printed
    assert f"{9_000 * 0.60 / 6_000:.2f} s, over 1.00 × 0.75" in text  # noqa: RUF001 - as it is printed
    left = spare - 0.40 - 0.60 - 0.70 - REPORT_SHARE * 0.10
    assert f"spare 0.30 − 0.50 × 0.10 = {left:.2f} s" in text  # noqa: RUF001 - as it is printed
    assert f"≤ {left:.2f} − 2 × 0.08 = {left - 2 * 0.08:.2f} s" in text  # noqa: RUF001 - as it is printed


def test_0066_fusion():
    rankings, text = ("abc", "cbd"), " ".join(record(66).split())
    fused = {name: sum(1 / (61 + each.index(name)) for each in rankings if name in each) for name in "abcd"}
    assert [f"{fused[name]:.6f}" for name in "cbad"] == re.findall(r"= (0\.\d{6})", text)
    assert f"The order is {', '.join(sorted(fused, key=lambda name: (-fused[name], name)))}" in text


def test_0067_late_interaction():
    query, fact = ((1.0, 0.0), (0.6, 0.8)), ((0.8, 0.6), (0.0, 1.0))
    best = [max(a * c + b * d for c, d in fact) for a, b in query]
    text = " ".join(record(67).split())
    assert f"({best[0]:.2f} + {best[1]:.2f}) ÷ 2 = {sum(best) / 2:.2f}" in text
    size = 179 * 384 * 2
    assert f"179 × 384 × 2 = {size:,} bytes; 64 MiB hold {64 * 1024**2 // size}" in text  # noqa: RUF001 - as printed
    assert f"512 ÷ 8 = {512 // 8}" in text


def test_0082_words_and_third_ranking():
    text = " ".join(record(82).split())
    for written in ("KH-4419: claims were reported", "Reporting a claim"):
        assert f'"{written}" becomes `{" ".join(keywords(written, Stemming.ENGLISH))}`' in text
    hybrid, weight = {"c": 1 / 63 + 1 / 61, "b": 1 / 62 + 1 / 62}, 0.2
    added = {"b": weight / 61, "c": weight / 62}
    assert f"0.2 ÷ 61 = {added['b']:.6f} and 0.2 ÷ 62 = {added['c']:.6f}" in text
    assert f"b has {hybrid['b'] + added['b']:.6f}, c has {hybrid['c'] + added['c']:.6f}" in text
    apart = 2 / 61 - 2 / 62
    assert f"2 ÷ 61 - 2 ÷ 62 = {apart:.6f} apart, ten times" in text
    assert round(apart / (added["b"] - added["c"])) == 10


def test_0043_signature():
    files = {"crp/a.py": "a" * 64, "services/b.py": "b" * 64}
    key = SigningKey(bytes(range(32)))
    signed = sign(BuildManifest(schema_version=1, version="1", files=files, weights_digest="c" * 64), key)
    assert sha(rfc8785.dumps(files)) == code_digest(files)
    for expected in (code_digest(files), key.public_key, sha(bytes.fromhex(key.public_key))[:16]):
        assert f"`{expected}`" in record(43)
    assert signed.signature == "".join(
        re.findall(r"^`([0-9a-f]{64})`\.?$", record(43).split("key id")[1], re.MULTILINE)
    )
    step, rows = 8, 2  # until ADR 0044
    widths = [-(-max(lengths) // step) * step for lengths in ((11,), (17, 40))]
    assert f"goes to the encoder as {rows} rows of {widths[0]} columns" in record(43)
    assert f"together as 2 rows of {widths[1]}." in record(43)


def test_0044_columns():
    text = record(44)
    old = 2 * (-(-11 // 8) * 8)
    assert f"1 row of 11 columns: 11 tokens are computed. Before it was 2 rows of 16 columns, {old}." in text
    assert f"1 row of {-(-11 // EMBEDDING_WIDTH_STEP) * EMBEDDING_WIDTH_STEP}\ncolumns" in text


def test_0038_the_uplift_of_personal_data_is_applied_once():
    base = 0.40
    text = record(38)
    assert f"0.40 \u00d7 1.30 = {base * Amplifiers().gdpr_pii:.2f} is HIGH" in text
    assert level_of(amplified(base, ["gdpr_pii"], Amplifiers()), degraded=False) == "HIGH"
    assert level_of(amplified(base, [], Amplifiers()), degraded=False) == "MEDIUM"
    example = "Maria Keller filed a claim; write to maria.keller@example.org."
    assert (example.index("maria"), example.index("org.") + 3) == (37, 61)


def test_0045_facts_that_a_claim_is_judged_by():
    chosen = choose(range(40), [30], [120] * 40)
    assert len(chosen) == 11
    assert 30 in chosen
    assert len(choose(range(40), [], [5_000] * 40)) == 3
    assert len(choose(range(40), [], [10] * 40)) == 24


def test_0050_summaries_of_two_parents():
    text = record(50).replace("\n", " ")
    share = 1000 // 2
    lengths = [min(response * 25 // 100, share * 30 // 100) for response in (700, 4000)]
    assert f"= min(175, 150) = {lengths[0]}; 150 + 12 = {lengths[0] + 12} is at most" in text
    assert f"0.60 × {share} = {share * 60 // 100}: SUMMARY" in text  # noqa: RUF001 - as it is printed
    assert f"150 + 151 = {lengths[1] + 151} is over {share * 60 // 100}: RESULT_ONLY" in text
    assert f"N = min(175, 300) = {min(700 * 25 // 100, 1000 * 30 // 100)}; 700 + 12 = {700 + 12} is over 600" in text


def test_0051_appendix_a_with_our_budgets():
    text = record(51).replace("\n", " ")
    three = round(0.95 - 0.15, 6)
    assert f"3a B HIGH 0.95 − 0.15 = {three:.2f}" in text  # noqa: RUF001 - as it is printed
    assert (
        f"number 3 + 1 = {max(3, 2, 2) + 1} and starts from min(0.80, 0.95, 1.00) = {min(three, 0.95, 1.0):.2f}" in text
    )
    levels = [["A"], ["A", "A", "B"], ["B"], ["B"]]
    assert ", ".join(max(level) for level in levels) in text


def test_0052_budgets_of_three_agents():
    text = record(52).replace("\n", " ")
    costs = {"MEDIUM": 0.05, "HIGH": 0.15, "CRITICAL": 0.35}
    returned = [
        round(0.85 - sum(costs[risk] for risk in risks), 2)
        for risks in (("HIGH", "MEDIUM"), ("CRITICAL", "HIGH", "MEDIUM"), ("MEDIUM",))
    ]
    assert f"0.05 = {returned[0]:.2f}. B:" in text
    assert f"0.05 = {returned[1]:.2f}. C: MEDIUM: {returned[2]:.2f}" in text
    assert f"min({', '.join(f'{left:.2f}' for left in returned)}) = {min(returned):.2f} starts from" in text


def test_0059_the_better_answer_and_what_of_a_summary_is_carried():
    text = record(59).replace("\n", " ")
    first, second = (("HIGH", 0, 2, 0.50), ("HIGH", 0, 1, 0.47))
    assert second < first
    assert first > ("HIGH", 0, 1, 0.60)
    assert f"1.00 \u2212 0.15 = {1.0 - 0.15:.2f}" in text
    tokens = min(180 * 25 // 100, 120 * 30 // 100)
    kept, left = [], tokens
    for count in (14, 12, 15, 9):
        if count <= left:
            kept.append(count)
            left -= count
    assert f"min(45, 36) = {tokens}" in text
    assert f"14 + 12 = {sum(kept[:2])}, with the third {sum(kept[:2]) + 15}, over {tokens}" in text
    assert f"the fourth fits, {sum(kept)}" in text
    assert f"14 + 12 = {sum(kept[:2])} tokens are carried" in text


def test_0057_ocsf_numbers_signature_and_pauses():
    text = record(57)
    moment = datetime(2026, 5, 24, 9, 2, 0, 123456, tzinfo=UTC)
    data = json.dumps({"node": {"risk_level": "HIGH"}})
    event = AuditEventRecord("s", 0, "e", "DISPATCH_COMPLETED", moment, "w", data, "h")
    mapped = ocsf_event(event, "t", "0")
    numbers = tuple(mapped[name] for name in ("time", "activity_id", "type_uid", "severity_id"))
    assert numbers == (1779613320123, 3, 600303, 4)
    assert "`time` 1779613320123, `activity_id` 3, `type_uid` 600303,\nseverity max(1, 4) = 4" in text
    body, seconds = b'{"n":1}\n', int(moment.timestamp())
    mac = hmac.new(b"0123456789abcdef" * 2, f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    assert f"`t={seconds},v1={mac}`" in text
    assert f"2³ × 0.25 = {0.5 * 2**3 * 0.25} s" in text  # noqa: RUF001 - as it is printed
    assert pause_s(4, 0.5, 60.0, 0.25, None) == 1.0
    assert pause_s(4, 0.5, 60.0, 0.25, 30.0) == 31.0
    assert pause_s(8, 0.5, 60.0, 0.25, None) == 15.0
    for kind, row in KINDS.items():
        if row.severity > 1:
            assert kind in next(line for line in text.splitlines() if line.startswith(f"| {row.severity.value} "))


def test_0053_tree():
    first, second, third = (hashlib.sha256(b"\x00" + data).digest() for data in (b"a", b"b", b"c"))
    root = hashlib.sha256(b"\x01" + hashlib.sha256(b"\x01" + first + second).digest() + third)
    assert f"`{root.hexdigest()}`" in record(53)
    spans = merkle.inclusion_spans(1, 3)
    assert spans == [(0, 1), (2, 3)]
    assert merkle.consistency_spans(2, 3) == [(2, 3)]
    text = record(53).replace("\n", " ")
    wanted = merkle.inclusion_spans(499_999, 1_000_000)
    folded = {place for span in wanted for place in merkle.places(span)}
    assert f"1,000,000 has {(1_000_000).bit_count()} binary ones" in text
    assert f"has {len(wanted)} hashes and is folded from {len(folded)} full subtrees" in text


def test_0054_lengths():
    text = record(54).replace("\n", " ")
    inside = 1 + 32 + len("Yes")
    raw = 4 + 12 + 48 + 12 + inside + 16
    assert f"1 + 32 + 3 = {inside} bytes under the ciphertext, {inside} + 16 = {inside + 16} with its tag" in text
    assert f"= {raw} bytes in all, which base64url writes as {len(base64url(bytes(raw)))} characters" in text
    assert f"has {len(base64url(bytes(raw)))} + 8 = {len(base64url(bytes(raw))) + len('gtseal1.')} characters" in text


def test_0055_counts():
    text = record(55).replace("\n", " ")
    events = 4 + 4 + 2
    assert f"has {events} events" in text
    assert f"events_erased {events}." in text
    assert f"{events} + 1 = {events + 1} events, the log 2 + {events + 1} = {2 + events + 1} leaves" in text
    assert f"an export {2 + events + 1} leaf lines, of which one has a salt" in text


def test_0058_the_end_of_a_trail_and_a_rotation():
    text = record(58)
    key = bytes.fromhex(re.search(r"`([0-9a-f]{64})`", record(4).split("Its HMAC key:")[1]).group(1))
    chained = {mac[:8]: mac for mac in re.findall(r"`([0-9a-f]{64})`", record(4))}
    for events, last in ((7, chained["a579c5de"]), (6, chained["74a53081"])):
        covered = f"crp-trail-v1|4|{events}|{last}"
        assert f"`{hmac.new(key, covered.encode(), hashlib.sha256).hexdigest()}`" in text
        assert f"{len(covered)} characters" in text
    rotated = datetime(2026, 1, 1, 10, 0, 0, tzinfo=UTC)
    told = rotated - timedelta(seconds=300)
    assert f"at {told:%H:%M:%S} writes `signs_from {rotated:%H:%M:%S}`" in text
    assert (
        f"expires at {rotated + timedelta(seconds=3599):%H:%M:%S}, and from {rotated + timedelta(hours=1):%H:%M:%S}"
        in text
    )
    assert f"refused at {told - timedelta(seconds=1):%H:%M:%S} (301 s)" in text
    halves = [256]
    while halves[-1]:
        halves.append(halves[-1] // 2)
    assert f"cut to {halves[1]}, then {', '.join(map(str, halves[2:-1]))} and {halves[-1]}" in text


def test_0063_seconds_of_the_limits():
    text = record(63)
    assert [int(n.replace(",", "")) for n in re.findall(r"(\d[\d,]*) s\b", text.partition("## Worked")[2])] == [
        86_400, 30 * 86_400, 60 * 86_400, 3_600, 24 * 3_600, 86_400, 86_400,
    ]  # fmt: skip


def test_0062_the_specifications_example():
    text = record(62).partition("## Worked")[2]
    query, *sub_queries = re.findall(r"[\"`]([^\"`]{20,})[\"`]", text)[:1] + re.findall(r"`([^`]{10,})`", text)
    assert sub_queries == list(decompose(query))
    assert f"{len(sub_queries)} \u00d7 50 = {50 * len(sub_queries)}" in " ".join(text.split())


def test_0064_a_gap_that_coverage_alone_cannot_close():
    text = " ".join(record(64).partition("## Worked")[2].split())
    tiers = (QualityTier.S, QualityTier.A)
    for included, available, share, relevance, score, tier in (
        (50, 50, 0.50, 0.62, "0.717", QualityTier.C),
        (96, 100, 0.98, 0.55, "0.8225", QualityTier.B),
    ):
        verdict = classify_tier(TierSignals(available, included, share, [relevance] * included))
        assert (f"{verdict.quality_score:.4f}".rstrip("0"), verdict.tier) == (score, tier)
        assert f"= {score}:" in text
    gap = quality_gap(verdict, tiers)
    found = {each.signal.value: each for each in gap.shortfalls}
    assert set(found) == {"QUALITY_SCORE", "COVERAGE_SCORE", "RELEVANCE_MEAN"}
    assert f"0.85 \u2212 0.8225 = {found['QUALITY_SCORE'].shortfall}" in text
    assert f"0.96 + 0.0275 \u00f7 0.35 = {found['COVERAGE_SCORE'].required:.4f}" in text
    assert f"relevance 0.55 + 0.0786 = {found['RELEVANCE_MEAN'].required:.4f}" in text
    assert gap.capping_rules == ()


def test_0065_two_processes_by_turns():
    text = " ".join(record(65).partition("## Worked")[2].split())
    remembering, hits = set(), 0
    for call in range(10):
        process = call % 2
        hits += process in remembering
        remembering.add(process)
    assert f"{hits} of 10 calls are 304" in text


def test_0078_fidelity_with_violated_constraints():
    text = " ".join(record(78).split())
    without, with_both = 1 - (0.30 + 0.20) / 4, 1 - (0.30 + 0.20 + 2 * 0.15) / 4
    assert f"1 − (0.30 + 0.20) ÷ 4 = {without:.3f}" in text  # noqa: RUF001
    assert f"1 − (0.30 + 0.20 + 2 × 0.15) ÷ 4 = {with_both:.3f}" in text  # noqa: RUF001 - as it is printed
    assert f"rises from {1 - without:.3f} to {1 - with_both:.3f}" in text
    assert f"0.25 × {without - with_both:.3f} = {Weights().fidelity * (without - with_both):.5f}" in text  # noqa: RUF001
    assert f"1 − 0.15 ÷ 4 = {1 - CONTRADICTION_COST / 4:.4f}" in text  # noqa: RUF001


def test_0077_combined_state_and_expansion():
    text = record(77)
    own, shared = (f"sha256:{digit * 64}" for digit in "12")
    both = hashlib.sha256(f"{own}|shared:regulations={shared}".encode()).hexdigest()
    assert f"`sha256:{both}`" in text
    counts = {"x": 1, "y": 2, "z": 3}
    thin = [name for name, count in counts.items() if count < 3]
    assert f"10 \u00d7 {len(thin)} = {10 * len(thin)} facts" in " ".join(text.split())
    assert Decimal("0.48") - Decimal("0.10") == Decimal("0.38")


def test_0083_pairs_of_alike_facts():
    text = " ".join(record(83).split())
    pairs = math.comb(500, 2)
    assert f"500 \u00d7 499 \u00f7 2 = {pairs:,} pairs" in text
    assert f"{math.ceil(pairs / 4_096)} comparisons of 4,096 numbers" in text
    assert f"30,000 candidates are {round(math.comb(30_000, 2) / 1e6)} million cosines" in text


async def test_0090_modes_and_the_wait_for_a_lock(tmp_path):
    text = " ".join(record(90).split())
    assert f"0666 & ~0022 = {0o666 & ~0o022:04o}" in text
    assert f"0600 & ~0022 = {0o600 & ~0o022:04o}" in text
    assert (claims.SERVER_WAIT_S, claims.COMMAND_WAIT_S) == (5.0, 3.0)
    assert "(a server 5 s, a command 3 s)" in text
    assert f"at 2.1 s waits until {2.1 + claims.COMMAND_WAIT_S:.1f} s" in text
    first, second = [
        await claims.StoreClaim.take(tmp_path / "sessions.db", exclusive=False, serving=False) for _ in range(2)
    ]
    server = asyncio.create_task(claims.StoreClaim.take(tmp_path / "sessions.db", exclusive=True, serving=True))
    await first.close()
    await asyncio.sleep(0.1)
    assert not server.done()
    await second.close()
    await (await server).close()
