"""Files of ours read by other libraries, and theirs by us. peers.py PROGRAM, where PROGRAM is peer.cpp."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import traceback
import zlib

import nibabel
import numpy as np
import PIL.Image
import tifffile

PROGRAM = sys.argv[1]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
ALL = ["bool", *INTEGERS, "float16", "float32", "float64"]
rng = np.random.default_rng(1)


def random(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def peer(source, target, *spacing_and_unit, **options):
    ran = subprocess.run([PROGRAM, source, target, *spacing_and_unit], capture_output=True, **options)
    assert ran.returncode == 0, ran.stderr.decode()
    return ran


def ours(path):
    """What we read from the file: the values, and what the file says about them."""
    target = path.with_name("read_by_us.npy")
    said = json.loads(peer(path, target).stdout)
    values = np.load(target)
    assert said["type"] == values.dtype.name and tuple(said["shape"]) == values.shape
    return values, said


def written(folder, name, values, *spacing_and_unit):
    np.save(folder / "values.npy", values)
    peer(folder / "values.npy", folder / name, *spacing_and_unit)
    return folder / name


def same(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape, f"{got.shape} != {wanted.shape}"
    assert got.dtype.newbyteorder("=") == wanted.dtype.newbyteorder("="), f"{got.dtype} != {wanted.dtype}"
    np.testing.assert_array_equal(got, wanted)


def test_npy_from_numpy(folder):
    for dtype in ALL:
        for shape in [(3,), (3, 4), (2, 3, 4), (2, 1, 3, 2, 2, 1, 2, 2, 3), (0, 3)]:
            for order in "CF":
                for endian in "<>":
                    values = random(dtype, shape)
                    np.save(folder / "a.npy", np.asarray(values.astype(values.dtype.newbyteorder(endian)), order=order))
                    same(ours(folder / "a.npy")[0], values)


def test_npy_versions(folder):
    values = random("float32", (3, 5))
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(folder / "a.npy", "wb") as file:
            np.lib.format.write_array(file, values, version=version)
        same(ours(folder / "a.npy")[0], values)


def test_npy_through_pipes(folder):
    values = random("float64", (70, 50))
    np.save(folder / "a.npy", values)
    bytes_in = (folder / "a.npy").read_bytes()
    ran = peer("-", "-", input=bytes_in)
    assert ran.stdout == bytes_in
    ran = subprocess.run([PROGRAM, "-", "-"], input=bytes_in[:-1], capture_output=True)
    assert ran.returncode == 1 and b"truncated" in ran.stderr and not ran.stdout


def test_npy_lie_through_a_pipe(folder):
    np.save(folder / "a.npy", np.zeros(4))
    lie = (folder / "a.npy").read_bytes().replace(b"(4,), }", b"(99999999999,), }")
    ran = subprocess.run([PROGRAM, "-", "-"], input=lie, capture_output=True, timeout=10)
    assert ran.returncode == 1 and b"truncated" in ran.stderr


def test_pictures_from_pillow(folder):
    cases = {"L": "uint8", "1": "bool", "I;16": "uint16", "RGB": "uint8", "RGBA": "uint8"}
    for mode, dtype in cases.items():
        values = random(dtype, (13, 21, *([len(mode)] if mode.startswith("RGB") else [])))
        image = PIL.Image.fromarray(values)
        assert image.mode == mode
        for suffix in [".png", ".tif", ".ppm", ".pgm", ".pbm"]:
            holds = {
                ".png": True,
                ".tif": True,
                ".ppm": mode == "RGB",
                ".pgm": mode in ("L", "I;16"),
                ".pbm": mode == "1",
            }
            if holds[suffix]:
                image.save(folder / f"a{suffix}")
                got, said = ours(folder / f"a{suffix}")
                same(got, values)
                assert said["color"] == mode.startswith("RGB") and not said["spacing"]


def test_pictures_to_pillow(folder):
    for dtype in ["bool", "uint8", "uint16"]:
        values = random(dtype, (13, 21))
        for suffix in [".png", ".tif", ".pnm"]:
            path = written(folder, f"a{suffix}", values)
            same(np.asarray(PIL.Image.open(path)).astype(dtype), values)


def test_png_palettes_and_low_depths(folder):
    indices = random("uint8", (13, 21)) % 4
    colors = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [9, 8, 7]], np.uint8)
    for palette in [colors, np.repeat(colors[:, 1:2], 3, axis=1)]:
        for bits in (2, 4, 8):
            image = PIL.Image.fromarray(indices).convert("L")
            image.putpalette(palette.tobytes())
            image.save(folder / "a.png", bits=bits)
            got, said = ours(folder / "a.png")
            gray = palette is not colors
            assert said["color"] == (not gray)
            same(got, palette[indices][..., 0] if gray else palette[indices])
            image.save(folder / "a.png", bits=bits, transparency=0)
            assert ours(folder / "a.png")[0].shape == (13, 21, 4)
    PIL.Image.fromarray(np.stack([indices, indices], -1), "LA").save(folder / "a.png")
    got = ours(folder / "a.png")[0]
    same(got, np.stack([indices] * 4, -1))


def test_png_spacing(folder):
    PIL.Image.fromarray(random("uint8", (3, 4))).save(folder / "a.png", dpi=(254, 508))
    said = ours(folder / "a.png")[1]
    assert said["spacing"] == [0.05, 0.1] and said["unit"] == "mm"
    path = written(folder, "b.png", random("uint8", (3, 4)), "0.05,0.1", "mm")
    np.testing.assert_allclose(PIL.Image.open(path).info["dpi"], (254, 508), rtol=1e-4)


def interlaced_png(values, bits):
    """Adam7 by hand: Pillow does not write it."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b""
    for x, y, dx, dy in [
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ]:
        for row in values[y::dy, x::dx]:
            if row.size:
                rows += b"\0" + (
                    np.packbits(row).tobytes() if bits == 1 else row.astype(">u2" if bits == 16 else "u1").tobytes()
                )
    header = struct.pack(">IIBBBBB", values.shape[1], values.shape[0], bits, 0 if values.ndim == 2 else 2, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_png_interlaced(folder):
    for shape in [(1, 1), (3, 5), (8, 8), (17, 31), (17, 31, 3)]:
        for dtype, bits in [("bool", 1), ("uint8", 8), ("uint16", 16)]:
            if len(shape) == 3 and bits == 1:
                continue
            values = random(dtype, shape)
            (folder / "a.png").write_bytes(interlaced_png(values, bits))
            if bits == 8:
                same(np.asarray(PIL.Image.open(folder / "a.png")), values)
            same(ours(folder / "a.png")[0], values)


def test_tiff_tiles_strips_and_byte_orders(folder):
    values = random("uint16", (131, 217))
    for options in [
        {},
        {"tile": (64, 32)},
        {"compression": "zlib"},
        {"compression": "zlib", "predictor": 2, "tile": (16, 16)},
        {"bigtiff": True},
        {"byteorder": ">"},
        {"rowsperstrip": 7},
        {"byteorder": ">", "bigtiff": True, "tile": (32, 32)},
    ]:
        try:
            tifffile.imwrite(folder / "a.tif", values, **options)
        except (ImportError, KeyError, ValueError) as why:
            print(f"  left out {options}: {why}")
            continue
        same(ours(folder / "a.tif")[0], values)


def test_tiff_compressions_of_pillow(folder):
    values = random("uint8", (31, 57)) // 64
    for compression in ["tiff_lzw", "packbits", "tiff_adobe_deflate", "tiff_deflate", "zstd", "lzma"]:
        try:
            PIL.Image.fromarray(values).save(folder / "a.tif", compression=compression)
        except (OSError, ValueError) as why:
            print(f"  left out {compression}: {why}")
            continue
        same(ours(folder / "a.tif")[0], values)
    bits = random("bool", (31, 57))
    for compression in ["group3", "group4", "tiff_ccitt"]:
        PIL.Image.fromarray(bits).save(folder / "a.tif", compression=compression)
        same(ours(folder / "a.tif")[0], bits)
    PIL.Image.fromarray(np.full((40, 40, 3), 77, np.uint8)).save(folder / "a.tif", compression="jpeg", quality=95)
    assert np.abs(ours(folder / "a.tif")[0].astype(int) - 77).max() <= 2


def test_tiff_types_and_pages(folder):
    for dtype in ALL:
        for shape in [(9, 8), (3, 9, 8)]:
            values = random(dtype, shape)
            tifffile.imwrite(folder / "a.tif", values, photometric="minisblack")
            same(ours(folder / "a.tif")[0], values)
            got = tifffile.imread(written(folder, "b.tif", values))
            same(got.astype(bool) if dtype == "bool" else got, values)


def test_tiff_colors(folder):
    for samples in (3, 4):
        values = random("uint16", (9, 8, samples))
        extra = {"extrasamples": ["unassalpha"]} if samples == 4 else {}
        tifffile.imwrite(folder / "a.tif", values, photometric="rgb", **extra)
        same(ours(folder / "a.tif")[0], values)
        tifffile.imwrite(
            folder / "a.tif", np.moveaxis(values, -1, 0), photometric="rgb", planarconfig="separate", **extra
        )
        got, said = ours(folder / "a.tif")
        same(got, values)
        assert said["color"]


def test_tiff_white_is_zero(folder):
    for dtype in ["uint8", "uint16"]:
        values = random(dtype, (9, 8))
        tifffile.imwrite(folder / "a.tif", values, photometric="miniswhite")
        same(ours(folder / "a.tif")[0], np.iinfo(dtype).max - values)


def test_tiff_imagej(folder):
    values = random("float32", (5, 9, 8))
    tifffile.imwrite(
        folder / "a.tif",
        values,
        imagej=True,
        resolution=(1 / 0.5, 1 / 0.25),
        metadata={"spacing": 2.5, "unit": "um", "axes": "ZYX"},
    )
    got, said = ours(folder / "a.tif")
    same(got, values)
    assert said["spacing"] == [2.5, 0.25, 0.5] and said["unit"] == "um", said
    with tifffile.TiffFile(written(folder, "b.tif", values, "2.5,0.25,0.5", "mm")) as file:
        assert file.is_imagej and file.imagej_metadata["spacing"] == 2.5 and file.imagej_metadata["unit"] == "mm"
        same(file.asarray(), values)
        x = file.pages[0].tags["XResolution"].value
        assert x[0] / x[1] == 2


def test_tiff_axes(folder):
    """Hyperstacks as tifffile writes them: what is not of space comes first, in the file's order."""
    sizes = {"T": 2, "C": 3, "Z": 4}
    for axes in ["TYX", "CYX", "ZYX", "TZYX", "TCYX", "ZCYX", "TZCYX"]:
        values = random("uint16", (*(sizes[letter] for letter in axes[:-2]), 9, 8))
        order = sorted(range(len(axes) - 2), key=lambda i: axes[i] == "Z")
        wanted = values.transpose(*order, len(axes) - 2, len(axes) - 1)
        kinds = "".join({"T": "t", "C": "c", "Z": "s"}[axes[i]] for i in order) + "ss"
        sizes_um = {f"PhysicalSize{a}": s for a, s in zip("XYZ", (0.5, 0.25, 2.0))}
        for name, options in {
            "imagej.tif": {"imagej": True, "metadata": {"axes": axes}},
            "shaped.tif": {"metadata": {"axes": axes}},
            "a.ome.tif": {"metadata": {"axes": axes, **sizes_um}},
        }.items():
            tifffile.imwrite(folder / name, values, photometric="minisblack", **options)
            got, said = ours(folder / name)
            same(got, wanted)
            assert said["axes"] == ("" if set(kinds) == {"s"} else kinds), (name, axes, said)
            if name == "a.ome.tif":
                lengths = [2.0 if k == "s" else 1 for k in kinds[:-2]] + [0.25, 0.5]
                assert said["spacing"] == lengths and said["unit"] == "um", (axes, said)
    tifffile.imwrite(folder / "a.tif", random("uint8", (3, 9, 8)), photometric="minisblack")
    assert ours(folder / "a.tif")[1]["axes"] == "uss"
    PIL.Image.new("L", (8, 9)).save(folder / "b.tif", save_all=True, append_images=[PIL.Image.new("L", (8, 9))])
    assert ours(folder / "b.tif")[1]["axes"] == "uss"


def test_tiff_imagej_stack_in_one_page(folder):
    values = random("uint16", (5, 9, 8))
    for order in "<>":
        tifffile.imwrite(
            folder / "page.tif",
            values[0],
            description="ImageJ=1.53\nimages=5\nslices=5\n",
            metadata=None,
            byteorder=order,
        )
        data = (folder / "page.tif").read_bytes()
        with tifffile.TiffFile(folder / "page.tif") as file:
            start = file.pages[0].dataoffsets[0]
        assert start + values[0].nbytes == len(data)
        (folder / "a.tif").write_bytes(data[:start] + values.astype(order + "u2").tobytes())
        same(ours(folder / "a.tif")[0], values)


def test_tiff_pages_that_differ_are_refused(folder):
    with tifffile.TiffWriter(folder / "a.tif") as file:
        file.write(random("uint8", (9, 8)))
        file.write(random("uint8", (9, 7)))
    ran = subprocess.run([PROGRAM, folder / "a.tif", folder / "b.npy"], capture_output=True)
    assert ran.returncode == 1 and b"page 1" in ran.stderr and not (folder / "b.npy").exists()


def test_nifti(folder):
    for kind, suffixes in [(nibabel.Nifti1Image, (".nii", ".nii.gz")), (nibabel.Nifti2Image, (".nii", ".nii.gz"))]:
        for suffix in suffixes:
            for dtype in [*INTEGERS, "float32", "float64"]:
                for shape in [(5, 6), (4, 5, 6), (2, 4, 5, 6)]:
                    values = random(dtype, shape)
                    image = kind(values.T, np.diag([0.5, 0.7, 2.5, 1]), dtype=dtype)
                    image.header.set_xyzt_units("mm")
                    nibabel.save(image, folder / f"a{suffix}")
                    got, said = ours(folder / f"a{suffix}")
                    same(got, values)
                    assert said["spacing"][-2:] == [0.7, 0.5] and said["unit"] == "mm", said


def test_nifti_to_nibabel(folder):
    for dtype in ["bool", *INTEGERS, "float32", "float64"]:
        for suffix in (".nii", ".nii.gz"):
            values = random(dtype, (4, 5, 6))
            image = nibabel.load(written(folder, f"a{suffix}", values, "2.5,0.7,0.5", "um"))
            same(np.asanyarray(image.dataobj).T, values.astype("uint8") if dtype == "bool" else values)
            np.testing.assert_allclose(image.header.get_zooms(), (0.5, 0.7, 2.5), rtol=1e-6)
            assert image.header.get_xyzt_units()[0] == "micron"
    values = random("uint8", (2, 40000))
    same(np.asanyarray(nibabel.load(written(folder, "a.nii", values)).dataobj).T, values)


def main(tests):
    failed = 0
    for name, test in list(tests.items()):
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
                print(f"ok      {name}")
            except Exception:
                failed += 1
                print(f"FAILED  {name}")
                traceback.print_exc(file=sys.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(globals()))
