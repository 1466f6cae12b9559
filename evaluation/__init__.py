"""How good the product is: labelled sets, measures and pages of figures. In the checkout alone, never installed."""
