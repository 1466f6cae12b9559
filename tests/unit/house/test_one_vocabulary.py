"""What crp/common/v1/taxonomy.proto declares is declared once in the code: in services/common/taxonomy.py."""

import ast
from collections.abc import Iterator
from pathlib import Path

from crp.common.v1 import taxonomy_pb2

from services.common import taxonomy

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / "services/common/taxonomy.py"
WORDS = {
    name: frozenset(
        value.name.removeprefix(enum.values[0].name.removesuffix("UNSPECIFIED")) for value in enum.values[1:]
    )
    for name, enum in taxonomy_pb2.DESCRIPTOR.enum_types_by_name.items()
}
SHARED = {
    name for name, word in vars(taxonomy).items() if isinstance(word, type) and word.__module__ == taxonomy.__name__
}
OF_THEIR_OWN = {"ContradictionSeverity": "how grave a contradiction is (SPEC-005 §5.4), an enum of crp.dpe.v1"}
"""Enums that only look like a shared one, each with what it is."""
_SEQUENCES = ast.Tuple | ast.List | ast.Set


def _strings(nodes: list[ast.expr]) -> frozenset[str]:
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return frozenset(text.upper().replace("-", "_") for text in texts) if len(texts) == len(nodes) else frozenset()


def declarations(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and word list of each class that declares a shared enum, and of each literal that lists one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            if node.name in SHARED:
                yield node.lineno, node.name
            values = [item.value for item in node.body if isinstance(item, ast.Assign)]
            if values and node.name not in OF_THEIR_OWN:
                yield from ((node.lineno, name) for name, words in WORDS.items() if _strings(values) == words)
        elif isinstance(node, _SEQUENCES):
            yield from ((node.lineno, name) for name, words in WORDS.items() if _strings(node.elts) == words)


def test_every_shared_word_is_declared_once():
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{line} {name}"
        for path in sorted((ROOT / "services").rglob("*.py"))
        if path != HOME
        for line, name in declarations(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_the_home_of_the_words_declares_all_of_them():
    assert {name for _, name in declarations(ast.parse(HOME.read_text(encoding="utf-8")))} >= set(WORDS)


def test_a_second_declaration_is_seen_in_each_of_its_forms():
    forms = (
        'class Level(StrEnum):\n    LOW = "low"\n    MEDIUM = "medium"\n    HIGH = "high"\n    CRITICAL = "critical"\n',
        'TIERS = ("S", "A", "B", "C", "D")\n',
        'MODES = ["context-strict", "context-preferred", "open"]\n',
        "class StageStatus:\n    pass\n",
    )
    assert [[name for _, name in declarations(ast.parse(form))] for form in forms] == [
        ["RiskLevel"], ["QualityTier"], ["GroundingMode"], ["StageStatus"],
    ]  # fmt: skip
