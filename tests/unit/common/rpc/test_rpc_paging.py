import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.errors import ErrorReason, InvalidRequestError
from services.common.rpc.paging import decode_page, encode_page_token


@pytest.mark.parametrize(
    ("asked", "limit"), [(0, 50), (1, 1), (1000, 1000), (1001, 1000)], ids=["default", "one", "most", "clamped"]
)
def test_page_size(asked, limit):
    page = decode_page(asked, "", ("ListFacts", "t"))
    assert (page.after, page.limit) == ("", limit)


def test_negative_page_size_is_a_violation():
    with pytest.raises(InvalidRequestError) as caught:
        decode_page(-1, "", ())
    assert caught.value.violations[0].field == "page_size"


@given(st.text(min_size=1, max_size=80), st.lists(st.text(max_size=10), max_size=4))
def test_token_round_trip(after, bound):
    token = encode_page_token(after, tuple(bound))
    assert decode_page(0, token, tuple(bound)).after == after


@pytest.mark.parametrize(
    "bound",
    [("ListFacts", "t2"), ("ListFacts",), ("ListFactst1",), ("ListFact", "st1"), ("t1", "ListFacts")],
    ids=["other tenant", "fewer", "joined", "shifted", "swapped"],
)
def test_token_is_bound_to_the_parameters(bound):
    token = encode_page_token("f1", ("ListFacts", "t1"))
    with pytest.raises(InvalidRequestError) as caught:
        decode_page(0, token, bound)
    assert caught.value.reason is ErrorReason.PAGE_TOKEN_INVALID


@pytest.mark.parametrize("token", ["x", "!!", "AAAA", encode_page_token("", ("a",)), "Ä", "A" * 22])
def test_foreign_tokens_are_refused(token):
    with pytest.raises(InvalidRequestError) as caught:
        decode_page(0, token, ("a",))
    assert caught.value.reason is ErrorReason.PAGE_TOKEN_INVALID
