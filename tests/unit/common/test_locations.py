"""How a fact's place is told (ADR 0097, ADR 0110)."""

from services.common.locations import place_of, title_over
from tests.each import each


@each(
    "location, title, over, section",
    [
        ("# Terms of 2026 > ## 1 Losses", "Terms of 2026", "Terms of 2026", "1 Losses"),
        ("# Terms of 2026 > ## 1 Losses", "Terms of 2027", "Terms of 2026", "1 Losses"),
        ("p. 2, # Terms of 2026 > ## 1 Losses", "Motor Terms of 2027", "Terms of 2026", "1 Losses"),
        ("# Terms > ## 1 Losses", "Motor Terms", "Motor Terms", "Terms › 1 Losses"),  # noqa: RUF001
        ("# Part 1 > ## 2 Losses", "Terms of 2027", "Terms of 2027", "Part 1 › 2 Losses"),  # noqa: RUF001
        ("", "Terms of 2027", "Terms of 2027", ""),
        ("line 5", "Terms of 2027", "Terms of 2027", "line 5"),
    ],
)
def test_a_fact_of_another_version_stands_under_its_title(location, title, over, section):
    assert title_over(location, title) == over
    assert place_of(location, over).section == section
