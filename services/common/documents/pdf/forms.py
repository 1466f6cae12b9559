"""What people have filled in: the fields of a form are drawn into the page, so that they are read where they stand."""

from typing import Any, Final

import pypdfium2.raw as pdfium

_MAX_ANNOTATIONS: Final = 5_000
"""A page with more is read without its fields: no form that people fill in has so many."""


def has_fields(document: Any) -> bool:
    """Say whether a file holds a form with fields of its own kind (AcroForm, ISO 32000-1 section 12.7)."""
    return bool(pdfium.FPDF_GetFormType(document) == pdfium.FORMTYPE_ACRO_FORM)


def load_page(document: Any, index: int, *, fields: bool) -> Any:
    """Return a page, numbered from 0, as PDFium loads it; with ``fields`` what is filled in is a part of it.

    Other annotations are left out, as on pages without fields; hidden fields are not drawn. The caller closes the page.
    """
    page = pdfium.FPDF_LoadPage(document, index)
    if not page or not fields or not _keep_fields_alone(page):
        return page
    done = pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS
    if not done:
        return page
    pdfium.FPDF_ClosePage(page)
    return pdfium.FPDF_LoadPage(document, index)


def _keep_fields_alone(page: Any) -> bool:
    """Take all annotations but fields from a page in memory; say whether fields are left."""
    count = pdfium.FPDFPage_GetAnnotCount(page)
    if not 0 < count <= _MAX_ANNOTATIONS:
        return False
    kept = 0
    for index in range(count - 1, -1, -1):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        field = annotation and pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_WIDGET
        if annotation:
            pdfium.FPDFPage_CloseAnnot(annotation)
        if field:
            kept += 1
        elif not pdfium.FPDFPage_RemoveAnnot(page, index):
            return False
    return kept > 0
