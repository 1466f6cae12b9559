"""HTML as a person sees the page (ADR 0106); Markdown and the HTML part of a mail are read by it as well."""

from services.common.documents.html.reading import read_html

__all__ = ["read_html"]
