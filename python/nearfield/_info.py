"""Facts about this build and this machine."""

from __future__ import annotations

from dataclasses import dataclass

from nearfield import _core


@dataclass(frozen=True)
class Device:
    """One CUDA device that the library can use."""

    ordinal: int
    name: str
    compute_capability: tuple[int, int]
    memory_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class Info:
    """The build, the processor and the devices; printing it shows them."""

    version: str
    compiler: str
    simd: str
    cores: int
    cuda_built: bool
    cuda_runtime: int
    cuda_driver: int
    why_no_device: str
    devices: tuple[Device, ...]

    def __str__(self) -> str:
        lines = [f"nearfield {self.version} built by {self.compiler}", f"CPU: {self.cores} cores, {self.simd}"]
        lines += [
            f"cuda:{each.ordinal}: {each.name}, "
            f"{each.free_bytes / 2**30:.1f} of {each.memory_bytes / 2**30:.1f} GiB free"
            for each in self.devices
        ]
        return "\n".join(lines if self.devices else [*lines, f"no GPU: {self.why_no_device}"])


def info() -> Info:
    """Describes this build and this machine. It starts the CUDA runtime: call it once.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.info().version == nf.__version__
    True
    """
    said = _core.query_system()
    said["devices"] = tuple(Device(**each) for each in said["devices"])
    return Info(**said)


def devices() -> tuple[Device, ...]:
    """Lists the CUDA devices that can be used. It is empty if there is none; `info` says why."""
    return info().devices


def release_device_memory() -> None:
    """Frees the workspace that calls on devices keep for later calls. Waits for the device."""
    _core.release_device_memory()
