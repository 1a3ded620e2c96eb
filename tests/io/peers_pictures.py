"""JPEG, BMP, GIF and MetaImage of other libraries, read by us. peers_pictures.py PROGRAM, where PROGRAM is peer.cpp."""

import sys
import zlib

import numpy as np
import peers
import PIL.Image
from peers import ours, random, same


def pillow(path):
    image = PIL.Image.open(path)
    return np.asarray(image.convert("RGB") if image.mode == "P" and not is_gray(image) else image.convert("L"))


def is_gray(image):
    table = np.array(image.getpalette()).reshape(-1, 3)
    return bool((table == table[:, :1]).all())


def test_jpeg(folder):
    for shape in [(13, 21), (16, 8), (50, 33, 3), (1, 1)]:
        for words in [{}, {"progressive": True}, {"subsampling": 0}, {"quality": 100}]:
            PIL.Image.fromarray(random("uint8", shape)).save(folder / "a.jpg", **words)
            got, said = ours(folder / "a.jpg")
            assert said["color"] == (len(shape) == 3) and said["spacing"] == []
            wanted = np.asarray(PIL.Image.open(folder / "a.jpg"))
            assert got.shape == wanted.shape and abs(got.astype(int) - wanted).max() <= 4  # decoders may differ by some


def test_bmp(folder):
    for width in (1, 7, 8, 21):
        gray, color = random("uint8", (13, width)), random("uint8", (13, width, 3))
        PIL.Image.fromarray(gray).save(folder / "gray.bmp")
        same(ours(folder / "gray.bmp")[0], gray)
        PIL.Image.fromarray(color).save(folder / "rgb.bmp")
        got, said = ours(folder / "rgb.bmp")
        assert said["color"]
        same(got, color)
        PIL.Image.fromarray(np.dstack([color, gray])).save(folder / "rgba.bmp")
        same(ours(folder / "rgba.bmp")[0], color)
        PIL.Image.fromarray(gray > 99).save(folder / "bits.bmp")
        same(ours(folder / "bits.bmp")[0], np.where(gray > 99, 255, 0).astype(np.uint8))
        PIL.Image.fromarray(color).quantize(16).save(folder / "palette.bmp")
        same(ours(folder / "palette.bmp")[0], np.asarray(PIL.Image.open(folder / "palette.bmp").convert("RGB")))


def test_gif(folder):
    for height, width in [(1, 1), (13, 7), (100, 130), (300, 257)]:
        gray, color = random("uint8", (height, width)), random("uint8", (height, width, 3))
        for interlace in (0, 1):
            for image in (
                PIL.Image.fromarray(gray),
                PIL.Image.fromarray(gray // 64 * 64),
                PIL.Image.fromarray(color).quantize(200),
                PIL.Image.fromarray(np.zeros((height, width), np.uint8)),
            ):
                image.save(folder / "a.gif", interlace=interlace)
                same(ours(folder / "a.gif")[0], pillow(folder / "a.gif"))


def test_meta_image(folder):
    names = {"int8": "CHAR", "uint8": "UCHAR", "int16": "SHORT", "uint16": "USHORT", "int32": "INT", "uint32": "UINT"}
    names |= {"int64": "LONG_LONG", "uint64": "ULONG_LONG", "float32": "FLOAT", "float64": "DOUBLE"}
    for dtype, name in names.items():
        for order in "<>":
            for packed in (False, True):
                values = random(dtype, (2, 3, 4))
                data = values.astype(np.dtype(dtype).newbyteorder(order)).tobytes()
                data = zlib.compress(data) if packed else data
                head = "ObjectType = Image\nNDims = 3\nBinaryData = True\nDimSize = 4 3 2\nElementSpacing = 0.5 0.7 2\n"
                head += (
                    f"BinaryDataByteOrderMSB = {order == '>'}\nCompressedData = {packed}\nElementType = MET_{name}\n"
                )
                (folder / "a.mha").write_bytes(f"{head}ElementDataFile = LOCAL\n".encode() + data)
                (folder / "a.raw").write_bytes(data)
                (folder / "a.mhd").write_text(f"{head}ElementDataFile = a.raw\n")
                for suffix in ("mha", "mhd"):
                    got, said = ours(folder / f"a.{suffix}")
                    same(got, values)
                    assert said["spacing"] == [2, 0.7, 0.5] and said["unit"] == ""


if __name__ == "__main__":
    sys.exit(peers.main(globals()))
