"""The page of a report is well-formed, whole in itself, and lets no text be more than text (ADR 0097)."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from services.cli.console import spelled
from services.cli.page import PageMatter, page
from services.cli.told import told_answer
from tests.fakes.reports import TEXT, report

VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = (
    "<script>alert(1)</script>",
    "</mark></p><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}{% for x in y %}",
    '" onload="alert(1)',
    "<!-- --><style>@import url(https://evil.example)</style>",
    "\x1b[2J\u202egnp.exe\u2028",
    "&lt;b&gt; &amp;",
    "javascript:alert(1)",
)
texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8"), min_size=1, max_size=80))
TAGS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "mark", "div", "span", "blockquote", "table",
    "tr", "th", "td", "ul", "li", "code",
}  # fmt: skip


class Reader(HTMLParser):
    """Reads a page strictly: every element that is opened is closed, in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.attributes, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style"} & set(self.open):
            self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    @property
    def text(self):
        return "".join(self.words)


def made(question, why, quote, title, text=TEXT):
    whole = report(why=why, quote=quote, title=title)
    told = told_answer(whole, text)
    return page(PageMatter(whole, told, question, "VALID, 1 of 1 windows recomputed", "2026-01-02 03:04:05"))


@given(texts, texts, texts, texts, texts)
def test_every_text_is_text(question, why, quote, title, answer):
    read = Reader(made(question, why, quote, title, answer))
    assert set(read.seen) <= TAGS
    assert {name for name, _ in read.attributes} <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "title", "scope",
    }  # fmt: skip
    for each in (question, why, quote, title):
        assert " ".join(spelled(each).split()) in " ".join(read.text.split())


def test_it_holds_what_a_file_needs_and_fetches_nothing():
    html = made("How long are files kept?", "10 years in A; the answer says 3 years.", "Kept for 10 years.", "A")
    read = Reader(html)
    for wanted in (
        "How long are files kept?",
        "HIGH 0.50 · 1 of 3 claims contradicted, 1 unsupported · 1 fabrication · chain VALID",
        "10 years in A; the answer says 3 years.",
        "Kept for 10 years.",
        "A › Retention, p. 3",  # noqa: RUF001
        "Left out of the answer (5)",
        "Entailment Scoring: No model.",
        report().report_id,
        "report hash",
        "2026-01-02 03:04:05",
    ):
        assert wanted in read.text
    assert html.count("http") == html.count("http-equiv")
    assert "<script" not in html
    assert ("class", "contradicted") in read.attributes


def test_the_reader_can_fail():
    try:
        Reader("<p><b></p></b>")
    except AssertionError:
        return
    raise RuntimeError
