"""The exceptions that Python itself has no name for."""


class Cancelled(RuntimeError):
    """The progress callback returned ``False``: the work was stopped and the outputs are not complete."""
