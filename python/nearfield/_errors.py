"""Exceptions for which Python has no name."""


class Cancelled(RuntimeError):
    """The progress callback returned ``False``: the work stopped, and the outputs are incomplete."""
