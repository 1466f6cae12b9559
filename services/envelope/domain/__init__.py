"""Pure decisions: chunking and versions on the way in, select, rank and pack on the way out."""
