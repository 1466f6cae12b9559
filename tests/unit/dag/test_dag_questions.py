from services.dag.domain.questions import questions


def test_the_question_is_read_from_what_was_kept():
    kept = {"w1": '{"request":{"query":"How long?"}}', "w2": "", "w3": '{"request":{}}'}
    assert questions(kept) == {"w1": "How long?"}
