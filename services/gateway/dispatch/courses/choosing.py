"""Which course a strategy takes."""

from collections.abc import Mapping
from typing import Final

from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.courses.agentic import AgenticCourse
from services.gateway.dispatch.courses.course import Course
from services.gateway.dispatch.courses.hierarchical import HierarchicalCourse
from services.gateway.dispatch.courses.line import Line

_LINE: Final = Line()
_OTHERS: Final[Mapping[DispatchStrategy, Course]] = {
    DispatchStrategy.HIERARCHICAL: HierarchicalCourse(),
    DispatchStrategy.AGENTIC: AgenticCourse(),
}


def course_of(strategy: DispatchStrategy) -> Course:
    """Return the course of a strategy: one window that may be continued, unless it takes several of its own."""
    return _OTHERS.get(strategy, _LINE)
