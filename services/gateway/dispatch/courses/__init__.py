"""What takes a dispatch from its query to its result: one window and what the gateway adds to it, or several."""

from services.gateway.dispatch.courses.choosing import course_of
from services.gateway.dispatch.courses.course import Course, Windows

__all__ = ["Course", "Windows", "course_of"]
