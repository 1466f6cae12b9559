"""Pure rules of the gateway: headers, prompts, policies, outcomes and the extractive answerer."""
