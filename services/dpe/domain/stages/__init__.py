"""The stages of the pipeline, one file each (SPEC-005 §2)."""
