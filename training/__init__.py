"""From the data files to the encoders: rows, cleaning, training and export. In the checkout alone, never installed."""
