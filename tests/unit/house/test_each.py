"""A table of cases in one test says which case failed, and is for functions that take nothing else."""

import pytest

from tests.each import each


def test_every_case_is_called_with_its_values():
    seen = []

    @each(("first", "second"), [(1, 2), pytest.param(3, 4, id="named")])
    def table(first, second):
        seen.append((first, second))

    table()
    assert seen == [(1, 2), (3, 4)]


async def test_coroutines_are_awaited():
    seen = []

    @each("one", "ab")
    async def table(one):
        seen.append(one)

    await table()
    assert seen == ["a", "b"]


@pytest.mark.parametrize(
    ("cases", "ids", "note"),
    [
        ([0, 7], None, "in case 7"),
        ([0, 7], ["none", "seven"], "in case seven"),
        ([0, 7], lambda value: f"<{value}>", "in case <7>"),
        ([0, pytest.param(7, id="own")], None, "in case own"),
    ],
)
def test_a_failure_names_its_case(cases, ids, note):
    @each("number", cases, ids=ids)
    def table(number):
        assert number == 0

    with pytest.raises(AssertionError) as failed:
        table()
    assert failed.value.__notes__ == [note]


def test_marks_stay_and_arguments_are_none_of_pytests():
    @each("number", [1])
    @pytest.mark.slow
    def table(number):
        """Say something."""

    assert [mark.name for mark in vars(table)["pytestmark"]] == ["slow"]
    assert (table.__name__, table.__doc__) == ("table", "Say something.")
    table()


@pytest.mark.parametrize("cases", [[], [pytest.param(1, marks=pytest.mark.slow)]], ids=["none", "a mark"])
def test_what_is_no_table_is_refused(cases):
    with pytest.raises((TypeError, ValueError)):
        each("number", cases)


def test_a_fixture_is_refused():
    def table(number, tmp_path):
        assert number < len(tmp_path.parts)

    with pytest.raises(TypeError, match="parametrize"):
        each("number", [1])(table)


def test_one_name_for_each_case_or_none():
    with pytest.raises(ValueError, match="zip"):
        each("number", [1, 2], ids=["one"])
