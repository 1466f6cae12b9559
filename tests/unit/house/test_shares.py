"""Which cases of what is long a run takes (tests/tenth.py)."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests import tenth


class Item:
    def __init__(self, nodeid, kwargs):
        self.nodeid = nodeid
        self.kwargs = kwargs

    def get_closest_marker(self, kind):
        return SimpleNamespace(kwargs=self.kwargs) if kind == "tenth" else None


def item(nodeid: str, **kwargs: Any) -> Any:
    return Item(nodeid, kwargs)


@pytest.fixture(autouse=True)
def _sampled(monkeypatch):
    monkeypatch.setattr(tenth, "WHOLE", False)
    monkeypatch.setattr(tenth, "counts", {})


def test_a_mark_says_its_share():
    usual = [item(f"a.py::usual[{number}]") for number in range(1_000)]
    fewer = [item(f"a.py::fewer[{number}]", share=40) for number in range(1_000)]
    left_out = set(map(id, tenth.tenth_of_tests([*usual, *fewer])))
    taken = [sum(id(one) not in left_out for one in some) for some in (usual, fewer)]
    assert 60 < taken[0] < 140
    assert 10 < taken[1] < 45
    assert tenth.counts["a.py::fewer"] == (taken[1], 1_000)


def test_at_least_one_case_is_taken_and_none_is_left_out_of_the_whole(monkeypatch):
    cases = [item(f"a.py::few[{number}]", share=500) for number in range(3)]
    assert len(tenth.tenth_of_tests(cases)) == 2
    monkeypatch.setattr(tenth, "WHOLE", True)
    assert tenth.tenth_of_tests(cases) == []
