"""Changes of the raw file, by whoever may write to it: found and named, and nobody else hurt (ADR 0101).

A fixed tenth in ``make test``, all of them in ``make test-faults``. ``python -m tools.judge_raw_changes`` writes the
table of docs/how-to/verify-a-chain.md from the same changes.
"""

import asyncio

import pytest

from tests.fakes.raw.catalogue import CHANGES, GROUPS, catalogue, nobody_found, of_group
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
    assert {change.restarts for change in changes} == {change.written_after for change in changes} == {True, False}


async def wrong_of(group, template, changes, folder):
    """Make the changes of a group, a tenth of them or all, and return what is not as it shall be."""
    wrong = []
    chosen = tenth(
        f"raw changes: {group}",
        of_group(changes, group),
        name=lambda change: f"{change.kind}/{change.name}",
        share=120,
    )
    for change in chosen:
        outcome = await judge(template, change, folder)
        wrong += [*outcome.wrong, *filter(None, [nobody_found(change, outcome)])]
    return wrong


# What alters a record is found and named, and hurts nobody else.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(patient(240))]


@pytest.mark.tenth
async def test_single_values(template, changes, tmp_path):
    assert await wrong_of("values", template, changes, tmp_path) == []


@pytest.mark.tenth
async def test_whole_rows(template, changes, tmp_path):
    assert await wrong_of("rows", template, changes, tmp_path) == []


@pytest.mark.tenth
async def test_ends_of_trails_sessions_and_the_log(template, changes, tmp_path):
    assert await wrong_of("ends", template, changes, tmp_path) == []


@pytest.mark.tenth
async def test_older_copies(template, changes, tmp_path):
    assert await wrong_of("copies", template, changes, tmp_path) == []


@pytest.mark.tenth
async def test_pages_and_the_file(template, changes, tmp_path):
    assert await wrong_of("pages", template, changes, tmp_path) == []
