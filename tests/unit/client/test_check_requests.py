"""What is not of the kind that a check asks for is refused by name, and never dropped."""

from pathlib import Path
from typing import Any

import groundtrail
import pytest
from groundtrail.requests import check_request


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((5, ["x"]), "answer: must be a text, not int"),
        (("x", ["y"], 7), "question: must be a text, not int"),
        (("x", "y"), "facts: must be a list, not str"),
        (("x", 5), "facts: must be a list, not int"),
        (("x", ["y", {"content": "z"}]), "facts[1]: must be a text, a Fact, a Document or a Path, not dict"),
        (("x", ["\ud800"]), "facts[0]: must be Unicode text; it holds half of a surrogate pair"),
        (("x", ["y"], "", "z"), "earlier_answers: must be a list, not str"),
        (("x", ["y"], "", [None]), "earlier_answers[0]: must be a text, not NoneType"),
    ],
)
def test_another_kind_is_refused_by_name(given: Any, told: str) -> None:
    with pytest.raises(groundtrail.GroundtrailError) as caught:
        check_request(*given)
    assert (caught.value.reason, str(caught.value)) == ("INVALID_FIELD", told)


def test_the_function_refuses_before_any_model_is_opened() -> None:
    with pytest.raises(groundtrail.GroundtrailError) as caught:
        groundtrail.check(5, ["x"])  # type: ignore[arg-type]  # what is tested
    assert caught.value.reason == "INVALID_FIELD"


def test_every_kind_of_source_is_taken(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(b"The fee is 5 euros.")
    facts = ("a", groundtrail.Fact("b", "t"), groundtrail.Document("c.md", b"c"), page)
    request = check_request("x", facts, "q", iter(["e"]))
    assert [(one.content, one.title) for one in request.facts] == [("a", ""), ("b", "t")]
    assert [(one.name, one.content) for one in request.documents] == [
        ("c.md", b"c"),
        ("page.md", b"The fee is 5 euros."),
    ]
    assert list(request.earlier_answers) == ["e"]
