"""The end of the interpreter while daemon threads are in calls: status 0, nothing on stderr."""

import subprocess
import sys

import pytest

# Code that a daemon thread repeats for ever, on an image and with a number of threads.
WORK = {
    "long": "nf.distance_transform(big, threads=threads)",
    "short": "nf.distance_transform(small, threads=threads)",
    "progress": "nf.distance_transform(big, threads=threads, progress=told)",
    "label": "nf.label(noise, threads=threads)",
    "tables": "nf.components(noise[:100], threads=threads)",
}

SCRIPT = """
import sys, threading, time
import numpy as np, nearfield as nf
small = np.ones((30, 40), bool); small[3, 4] = False
big = np.ones((128, 256, 256), bool); big[0, 0, 0] = False
noise = np.random.default_rng(0).random((800, 100, 100)) < 0.5
threads = {threads}
def told(share):
    return sum(range(200000)) > 0
def work():
    while True:
        {work}
{work}
for _ in range({callers}): threading.Thread(target=work, daemon=True).start()
time.sleep({wait})
"""


def check(work, threads, run, callers=1):
    script = SCRIPT.format(work=WORK[work], threads=threads, wait=0.02 + 0.013 * run, callers=callers)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("run", range(4))
def test_daemon_threads_end_with_python(work, threads, run):
    check(work, threads, run)


def test_many_daemon_threads_end_with_python():
    check("short", 1, 1, callers=8)
    check("progress", 2, 2, callers=4)


JOINED = """
import atexit, threading
stop, threads = threading.Event(), []
# Runs last: after whatever nearfield registers.
atexit.register(lambda: (stop.set(), [each.join() for each in threads]))
import numpy as np, nearfield as nf
image = np.ones((64, 128, 128), bool); image[0, 0, 0] = False
def work():
    while not stop.is_set():
        nf.distance_transform(image)
    print("ended")
threads.append(threading.Thread(target=work, daemon=True))
threads[0].start()
"""


def test_exit_functions_can_wait_for_daemon_threads():
    """Until Python really ends, threads come back from calls with whole answers."""
    done = subprocess.run([sys.executable, "-c", JOINED], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")
