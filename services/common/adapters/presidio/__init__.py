"""Personal data by Presidio's frame, its recognisers and ours, over entities that are already there."""
