"""Whatever valid object of ERCP's document goes in with further keys comes back with them (ERCP 1.0 §10, ADR 0079)."""

import json
import uuid

import pytest
from ercp.v1 import ercp_pb2, ercp_service_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.message_json import json_of
from services.common.rpc.validation import Violations
from services.ercp import convert, unknown_fields
from services.gateway.doors.http import ercp_schemas as schemas
from services.gateway.doors.http.json_bodies import message_of, read_form
from tests.tenth import examples

FORMS = {
    "RunRequest": schemas.RunRequest,
    "GenerateRequest": schemas.GenerateRequest,
    "VerifyRequest": schemas.VerifyRequest,
    "ExtractConstraintsRequest": schemas.ExtractConstraintsRequest,
    "StabilizeRequest": schemas.StabilizeRequest,
    "MutateRequest": schemas.MutateRequest,
}
NAMES = {
    field.name
    for file in (ercp_pb2, ercp_service_pb2)
    for message in file.DESCRIPTOR.message_types_by_name.values()
    for field in message.fields
} - {"extensions"}
TEXT = st.text(max_size=12)
NUMBER = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
UNKNOWN = st.dictionaries(TEXT.filter(lambda name: name not in NAMES) | st.just("extensions"), JSON, max_size=3)
FREE = st.dictionaries(TEXT, JSON, max_size=3)


def newer(**known):
    """An object with its known fields, present or not, and others."""
    return st.builds(lambda given, more: more | given, st.fixed_dictionaries({}, optional=known), UNKNOWN)


def needs(strategy, **known):
    return st.builds(lambda given, more: given | more, strategy, st.fixed_dictionaries(known))


FRACTION = st.floats(0, 1)
PROBLEM = needs(newer(id=TEXT, metadata=FREE), description=TEXT.map("Why? {}".format))
PREDICATE = newer(predicate_name=TEXT, args=FREE)
CONSTRAINT = needs(
    newer(
        constraint_id=st.uuids(version=4).map(str),
        priority=st.sampled_from(["high", "medium", "low"]),
        nl_text=TEXT,
        source=newer(detected_by=st.text(min_size=1, max_size=9), error_id=TEXT),
        confidence=FRACTION,
        immutable=st.booleans(),
    ),
    type=st.sampled_from(["predicate", "style", "factual", "temporal", "custom"]),
    predicate=PREDICATE,
)
EVIDENCE = newer(source=TEXT, score=FRACTION, excerpt=TEXT)
ERROR = needs(
    newer(error_id=TEXT, excerpt=TEXT, confidence=FRACTION, evidence=st.lists(EVIDENCE, max_size=2)),
    type=st.sampled_from(["contradiction", "ambiguity", "syntax_error"]),
)
PASSAGES = st.lists(needs(newer(source=TEXT), text=TEXT), max_size=2)
CONSTRAINTS = st.lists(CONSTRAINT, max_size=2)
CONFIG = newer(max_iterations=st.integers(1, 200), deterministic=st.booleans(), verify_threshold=FRACTION)
BODIES = {
    "RunRequest": needs(newer(config=CONFIG, constraints=CONSTRAINTS, retrieval_context=PASSAGES), problem=PROBLEM),
    "GenerateRequest": needs(newer(constraints=CONSTRAINTS, gen_config=newer(seed=st.integers(0, 9))), problem=PROBLEM),
    "VerifyRequest": needs(
        newer(constraints=CONSTRAINTS, verify_config=newer(run_fact_check=st.booleans()), retrieval_context=PASSAGES),
        reasoning_text=TEXT,
    ),
    "ExtractConstraintsRequest": needs(
        newer(extract_config=newer(max_constraints_per_error=st.integers(1, 10))), errors=st.lists(ERROR, max_size=2)
    ),
    "StabilizeRequest": needs(newer(threshold=FRACTION), reasoning_prev=TEXT, reasoning_curr=TEXT),
    "MutateRequest": needs(
        newer(mutation_config=FREE, constraints=CONSTRAINTS), problem=PROBLEM, mutation_strategy=st.just("reframe")
    ),
}


def within(given_, returned):
    """Whether everything of a JSON value stands in another; numbers by value, so that 1.0 is 1."""
    if isinstance(given_, dict):
        return all(name in returned and within(part, returned[name]) for name, part in given_.items())
    if isinstance(given_, list):
        return len(given_) == len(returned) and all(map(within, given_, returned))
    return given_ == returned and isinstance(given_, bool) == isinstance(returned, bool)


def read(name, body):
    """The message that the service gets over the wire for a body."""
    kind = getattr(ercp_service_pb2, name)
    message = message_of(read_form(json.dumps(body).encode(), FORMS[name]), kind)
    return kind.FromString(message.SerializeToString())


@pytest.mark.parametrize("name", BODIES)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_a_request_arrives_with_every_key_and_is_no_violation(name, data):
    body = data.draw(BODIES[name])
    message = read(name, body)
    assert within(body, json_of(message))
    found = Violations()
    unknown_fields.check(found, message)
    found.raise_if_any()


@settings(max_examples=examples(100), deadline=None)
@given(problem=PROBLEM, constraints=st.lists(CONSTRAINT, min_size=1, max_size=2))
def test_a_problem_and_constraints_come_back_from_the_service_with_every_key(problem, constraints):
    message = read("MutateRequest", {"problem": problem, "constraints": constraints, "mutation_strategy": "relax"})
    assert within(problem, json_of(convert.problem_message(convert.problem(message.problem))))
    records = convert.constraints(message.constraints, str(uuid.uuid4()))
    for given_, record in zip(constraints, records, strict=True):
        assert within(given_, json_of(convert.constraint_message(record)))


@settings(max_examples=examples(60), deadline=None)
@given(body=BODIES["RunRequest"])
def test_every_unknown_key_is_found_at_its_object(body):
    found = {each.place: each.fields for each in unknown_fields.unknown_fields(read("RunRequest", body))}
    expected = {"problem": set(body["problem"]) - {"id", "description", "metadata"}}
    expected["request"] = set(body) - {"problem", "config", "constraints", "retrieval_context"}
    assert {place: set(found.get(place, {})) for place in expected} == expected


def test_the_forms_know_the_fields_that_the_contract_has():
    """Else a known field would be kept as an unknown one."""
    for name, form in FORMS.items():
        pairs = [(form, getattr(ercp_service_pb2, name).DESCRIPTOR)]
        assert set(form.model_fields) == {field.name for field in pairs[0][1].fields} - {"extensions", "request_id"}
    for form in (schemas.Problem, schemas.Constraint, schemas.Predicate, schemas.ConstraintSource, schemas.Error,
                 schemas.Evidence):  # fmt: skip
        fields = getattr(ercp_pb2, form.__name__).DESCRIPTOR.fields_by_name
        assert set(form.model_fields) == set(fields) - {"extensions"}
    for form in (schemas.RunConfig, schemas.GenConfig, schemas.VerifyConfig, schemas.ExtractConfig,
                 schemas.RetrievalPassage):  # fmt: skip
        fields = getattr(ercp_service_pb2, form.__name__).DESCRIPTOR.fields_by_name
        assert set(form.model_fields) == set(fields) - {"extensions"}
