"""What is kept of an analysis, what of it an export holds, and how a replay names a difference (ADR 0043)."""

import copy
import json

import pytest
from crp.ckf.v1 import ckf_pb2
from crp.common.v1 import text_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.cli.commands.replay import replay
from services.cli.console import Output
from services.cli.export_file import ExportedAnalysis, read_export
from services.cli.replaying import Reason, Replay, alterations, compare, cut_short, unrepeatable
from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import InvalidRequestError
from services.common.provenance import report_hash
from services.common.rpc.canonical import message_json
from services.common.settings import Settings
from services.gateway.clients.inputs import ContentMissingError, kept_inputs, request_digest, restored_request

CONTENT = "A secret of the source.\nIts second\u202e line."
PROMPT = (
    "Be brief.\n\n[1]\n    A secret of the source.\n    Its second line.\n"
    "[2] (from the earlier answer)\n    Said before.\n\nWho?"
)
ENTITY = text_pb2.Entity(
    kind=text_pb2.ENTITY_KIND_ORGANISATION, text="source", span=text_pb2.TextSpan(start=16, end=22)
)


def request():
    return pb.AnalyzeRequest(
        session_id="s",
        window_id="w2",
        window_number=2,
        query="Who?",
        prompt=PROMPT,
        response_text="The answer.",
        envelope=envelope_pb2.ContextEnvelope(
            etag="e",
            facts=[
                envelope_pb2.EnvelopeFact(
                    fact_id="f1", content=CONTENT, importance_weight=0.9, entities=[ENTITY], embedding=b"1234"
                ),
                envelope_pb2.EnvelopeFact(
                    fact_id="c1", content="Said before.", carried_from_window_id="w1", transfer_type="FULL_CONTEXT"
                ),
            ],
        ),
        prior_windows=[pb.PriorWindow(window_id="w1", window_number=1, text="Said before.")],
    )


FACTS = {"f1": ckf_pb2.Fact(fact_id="f1", content=CONTENT, entities=[ENTITY])}
ANSWERS = {"w2": "The answer.", "w1": "Said before."}


class TestInputs:
    def test_nothing_of_a_fact_stays(self):
        kept = kept_inputs(request())
        text = json.dumps(message_json(kept))
        for hidden in ("secret", "second", "MTIzNA", "The answer."):
            assert hidden not in text
        assert not kept.request.envelope.facts[0].entities
        assert [line.fact_id for line in kept.prompt][3:5] == ["f1", "f1"]

    def test_the_request_comes_back(self):
        kept = kept_inputs(request())
        again = restored_request(kept, ANSWERS, FACTS)
        assert again.prompt == PROMPT
        assert request_digest(again) == kept.request_sha256 == request_digest(request())

    @pytest.mark.parametrize(
        ("answers", "facts", "kind", "name"),
        [(ANSWERS, {}, "fact", "f1"), ({"w2": "x"}, FACTS, "window", "w1"), ({}, FACTS, "window", "w2")],
    )
    def test_what_is_missing_is_named(self, answers, facts, kind, name):
        with pytest.raises(ContentMissingError) as caught:
            restored_request(kept_inputs(request()), answers, facts)
        assert (caught.value.kind, caught.value.name) == (kind, name)

    def test_another_fact_or_answer_gives_another_digest(self):
        kept = kept_inputs(request())
        other = {"f1": ckf_pb2.Fact(fact_id="f1", content=CONTENT.replace("secret", "Secret"), entities=[ENTITY])}
        assert request_digest(restored_request(kept, ANSWERS, other)) != kept.request_sha256
        changed = ANSWERS | {"w1": "said before."}
        assert request_digest(restored_request(kept, changed, FACTS)) != kept.request_sha256


def report(**changes):
    made = {
        "report_id": "r1",
        "timestamp": "2026-05-25T08:30:00Z",
        "response_content_hash": sha256_hex("The answer."),
        "policy_hash": "p",
        "composite_score": 0.5,
        "models": [{"role": "entailment", "fingerprint": "nli@1"}],
        "claims": [{"claim_id": "c1", "verdict": "SUPPORTED", "attribution": {"raw_similarity": 0.8}}],
        "stages": [],
        "build": {"code_digest": "a" * 64},
    } | changes
    return made | {"report_hash": report_hash(made)}


def analysis(**changes):
    parts = {"window_id": "w2", "window_number": 2, "answer": "The answer.", "report": report(), "inputs": {"a": 1}}
    return ExportedAnalysis(**parts | changes)


def sealed(**changes):
    made = {
        "report_id": "r1",
        "report_hash": report()["report_hash"],
        "inputs_sha256": sha256_hex(canonical_json({"a": 1})),
    }
    return made | changes


class TestAlterations:
    def test_none(self):
        assert alterations(analysis(), sealed()) == ()

    @pytest.mark.parametrize(
        ("changed", "seal", "named"),
        [
            (analysis(answer="The answer!"), sealed(), "response_text"),
            (analysis(inputs={"a": 2}), sealed(), "inputs"),
            (analysis(report=report() | {"composite_score": 0.1}), sealed(), "report "),
            (analysis(report=report(composite_score=0.1)), sealed(), "report_hash"),
            (analysis(), None, "report (no audit event"),
            (analysis(inputs=None), sealed(), "inputs (they were taken out"),
            (analysis(), sealed(inputs_sha256=None), "inputs (the audit"),
        ],
        ids=["answer", "inputs", "report", "report and its hash", "no event", "inputs taken out", "inputs put in"],
    )
    def test_each_is_named(self, changed, seal, named):
        (found,) = alterations(changed, seal)
        assert found.startswith(named)


class TestCompare:
    def test_ids_times_and_build_do_not_count(self):
        again = report(report_id="r2", timestamp="2027-01-01T00:00:00Z", build={"code_digest": "b" * 64})
        found = compare(analysis(), again, ())
        assert (found.result, found.reason, found.fields) == (Replay.SAME, Reason.NONE, ())
        assert found.note == "made by code aaaaaaaaaaaa, replayed by bbbbbbbbbbbb"

    def test_a_verdict_that_differs_is_named(self):
        again = report()
        again["claims"] = copy.deepcopy(again["claims"])
        again["claims"][0]["verdict"] = "UNSUPPORTED"
        found = compare(analysis(), again, ())
        assert (found.result, found.fields) == (Replay.DIFFERS, ("claims[0].verdict",))

    @pytest.mark.parametrize(("by", "expected"), [(1e-6, Replay.WITHIN_MARGIN), (1e-4, Replay.DIFFERS)])
    def test_scores_have_a_margin(self, by, expected):
        found = compare(analysis(), report(composite_score=0.5 + by), ())
        assert (found.result, found.fields) == (expected, ("composite_score",))

    def test_other_weights_are_named_by_role(self):
        again = report(models=[{"role": "entailment", "fingerprint": "nli@2"}])
        found = compare(analysis(), again, ())
        assert (found.result, found.fields) == (Replay.OTHER_WEIGHTS, ("models[entailment]: nli@1, here nli@2",))

    def test_another_policy_is_no_other_result(self):
        found = compare(analysis(), report(policy_hash="q", composite_score=0.9), ())
        assert (found.result, found.reason) == (Replay.NOT_REPLAYABLE, Reason.OTHER_POLICY)

    def test_an_altered_export_never_passes(self):
        found = compare(analysis(), report(), ("response_text",))
        assert (found.result, found.reason) == (Replay.DIFFERS, Reason.EXPORT_ALTERED)

    def test_an_altered_export_is_no_export_that_cannot_be_replayed(self):
        place = ("w2", 2, "r1")
        assert unrepeatable(place, Reason.FACT_ERASED, (), "fact f1").result is Replay.NOT_REPLAYABLE
        found = unrepeatable(place, Reason.DEADLINE_TOO_SHORT, ("report (its report_hash is another)",))
        assert (found.result, found.reason) == (Replay.DIFFERS, Reason.EXPORT_ALTERED)
        assert found.fields == ("report (its report_hash is another)",)

    def test_a_deadline_is_no_result_to_repeat(self):
        assert cut_short(report(stages=[{"reason": "DEADLINE_TOO_SHORT"}]))
        assert not cut_short(report(stages=[{"reason": "FIRST_WINDOW"}]))


class TestExport:
    @pytest.mark.parametrize("line", ["{", "[]", "1", "{}", '{"record":"analysis"}', '{"record":"fact"}', "\x00"])
    def test_a_bad_line_is_named(self, line):
        with pytest.raises(InvalidRequestError, match="line 2"):
            read_export(['{"event_type":"AUDIT_EVENT_TYPE_SESSION_CREATED"}', line])

    @pytest.mark.parametrize(
        "report",
        [
            {"stages": "x"},
            {"stages": ["x"]},
            {"models": [1]},
            {"models": ["x"]},
            {"build": 1},
            {"claims": {"a": 1}},
            {"composite_score": float("nan")},
            {"composite_score": "much"},
        ],
        ids=str,
    )
    def test_a_report_that_is_none_is_named_by_its_line(self, report):
        line = {"record": "analysis", "window_id": "w", "window_number": 1, "response_text": "a", "inputs": None}
        with pytest.raises(InvalidRequestError, match="line 1"):
            read_export([json.dumps(line | {"report": report})])

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "is empty"),
            (b"\x89PNG\r\n\xff", "is no text in UTF-8"),
            (b"Dear all\n", "is not an export"),
            (b'{"activity_id":1,"class_uid":6003}\n', "is an OCSF export"),
        ],
    )
    async def test_a_file_that_holds_no_text_is_no_export(self, tmp_path, content, said):
        path = tmp_path / "export.ndjson"
        path.write_bytes(content)
        with pytest.raises(InvalidRequestError, match=said):
            await replay(Settings(), Output(as_json=True), path)

    def test_a_window_has_one_completed_event(self):
        event = {"event_type": "AUDIT_EVENT_TYPE_DPE_COMPLETED", "window_id": "w", "data": {"report": sealed()}}
        with pytest.raises(InvalidRequestError, match="line 2"):
            read_export([json.dumps(event), json.dumps(event | {"data": {"report": sealed(report_hash="0" * 64)}})])

    def test_an_export_without_content_knows_its_reports(self):
        event = {"event_type": "AUDIT_EVENT_TYPE_DPE_COMPLETED", "window_id": "w", "data": {"report": sealed()}}
        held = read_export([json.dumps(event), ""])
        assert (held.analyses, held.sealed["w"]["report_id"]) == ((), "r1")
