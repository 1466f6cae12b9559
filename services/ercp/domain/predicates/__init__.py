"""The predicate DSL of ERCP 1.0 §8: read, written, described, and held against what a text asserts (ADR 0070).

``parse_predicate`` reads the JSON form and ``parse_text`` the text form; ``extract_facts`` reads a text and
``evaluate`` says whether it obeys. ``services.ercp.domain.solver`` says whether predicates can hold together.
"""

from services.ercp.domain.predicates.agreement import Clash, contradictions
from services.ercp.domain.predicates.canonical import Canonical, canonical
from services.ercp.domain.predicates.describing import describe
from services.ercp.domain.predicates.evaluation import evaluate, evaluate_plainly
from services.ercp.domain.predicates.extraction import extract_facts
from services.ercp.domain.predicates.facts import (
    Comparison,
    Condition,
    Evaluation,
    Holds,
    Interval,
    Justification,
    OrderFact,
    Span,
    Statement,
    Subject,
    TextFacts,
    ValueFact,
)
from services.ercp.domain.predicates.model import (
    Amount,
    Bounds,
    Hour,
    Moment,
    Operand,
    Options,
    Path,
    Predicate,
    PredicateError,
    PredicateName,
    Range,
    Steps,
    Text,
    Tolerance,
    YearDay,
)
from services.ercp.domain.predicates.parsing import ARGUMENTS, parse_predicate, parse_text
from services.ercp.domain.predicates.printing import to_document, to_text
from services.ercp.domain.predicates.requiring import demand_of, path_of, requirement_in
from services.ercp.domain.predicates.units import warm
from services.ercp.domain.predicates.values import ABOUT_TOLERANCE

__all__ = [
    "ABOUT_TOLERANCE",
    "ARGUMENTS",
    "Amount",
    "Bounds",
    "Canonical",
    "Clash",
    "Comparison",
    "Condition",
    "Evaluation",
    "Holds",
    "Hour",
    "Interval",
    "Justification",
    "Moment",
    "Operand",
    "Options",
    "OrderFact",
    "Path",
    "Predicate",
    "PredicateError",
    "PredicateName",
    "Range",
    "Span",
    "Statement",
    "Steps",
    "Subject",
    "Text",
    "TextFacts",
    "Tolerance",
    "ValueFact",
    "YearDay",
    "canonical",
    "contradictions",
    "demand_of",
    "describe",
    "evaluate",
    "evaluate_plainly",
    "extract_facts",
    "parse_predicate",
    "parse_text",
    "path_of",
    "requirement_in",
    "to_document",
    "to_text",
    "warm",
]
