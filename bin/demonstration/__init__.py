"""The demonstration that `bin/demo` plays: a server, a login, and a story told in a transcript."""
