"""Excel workbooks (XLSX)."""

from services.common.documents.xlsx.reading import read_xlsx

__all__ = ["read_xlsx"]
