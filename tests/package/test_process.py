"""What a process does around the calls: threads, forks, signals, progress."""

import concurrent.futures
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import nearfield as nf


def image_of(seed, shape=(60, 70, 80)):
    return np.random.default_rng(seed).random(shape) < 0.95


def checksum(seed):
    return float(nf.distance_transform(image_of(seed), dtype="float64").sum())


def test_threads_calling_at_once():
    alone = [checksum(seed) for seed in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(checksum, list(range(8)) * 4)) == alone * 4


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads_gives_the_same(threads):
    image = image_of(3)
    for one, other in zip(
        nf.distance_transform(image, return_indices=True),
        nf.distance_transform(image, return_indices=True, threads=threads),
    ):
        np.testing.assert_array_equal(one, other)


def test_other_threads_run_meanwhile():
    """The interpreter's lock is released: a counting thread goes on while a call computes."""
    big = np.ones((220, 400, 400), bool)
    big[0, 0, 0] = False
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    nf.distance_transform(big, threads=1)
    during = counted[0] - before
    stop.set()
    thread.join()
    assert during >= 5


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(method):
    """A child works whether or not the parent used its threads before."""
    wanted = [checksum(seed) for seed in range(3)]
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert list(pool.map(checksum, range(3), timeout=120)) == wanted


INTERRUPTED = """
import os, signal, threading, time
import numpy as np, nearfield as nf
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with the signal ignored
image = np.ones((256, 512, 512), bool)
image[0, 0, 0] = False
out = np.empty(image.shape, np.float32)
started = threading.Event()
def interrupt():
    started.wait()
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    while True:
        out.fill(-1)
        started.set()
        nf.distance_transform(image, spacing=(1.1, 0.9, 0.7), threads=1, out=out)  # a second, not a tenth
except KeyboardInterrupt:
    print("stopped" if (out == -1).any() else "went on to the end")
"""


def test_interrupt_stops_a_long_call():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=True, env=os.environ
    )
    assert done.stdout == "stopped\n"


def test_progress_callable():
    big = image_of(0, (128, 256, 256))
    told = []
    nf.distance_transform(big, progress=told.append)
    assert told[-1] == 1.0 and told == sorted(told) and all(0 <= share <= 1 for share in told)


def test_progress_cancels():
    big = np.ones((256, 512, 512), bool)
    big[0, 0, 0] = False
    with pytest.raises(nf.Cancelled, match="not complete"):
        nf.distance_transform(big, threads=1, progress=lambda share: share >= 1)


@pytest.mark.parametrize("answer", [False, np.False_, np.array(False)])
def test_progress_cancels_by_any_false(answer):
    with pytest.raises(nf.Cancelled):
        nf.distance_transform(image_of(0), progress=lambda share: answer)


@pytest.mark.parametrize("answer", [None, 0, 0.0, "", np.True_, np.array(True), True])
def test_progress_goes_on_with_anything_else(answer):
    nf.distance_transform(image_of(0), progress=lambda share: answer)


NO_THREADS = """
import resource, signal, threading, time
import numpy as np, nearfield as nf
image = np.random.default_rng(0).integers(0, 20, (600, 300, 300), np.uint8) > 0
wanted = nf.distance_transform(image, threads=1)
out, shares = np.empty_like(wanted), []
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + (128 << 20)  # less than a stack, more than the call's workspace
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    threading.Thread(target=int).start()
    raise SystemExit("the limit does not keep threads from being started")
except RuntimeError:
    pass
nf.distance_transform(image, threads=1, out=out, progress=shares.append)
assert (out == wanted).all() and len(shares) > 1 and shares == sorted(shares) and shares[-1] == 1
try:
    nf.distance_transform(image, threads=1, out=out, progress=lambda share: False)
except nf.Cancelled:
    pass
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.1)
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    while True:
        nf.distance_transform(image, threads=1, out=out)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_without_a_thread_to_watch_it():
    """Where none can be started the calling thread works, tells the share done, and hears signals."""
    stacks = ["sh", "-c", 'ulimit -s 262144; exec "$@"', "sh"]
    done = subprocess.run([*stacks, sys.executable, "-c", NO_THREADS], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_a_long_call_of_few_cells_listens():
    """It is done in the calling thread, which hears signals whenever it tells the share done."""
    shares, seeds = [], np.zeros((250, 250), bool)
    seeds[0, 0] = True
    nf.voronoi(seeds, method="brushfire:parallel", threads=1, progress=shares.append)
    assert len(shares) > 2 and shares == sorted(shares)


def test_progress_that_raises():
    with pytest.raises(ZeroDivisionError):
        nf.distance_transform(image_of(0), progress=lambda share: 1 / 0)


def test_progress_bar_is_for_terminals(capfd):
    nf.distance_transform(image_of(0), progress=True)
    assert capfd.readouterr() == ("", "")


def test_bar_draws(monkeypatch, capsys):
    from nearfield._progress import Bar

    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    bar = Bar()
    now[0] = 1.0
    bar(0.5)
    assert "50%" in capsys.readouterr().err
    bar(1.0)
    assert capsys.readouterr().err == "\r\x1b[K"


def test_signals_stay_python_s():
    """No handler of ours is left behind."""
    before = signal.getsignal(signal.SIGINT)
    nf.distance_transform(image_of(1))
    assert signal.getsignal(signal.SIGINT) is before


SECOND_INTERPRETER = """
try:
    import _interpreters as interpreters    # since 3.13
except ImportError:
    import _xxsubinterpreters as interpreters
second = interpreters.create()
run = getattr(interpreters, "run_string")
try:
    print(run(second, "import nearfield"))
except Exception as problem:
    print(problem)
import nearfield as nf
print(nf.distance_transform([0, 1]).tolist())
"""


def test_second_interpreters_are_refused_in_a_sentence():
    done = subprocess.run([sys.executable, "-c", SECOND_INTERPRETER], capture_output=True, text=True, timeout=120)
    assert "main interpreter only" in done.stdout or "does not support loading in subinterpreters" in done.stdout
    assert done.returncode == 0 and done.stdout.endswith("[0.0, 1.0]\n")


_NEEDS_AND_FREE = r"out of memory: the call with its outputs needs ([\d.]+) MiB, free are ([\d.]+) MiB"


def test_memory_for_all_outputs_is_asked_for_together():
    lines = """
import resource, numpy as np, nearfield as nf
image = np.ones((4000, 4000), np.uint8)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (150 << 20),) * 2)
assert nf.distance_transform(image, threads=16)[0, 0] == np.inf
for images, indices in ((image, True), ([image] * 3, False)):
    try:
        nf.distance_transform(images, return_indices=indices)
    except MemoryError as problem:
        print(problem)
"""
    told = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == 2
    for each in told:
        needs, free = map(float, re.match(_NEEDS_AND_FREE, each).groups())
        assert needs > 184 and 50 < free < 150  # the C library takes 64 MiB for a thread that allocates, if one does
