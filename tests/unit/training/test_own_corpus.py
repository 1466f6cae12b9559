"""The corpus of our own as rows: what is held back is never learnt from, and spans are those of the claims."""

from training.own_corpus import own_rows


def test_what_is_held_back_is_apart_by_passage():
    learnt, held_back = own_rows(), own_rows(held_back=True)
    assert len(learnt) + len(held_back) == 2_706
    assert 0.08 < len(held_back) / 2_706 < 0.2
    assert not {row.premise for row in learnt} & {row.premise for row in held_back}


def test_spans_lie_in_the_claims_that_are_not_supported():
    for row in own_rows():
        assert (row.spans == ()) is row.supported
        for start, end in row.spans or ():
            assert 0 <= start < end <= len(row.claim)
            assert row.claim[start:end].strip()
