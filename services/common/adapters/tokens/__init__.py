"""Token counting without downloads: the encodings are inside the process or given by the operator."""
