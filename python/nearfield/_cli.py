"""The command line, for the script `nearfield` and `python -m nearfield`: the package carries the program itself.

`distance`, `voronoi` and `label` of files of Zarr, or with ``--memory``, are computed here, out of core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from nearfield import _core, _kernels

VERBS = {"distance": "distance_transform", "voronoi": "voronoi", "label": "label"}
BORDERS = ("open", "closed", "periodic")
TYPES = ("uint16", "int32", "uint32", "int64", "uint64")


def main() -> None:
    if is_out_of_core(sys.argv[1:]):
        sys.exit(run(sys.argv[1:]))
    program = Path(__file__).parent / "bin" / ("nearfield.exe" if os.name == "nt" else "nearfield")
    if not program.is_file():
        sys.exit("nearfield: this installation has no command line; it was built with NEARFIELD_CLI=OFF")
    if os.name == "nt":  # whose execv returns to the shell before the program ends
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    kernels = _kernels.is_open or ("--plan" in sys.argv and _kernels.LIBRARY.is_file())
    os.execve(program, [str(program), *sys.argv[1:]], _kernels.environment(kernels))


def is_out_of_core(words: Sequence[str]) -> bool:
    return bool(words) and words[0] in VERBS and any(re.search(r"\.zarr(/|$)|^--memory(=|$)", word) for word in words)


def run(words: Sequence[str]) -> int:
    as_json = "--json" in words
    try:
        count = call(words)
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as problem:
        status = 2 if isinstance(problem, ValueError | TypeError) else 3 if isinstance(problem, OSError) else 1
        return fail(words[0], str(problem), status, as_json)
    except KeyboardInterrupt:
        return fail(words[0], "interrupted; the same command goes on with what is done", 130, as_json)
    if as_json:
        report(words[0], {} if count is None else {"components": count})
    elif count is not None and not {"-q", "--quiet"} & set(words):
        print(f"{count} components")
    return 0


def call(words: Sequence[str]) -> int | None:
    """Does what the words say; returns the number of components, or None from other verbs than `label`."""
    from nearfield import outofcore
    from nearfield._chunk_files import Source

    given = vars(parser().parse_args(words))
    verb, quiet, as_json = (given.pop(name) for name in ("verb", "quiet", "json"))
    quiet = quiet or as_json
    given["device"] = None if given["device"] == "auto" else given["device"]
    if "sites" in given:
        given["sites"] = given["sites"].replace("-", "_")
    source = given.pop("input")
    if given.pop("coordinates", False):
        near = "indices" if verb == "distance" else "output"
        if given[near] is None:
            raise ValueError(f"--coordinates says how to write nearest sites; give --{near} FILE too")
        given["coordinates"], given[near] = given[near], None
    if not quiet and given.get("spacing", 1) is None and (said := Source(source).told()):
        print(f"nearfield: {said}", file=sys.stderr)
    count = getattr(outofcore, VERBS[verb])(source, given.pop("output"), progress=not quiet, **given)
    return int(count) if verb == "label" else None


def fail(verb: str, message: str, status: int, as_json: bool) -> int:
    print(f"nearfield: {verb}: {message}", file=sys.stderr)
    if as_json:
        report(verb, {"error": {"status": status, "message": message}})
    return status


def report(verb: str, facts: dict[str, Any]) -> None:
    print(json.dumps({"nearfield": _core.version, "verb": verb, **facts}, indent=2))


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def parser() -> argparse.ArgumentParser:
    made = Parser("nearfield", allow_abbrev=False)
    verbs = made.add_subparsers(dest="verb", required=True)
    distance, voronoi, label = (
        verbs.add_parser(verb, allow_abbrev=False, description="Out of core; docs/scale.md.") for verb in VERBS
    )
    _add_fields(distance, "zero")
    distance.add_argument("--signed", choices=("inside", "outside"), default=False)
    distance.add_argument("--multilabel", action="store_true")
    distance.add_argument("--half-cell", action="store_true")
    distance.add_argument("--squared", action="store_true")
    distance.add_argument("--dtype")
    distance.add_argument("--indices", metavar="FILE", help="also write the linear index of the nearest site")
    _add_fields(voronoi, "nonzero")
    voronoi.add_argument("--labels", metavar="FILE", help="also write the seeds' values at the nearest sites")
    voronoi.add_argument("--distances", metavar="FILE", help="also write the distances")
    label.add_argument("--connectivity", type=int, default=1)
    label.add_argument("--criterion", type=_criterion, default="nonzero", help="nonzero, equal or a number")
    label.add_argument("--background", type=lambda text: None if text == "none" else float(text), default=0)
    label.add_argument("--border", dest="periodic", type=_periodic, default=False, metavar="LIST")
    label.add_argument("--dtype", choices=TYPES, default="int32")
    for one in (distance, voronoi):
        one.add_argument("--trust", dest="trusted", metavar="FILE", help="also write which distances are final: bool")
        one.add_argument("--coordinates", action="store_true", help="write nearest sites as coordinates: int32")
    for one, needed in ((distance, True), (voronoi, False), (label, True)):
        _add_run(one, needed)
    return made


def _add_fields(to: argparse.ArgumentParser, sites: str) -> None:
    to.add_argument("--sites", choices=("zero", "nonzero", "other-labels"), default=sites)
    to.add_argument("--spacing", type=_list(float), metavar="A,B,...", help="default: the file's")
    to.add_argument("--border", type=_list(str), default="open", metavar="LIST", help=" ".join(BORDERS))
    to.add_argument("--max-distance", type=float, metavar="X")
    to.add_argument("--where", metavar="FILE", help="cells where it is zero take no part; or nodata, of GeoTIFF")


def _add_run(to: argparse.ArgumentParser, needed: bool) -> None:
    to.add_argument("input", help=".zarr, .npy, .tif, or .nrrd in one piece")
    to.add_argument("-o", "--output", required=needed, metavar="FILE", help=".zarr, .npy, .nrrd or .tif")
    to.add_argument("--memory", metavar="SIZE", help="such as 4GB; default: half of what is free")
    to.add_argument("--device", default="auto", help="auto (a GPU where there is one, and CuPy), cpu, cuda or cuda:N")
    to.add_argument("-j", "--threads", type=int)
    to.add_argument("--restart", dest="resume", action="store_false", help="do not go on with an interrupted call")
    to.add_argument("-q", "--quiet", action="store_true")
    to.add_argument("--json", action="store_true", help="print a report as JSON")


def _list(of: Any) -> Any:
    def items(text: str) -> Any:
        each = [of(item) for item in text.split(",")]
        return each[0] if len(each) == 1 else each

    return items


def _criterion(text: str) -> str | float:
    return text if text in ("nonzero", "equal") else float(text)


def _periodic(text: str) -> bool | list[bool]:
    ends = text.split(",")
    if any(end not in ("open", "periodic") for end in ends):
        raise argparse.ArgumentTypeError("open or periodic")
    each = [end == "periodic" for end in ends]
    return each[0] if len(each) == 1 else each
