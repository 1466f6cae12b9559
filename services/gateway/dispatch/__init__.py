"""From an admitted query to a committed answer: attempts, windows, strategies, results."""
