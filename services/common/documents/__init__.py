"""Reading documents: bytes of a known media type to blocks (``document``), blocks to facts (``facts``).

``reading.read_document`` is the way in; a package or module for each format. Nothing is imported here: the parsers take
their time and memory in processes that read documents, and the model alone is for all.
"""
