"""The tools, one module a family of verbs: parse, call one use case, shape."""
