"""Changes of the raw file, by whoever may write to it: found and named, and nobody else hurt (ADR 0101).

A fixed tenth in ``make test``, all of them in ``make test-faults``. ``python -m tools.judge_raw_changes`` writes the
table of docs/how-to/verify-a-chain.md from the same changes.
"""

import asyncio

import pytest

from tests.fakes.raw.catalogue import AWAIT_THE_LOG, CHANGES, GROUPS, by_kind, catalogue, nobody_found, of_group
from tests.fakes.raw.judging import judge
from tests.fakes.raw.template import build
from tests.patience import patient
from tests.tenth import tenth


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return asyncio.run(build(tmp_path_factory.mktemp("raw")))


@pytest.fixture(scope="module")
def changes(template):
    return catalogue(template)


def test_there_are_enough_changes_each_of_its_own_name_and_in_one_group(changes):
    assert len(changes) >= CHANGES
    assert len({(change.kind, change.name) for change in changes}) == len(changes)
    assert sorted(c.name for group in GROUPS for c in of_group(changes, group)) == sorted(c.name for c in changes)
    assert set(by_kind(changes)) >= AWAIT_THE_LOG
    assert {change.restarts for change in changes} == {change.written_after for change in changes} == {True, False}


@pytest.mark.tenth
@pytest.mark.slow
@pytest.mark.timeout(patient(240))
@pytest.mark.parametrize("group", GROUPS)
async def test_what_alters_a_record_is_found_and_named_and_hurts_nobody_else(template, changes, tmp_path, group):
    wrong = []
    chosen = tenth(
        f"raw changes: {group}", of_group(changes, group), name=lambda change: f"{change.kind}/{change.name}"
    )
    for change in chosen:
        outcome = await judge(template, change, tmp_path)
        wrong += [*outcome.wrong, *filter(None, [nobody_found(change, outcome)])]
    assert wrong == []
