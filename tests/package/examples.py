"""How many random examples a test draws: the number at the test, in exploration 20 times that."""

import os

from hypothesis import settings

TIMES = 20 if os.environ.get("NEARFIELD_HYPOTHESIS") == "explore" else 1


def examples(number):
    return settings(max_examples=number * TIMES)
