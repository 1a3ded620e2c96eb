"""The published way to number components, to study beside `label`."""

from __future__ import annotations

from typing import Any, NamedTuple

from nearfield import _core
from nearfield._call import target
from nearfield._dispatch import workplace_of
from nearfield._label_request import Criterion, LabelRequest, Norm, label_request
from nearfield._label_run import label_slot
from nearfield._request import count_of, flag_of, said, threads_of
from nearfield._workplace import Slot, Workplace, keywords_named


class PropagationReport(NamedTuple):
    """Report on one run."""

    rounds: int
    """Number of rounds, including the last one, in which nothing changed."""
    link_steps: int
    """Number of doublings of the links' reach."""
    components: int
    seconds_links: float
    seconds_rounds: float


def label_by_propagation(
    image: Any,
    *,
    connectivity: int = 1,
    criterion: Criterion = "nonzero",
    background: float | None = 0,
    norm: Norm = "maximum",
    channels: bool = False,
    links: bool = True,
    neighbours: bool = True,
    masters: bool = True,
    hooked: bool = False,
    gather_length: int = 64,
    most_rounds: int | None = None,
    dtype: Any = None,
    out: Any = None,
    device: str | None = None,
    threads: int | None = None,
) -> tuple[Any, PropagationReport]:
    """Finds the labels of `label` by propagation along links, and reports how many rounds that took.

    Parameters
    ----------
    image : array of 1 to 3 axes, and channels
        As in `label`, with fewer than 2**31 - 1 cells.
    connectivity, criterion, background, norm, channels, dtype, out, threads
        As in `label`.
    links : bool
        Inspect the far end of the links in every direction as well as the neighbours.
    neighbours : bool
        Inspect the neighbours. Without them, cells in the middle of a link can be left out.
    masters : bool
        Take over the current label of the cell that the own label addresses.
    hooked : bool
        Write a better label into that cell as well: winding components take far fewer rounds.
    gather_length : int
        Longest link, in cells.
    most_rounds : int, optional
        Raise a ValueError, without labels, if these rounds are not enough. None or 0 sets no limit.
    device : {'cpu', 'cuda', 'cuda:N'}, optional
        Must be where `image` is.

    Returns
    -------
    labels : array
        The labels, the same as those of `label`.
    report : PropagationReport
        The report. A call on a GPU waits for it.

    References
    ----------
    Ziegler, Rasmusson, talk on connected components on the GPU, GPU Technology Conference, San Jose, 2010.

    Examples
    --------
    >>> import nearfield as nf
    >>> labels, report = nf.label_by_propagation([[1, 1, 0, 1], [0, 0, 1, 0]])
    >>> labels
    array([[1, 1, 0, 2],
           [0, 0, 3, 0]], dtype=int32)
    >>> report.rounds
    2
    """
    work = workplace_of("image", image)
    check_device(device, work)
    request = label_request(
        len(work.shape),
        connectivity=connectivity,
        criterion=criterion,
        background=background,
        norm=norm,
        channels=channels,
    )
    slot = label_slot(work, request, dtype, out)
    steps = _core.PropagationOptions(
        flag_of("links", links),
        flag_of("neighbours", neighbours),
        flag_of("masters", masters),
        flag_of("hooked", hooked),
        min(count_of("gather_length", gather_length, 1), 2**31 - 1),
        0 if most_rounds is None else count_of("most_rounds", most_rounds, 0),
    )
    report = propagate(work, request, slot, steps, threads)
    return work.hand_out(slot), report


def propagate(
    work: Workplace, request: LabelRequest, slot: Slot, steps: _core.PropagationOptions, threads: int | None
) -> PropagationReport:
    place = _core.Place(*work.place, threads_of(threads))
    with keywords_named(work.name, slot):
        said = _core.label_by_propagation(work.described(), slot.described, request.options, steps, place)
    work.finish()
    return PropagationReport(**said)


def check_device(device: str | None, work: Workplace) -> None:
    if target(device, work.place, work.name) != work.place.ordinal:
        raise ValueError(
            f"device is {said(device)}, and propagation runs where {work.name} is, on {work.place}; leave it out"
        )


def usual_steps() -> _core.PropagationOptions:
    return _core.PropagationOptions(True, True, True, False, 64, 0)


def label_as_published(
    image: Any,
    keywords: dict[str, Any],
    return_num: bool,
    dtype: Any,
    out: Any,
    device: str | None,
    threads: int | None,
) -> Any:
    """Labels as `label` with ``method='propagation'``."""
    work = workplace_of("image", image)
    request = label_request(len(work.shape), **keywords)
    slot = label_slot(work, request, dtype, out)
    check_device(device, work)
    report = propagate(work, request, slot, usual_steps(), threads)
    labels = work.hand_out(slot)
    return (labels, report.components) if return_num else labels
