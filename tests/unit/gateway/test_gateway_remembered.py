"""Requests that a proxy shows before their answers: by tenant, bounded, for a few minutes."""

from groundtrail.grounds import Grounds, GroundText

from services.gateway.doors.http.remembered import RememberedGrounds


class Time:
    now = 0.0

    def __call__(self):
        return self.now


def grounds(text="x"):
    return Grounds("q", (GroundText("t", text),))


def test_what_is_kept_is_found_again_and_again_and_the_latest_counts():
    memory = RememberedGrounds()
    assert memory.keep("a", "1", grounds("old"))
    assert memory.keep("a", "1", grounds("new"))
    assert memory.found("a", "1") == memory.found("a", "1") == grounds("new")


def test_another_tenant_finds_nothing():
    memory = RememberedGrounds()
    memory.keep("a", "1", grounds())
    assert memory.found("b", "1") is None


def test_it_is_forgotten_after_its_time():
    clock = Time()
    memory = RememberedGrounds(ttl_s=10, now=clock)
    memory.keep("a", "1", grounds())
    clock.now = 10.1
    assert memory.found("a", "1") is None
    memory.keep("a", "2", grounds())
    assert list(memory._kept) == [("a", "2")]


def test_the_oldest_go_when_there_is_no_room():
    memory = RememberedGrounds(most_bytes=3_000)
    for number in range(10):
        assert memory.keep("a", str(number), grounds("y" * 100))
    assert memory.found("a", "0") is None
    assert memory.found("a", "9") is not None
    assert memory._size <= 3_000


def test_what_is_larger_than_all_is_not_kept_and_takes_nothing_away():
    memory = RememberedGrounds(most_bytes=3_000)
    memory.keep("a", "1", grounds())
    assert not memory.keep("a", "2", grounds("y" * 1_000))
    assert memory.found("a", "1") is not None
