"""The ``groundtrail`` command."""
