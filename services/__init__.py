"""Groundtrail's services, and what they share."""
