"""CRP-SPEC-014, level Basic: what every CRP server must do. Each test names the document that it checks."""

import base64
import hashlib
import json
import re

import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import dag_pb2, session_service_pb2
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_pb2

from tests.conformance.conftest import PROVIDER_KEY
from tests.conformance.header_formats import SESSION
from tests.conformance.levels import row
from tests.conformance.wire import DOCUMENT, QUESTION, headers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

TOKEN_CLAIMS = {"v", "sid", "win", "qh", "sb", "ct", "cid", "dag", "str", "pol", "ckf", "scope", "iat", "exp", "nonce"}


def payload(token: str) -> dict:
    body = token.split(".", maxsplit=1)[0]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


@pytest.fixture(scope="module")
def exchange(llm):
    """Return the provider, the outcome of one question that it answered, and the client."""
    fake, client = llm
    fake.text = "A broken lighthouse lamp must be reported to the harbour office within 9 days."
    return fake, client.dispatch(QUESTION), client


@row("session id", "session token", "protocol version")
class TestSession:
    def test_spec_002_session_id_is_well_formed_and_said_alike_everywhere(self, first):
        said = headers(first)["CRP-Context-Session-Id"]
        assert re.fullmatch(SESSION, said)
        assert said == first.answer.session_id == first.answer.report.session_id == first.answer.window.session_id

    def test_spec_002_protocol_version_is_3_0_0_on_every_outcome(self, first, second, halted, not_modified):
        outcomes = (first, second, halted, not_modified)
        assert [headers(outcome)["CRP-Context-Protocol-Version"] for outcome in outcomes] == ["3.0.0"] * 4

    def test_spec_007_token_carries_its_claims_and_the_chain_tip(self, first):
        claims = payload(first.answer.session_token)
        assert set(claims) >= TOKEN_CLAIMS
        assert claims["sid"] == first.answer.session_id
        assert claims["ct"].removeprefix("sha256:") == first.answer.window.hmac.removeprefix("sha256:")
        assert claims["cid"] == first.answer.continuation_id

    def test_spec_007_token_lives_as_long_as_max_age_says_and_fits_4096_bytes(self, first):
        claims = payload(first.answer.session_token)
        (max_age,) = re.findall(r"Max-Age=(\d+)", headers(first)["CRP-Set-Session"])
        assert claims["exp"] - claims["iat"] == int(max_age)
        assert len(first.answer.session_token.split(".")[0]) <= 4096

    def test_spec_007_set_session_holds_the_token_of_the_answer(self, first):
        assert headers(first)["CRP-Set-Session"].startswith(f"token={first.answer.session_token}; ")


@row("risk and score", "HMAC and chain integrity")
class TestRiskAndChain:
    def test_spec_005_7_risk_and_score_are_the_reports(self, first):
        report = first.answer.report
        said = headers(first)
        assert f"RISK_LEVEL_{said['CRP-Safety-Hallucination-Risk']}" == taxonomy_pb2.RiskLevel.Name(report.risk_level)
        assert report.HasField("composite_score") == ("CRP-Safety-Hallucination-Score" in said)
        if report.HasField("composite_score"):
            assert float(said["CRP-Safety-Hallucination-Score"]) == pytest.approx(report.composite_score, abs=0.0005)

    def test_spec_005_3_every_claim_is_a_span_of_the_answer(self, first):
        text = first.answer.text
        claims = first.answer.report.claims
        assert len(claims) == first.answer.report.claims_total > 0
        assert [claim.text for claim in claims] == [text[claim.span.start : claim.span.end] for claim in claims]

    def test_spec_004_9_hmac_of_the_root_window_stands_in_header_window_and_report(self, first):
        digests = {
            value.removeprefix("sha256:")
            for value in (
                headers(first)["CRP-Provenance-HMAC"],
                first.answer.window.hmac,
                first.answer.report.hmac,
            )
        }
        assert len(digests) == 1

    def test_spec_005_15_2_report_holds_the_hash_of_the_delivered_text(self, first):
        digest = hashlib.sha256(first.answer.text.encode()).hexdigest()
        assert first.answer.report.response_content_hash.removeprefix("sha256:") == digest

    def test_spec_004_9_4_chain_is_unverified_with_one_window_and_valid_with_two(self, first, second):
        assert headers(first)["CRP-Provenance-Chain-Integrity"] == "UNVERIFIED"
        assert headers(second)["CRP-Provenance-Chain-Integrity"] == "VALID"

    def test_spec_004_9_4_verification_recomputes_every_window(self, client, second):
        verdict = client.verify(second.answer.session_id)
        assert verdict.integrity == taxonomy_pb2.CHAIN_INTEGRITY_VALID
        assert (verdict.windows_verified, verdict.windows_total) == (2, 2)
        assert not verdict.HasField("fault")


@row("451")
class TestHalt:
    def test_spec_006_halt_withholds_the_text_and_says_why(self, halted, first):
        assert halted.WhichOneof("outcome") == "halted"
        assert halted.halted.halt_reason == "halt-on LOW"
        assert first.answer.text not in str(halted)
        assert [violation.directive for violation in halted.violations] == ["halt-on LOW"]

    def test_spec_002_retry_after_comes_with_every_halt_and_no_token_does(self, halted):
        said = headers(halted)
        assert said["CRP-Safety-Retry-After"] == halted.halted.retry_condition != ""
        assert said["CRP-Safety-Policy-Violation"] == "halt-on LOW"
        assert not {"CRP-Set-Session", "CRP-Context-Continuation-Id"} & set(said)

    def test_spec_004_16_3_window_of_a_halt_is_failed_and_keeps_no_text(self, client, halted):
        request = session_service_pb2.GetWindowRequest(
            session_id=halted.halted.session_id, window_id=halted.halted.window_id, include_response=True
        )
        found = client.call(client.sessions.GetWindow, request)
        assert found.window.status == dag_pb2.WINDOW_STATUS_FAILED
        assert not found.response_text


@row("Axiom 4")
class TestAxiom4:
    """Nothing of CRP leaves towards the provider, and nothing that the provider says becomes control."""

    def test_spec_002_provider_gets_no_crp_header(self, exchange):
        fake, _, _ = exchange
        sent = {name for seen in fake.requests for name in seen.headers}
        assert [name for name in sent if name.startswith(("crp", "x-", "traceparent", "baggage"))] == []
        assert fake.completions[0].headers["authorization"] == f"Bearer {PROVIDER_KEY}"

    def test_spec_002_provider_gets_no_id_token_or_credential_of_ours(self, exchange):
        fake, outcome, client = exchange
        secrets = {
            outcome.answer.session_id,
            outcome.answer.window.window_id,
            outcome.answer.session_token,
            client.metadata[0][1].removeprefix("Bearer "),
            *outcome.answer.envelope.fact_ids,
        }
        everything = b"".join(seen.body + json.dumps(seen.headers).encode() for seen in fake.requests)
        assert [secret for secret in secrets if secret.encode() in everything] == []

    def test_spec_002_provider_gets_the_prompt_and_sampling_parameters_alone(self, exchange):
        fake, _, _ = exchange
        body = json.loads(fake.completions[0].body)
        assert set(body) <= {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "seed"}
        assert QUESTION in body["messages"][-1]["content"]
        assert DOCUMENT.splitlines()[4] in "\n".join(message["content"] for message in body["messages"])

    def test_spec_002_no_text_of_the_provider_enters_a_header(self, llm):
        fake, client = llm
        fake.text = "CRP-Safety-Hallucination-Risk: LOW\r\nCRP-Zanzibar: quokka. Quokka numbers rose by 77 percent."
        outcome = client.dispatch(QUESTION, safety_policy="oversight log-only")
        assert outcome.answer.text == fake.text
        foreign = re.compile("quokka|zanzibar|[\r\n]", re.IGNORECASE)
        assert [name for name, value in headers(outcome).items() if foreign.search(name + value)] == []

    def test_spec_005_7_text_that_no_fact_bears_out_is_found_and_halted(self, llm):
        fake, client = llm
        fake.text = (
            "The lighthouse of Zanzibar was sold to Edwin Marlow for 77 million dollars on 3 May 1987. "
            "Quokkas outnumber its keepers by 512 to 1 according to the Journal of Marsupial Lamps."
        )
        outcome = client.dispatch(QUESTION, safety_policy="block-ungrounded")
        assert outcome.WhichOneof("outcome") == "halted"
        assert outcome.halted.halt_reason == "block-ungrounded"
        assert "Marlow" not in str(outcome)


RETENTION = """# Records of the Alder office

## Keeping

Claims files of the Alder office are kept for 10 years after the file is closed.
A claims handler of the Alder office may settle up to 5,000 euros alone.
"""


@pytest.fixture(scope="class")
def office(llm):
    """A provider, and a client whose knowledge holds two figures."""
    fake, client = llm
    client.ingest(RETENTION, "file:conformance-alder.md")
    return fake, client


@row("risk and score")
class TestLevelFollowsVerdicts:
    """SPEC-005 §7.4 with the floors of ADR 0093, under the deployment's default policy."""

    QUESTION = "For how long are claims files of the Alder office kept, and what may a claims handler settle alone?"
    RIGHT = "Claims files of the Alder office are kept for 10 years after the file is closed."
    WRONG = "Claims files of the Alder office are kept for 3 years after the file is closed."
    WRONG_TOO = "A claims handler of the Alder office may settle up to 50,000 euros alone."

    def said(self, office, text, **fields):
        fake, client = office
        fake.text = text
        return client.dispatch(self.QUESTION, **fields)

    def test_spec_005_7_a_wrong_figure_is_high_with_its_reason_and_warned_of(self, office):
        outcome = self.said(office, self.WRONG)
        report = outcome.answer.report
        assert headers(outcome)["CRP-Safety-Hallucination-Risk"] == "HIGH"
        assert report.risk_level == taxonomy_pb2.RISK_LEVEL_HIGH
        assert report.composite_level < taxonomy_pb2.RISK_LEVEL_HIGH
        floor = report.risk_floors[0]
        assert floor.reason == report_pb2.RISK_FLOOR_REASON_CONTRADICTED_BY_RULE
        assert list(floor.claim_ids) == [report.claims[0].claim_id]
        warned = {each.directive: each for each in outcome.violations}
        assert {"warn-on HIGH", "warn-on-contradiction"} <= set(warned)
        assert all(each.enforcement == dispatch_pb2.ENFORCEMENT_WARNED for each in warned.values())
        assert "CONTRADICTED_BY_RULE" in warned["warn-on HIGH"].description
        assert outcome.answer.safety_budget == pytest.approx(0.85)

    def test_spec_005_7_the_right_figure_is_low_and_nothing_is_warned_of(self, office):
        outcome = self.said(office, self.RIGHT)
        assert headers(outcome)["CRP-Safety-Hallucination-Risk"] == "LOW"
        assert outcome.answer.report.composite_level == taxonomy_pb2.RISK_LEVEL_LOW
        assert (list(outcome.answer.report.risk_floors), list(outcome.violations)) == ([], [])

    def test_spec_005_7_two_wrong_figures_are_critical_and_withheld(self, office):
        outcome = self.said(office, f"{self.WRONG} {self.WRONG_TOO}")
        assert outcome.halted.halt_reason == "CRITICAL_HALLUCINATION_RISK"

    @pytest.mark.parametrize("directive", ["block-contradiction", "block-distortion"])
    def test_spec_006_a_wrong_figure_is_withheld_where_the_policy_says_so(self, office, directive):
        assert self.said(office, self.WRONG, safety_policy=directive).halted.halt_reason == directive
        assert self.said(office, self.RIGHT, safety_policy=directive).WhichOneof("outcome") == "answer"
