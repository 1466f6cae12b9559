"""Signals of stored reports are what the reports say: filled by hand as protobuf's own JSON reading fills them."""

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import claim_pb2, finding_pb2, quality_pb2, report_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError

from services.common.rpc.canonical import message_json
from services.dag.report_signals import _KEPT, signals

REPORT = report_pb2.DpeReport(
    report_id="r-1",
    session_id="crp_sess_a",
    risk_level=taxonomy.RISK_LEVEL_HIGH,
    composite_score=0.5,
    composite_level=taxonomy.RISK_LEVEL_MEDIUM,
    claims_total=3,
    grounding_pct=0.25,
    fabrication_count=0,
    gdpr_pii_detected=False,
    distortion_types=[finding_pb2.DISTORTION_TYPE_NUMBER_CHANGED],
    attribution_breakdown={"PARAMETRIC": 2},
    uncovered_sub_queries=["a secret word"],
    claims=[
        claim_pb2.Claim(claim_id="c1", text="a secret word", verdict=claim_pb2.CLAIM_VERDICT_CONTRADICTED),
        claim_pb2.Claim(claim_id="c2", verdict=claim_pb2.CLAIM_VERDICT_SUPPORTED),
    ],
    relevance=quality_pb2.Relevance(status=quality_pb2.RELEVANCE_STATUS_REFUSAL, score=0.75),
)


def test_signals_are_the_reports_own_values_without_a_word_of_it():
    found = signals(message_json(REPORT))
    same = ("risk_level", "composite_score", "composite_level", "claims_total", "grounding_pct", "distortion_types")
    assert [getattr(found, name) for name in same] == [getattr(REPORT, name) for name in same]
    assert dict(found.attribution_breakdown) == {"PARAMETRIC": 2}
    assert (found.relevance.status, found.relevance.score) == (quality_pb2.RELEVANCE_STATUS_REFUSAL, 0.75)
    assert [claim.verdict for claim in found.claims] == [claim_pb2.CLAIM_VERDICT_CONTRADICTED]
    assert "secret" not in str(found)


def _said(field, number):
    """Return a value that is not the field's own default, another one for each field."""
    if field.type == FieldDescriptor.TYPE_ENUM:
        return [value.number for value in field.enum_type.values][-1]
    kinds = {
        FieldDescriptor.TYPE_DOUBLE: number / 64,
        FieldDescriptor.TYPE_UINT32: number,
        FieldDescriptor.TYPE_STRING: field.name,
        FieldDescriptor.TYPE_BOOL: True,
    }
    return kinds[field.type]


def _full(names):
    """Return a report that says something in each of the fields."""
    full = report_pb2.DpeReport()
    for number, name in enumerate(sorted(names), start=1):
        field = full.DESCRIPTOR.fields_by_name[name]
        if field.message_type is not None:
            getattr(full, name)[name] = _said(field.message_type.fields_by_name["value"], number)
        elif field.is_repeated:
            getattr(full, name).append(_said(field, number))
        else:
            setattr(full, name, _said(field, number))
    return full


def test_each_field_that_is_kept_is_told():
    full = _full(_KEPT)
    assert {field.name for field, _ in full.ListFields()} == _KEPT
    full.stages.add(number=3, sub_stage="a", status=taxonomy.STAGE_STATUS_SKIPPED, reason="NO_MODEL")
    full.risk_floors.add(level=taxonomy.RISK_LEVEL_HIGH, reason=report_pb2.RISK_FLOOR_REASON_CONTRADICTED_BY_MODEL)
    assert signals(message_json(full)) == full


def test_zero_that_was_said_and_what_was_not_said_differ():
    found = signals(message_json(REPORT))
    assert found.HasField("fabrication_count")
    assert found.HasField("gdpr_pii_detected")
    assert not found.HasField("contradiction_count")
    assert not found.HasField("entailment_score")


def test_scalars_are_read_as_protobuf_reads_them():
    body = {name: value for name, value in message_json(REPORT).items() if name not in {"claims", "relevance"}}
    plain = ParseDict(body, report_pb2.DpeReport())
    for field in ("session_id", "uncovered_sub_queries"):
        plain.ClearField(field)
    assert signals(body) == plain


@pytest.mark.parametrize(
    "body",
    [
        {"risk_level": 4},
        {"grounding_pct": "NaN"},
        {"grounding_pct": 1},
        {"grounding_pct": None},
        {"claims_total": 3.0},
        {"repetition_level": "REPETITION_LEVEL_SEVERE"},
    ],
)
def test_other_forms_of_a_value_are_read_as_protobuf_reads_them(body):
    assert str(signals(body)) == str(ParseDict(body, report_pb2.DpeReport()))


@pytest.mark.parametrize("value", [{"claims_total": "many"}, {"risk_level": []}, {"claims": [1]}])
def test_what_is_no_report_is_refused(value):
    with pytest.raises((ValueError, TypeError, AttributeError, ParseError)):
        signals(value)


def test_a_level_of_a_later_contract_counts_as_unset():
    assert signals({"risk_level": "RISK_LEVEL_DREADFUL"}).risk_level == taxonomy.RISK_LEVEL_UNSPECIFIED
