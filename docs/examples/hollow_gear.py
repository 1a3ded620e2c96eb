"""A gear that is grown, shrunk and hollowed

A helical gear as a mesh, cut open. From left to right: within the mesh, in grey, what `nf.offset(gear, -0.12)` leaves
of it; within what is nearer than 0.12, where the gaps between teeth fill up, the gear; and a hollow gear, a wall of
0.12 with the outside of the mesh, in colours of `thickness`: blue where the wall is 0.12 thick, red where it is 0.24 or
more, since teeth are too narrow to be hollow. All answers are closed meshes.
"""

import numpy as np
from picture import PAPER, save

import nearfield as nf


def twisted(teeth, points=280, rings=25, height=1.0):
    """Rings of points, from the middle of one end to that of the other, each turned a little further."""
    inwards = np.linspace(0.05, 1, 30)[:-1]
    scale = np.concatenate([inwards, np.ones(rings), inwards[::-1]])
    level = np.concatenate([0 * inwards, np.linspace(0, height, rings), 0 * inwards + height])
    rings = len(level)
    z, turn = np.meshgrid(level, np.arange(points) * 2 * np.pi / points, indexing="ij")
    away = scale[:, None] * (1 + 0.17 * np.tanh(2.6 * np.cos(teeth * turn)))
    x, y = away * np.cos(turn + 0.5 * z), away * np.sin(turn + 0.5 * z)
    at = np.stack([x, y, z], -1).reshape(-1, 3)
    ring, point = np.meshgrid(np.arange(rings - 1) * points, np.arange(points), indexing="ij")
    a, b = ring + point, ring + (point + 1) % points
    quads = np.stack([a, b, b + points, a, b + points, a + points], -1).reshape(-1, 3)
    low, high, last = len(at), len(at) + 1, (rings - 1) * points
    around, after = np.arange(points), np.roll(np.arange(points), -1)
    ends = [
        np.stack([0 * around + low, after, around], -1),
        np.stack([0 * around + high, last + around, last + after], -1),
    ]
    return nf.Mesh(np.vstack([at, [[0, 0, 0], [0, 0, height]]]), np.vstack([quads, *ends]))


def draw(meshes, size=840):
    """Lit from the upper left, without a quarter of each mesh; inside faces are darker. Faces as many small points.

    A colour is one for all, or one for each vertex. A pixel is the mean of four."""
    view = np.array([[0.82, -0.57, 0.0], [-0.29, -0.42, 0.86], [0.49, 0.71, 0.51]])  # right, up, towards the eye
    picture, depth = np.tile(PAPER, (size * size, 1)), np.full(size * size, -np.inf)
    for mesh, colour in meshes:
        corner, tint = mesh.vertices[mesh.faces], np.broadcast_to(colour, mesh.vertices.shape)[mesh.faces]
        normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-300
        longest = np.sqrt(((corner - np.roll(corner, 1, 1)) ** 2).sum(-1).max(1))
        steps = 4 * np.ceil(longest * size / 11 + 0.25).astype(int)  # a point a pixel, and some more
        for parts in np.unique(steps):
            u, v = (np.stack(np.nonzero(np.tri(parts)[::-1])).T + 1 / 3).T / parts
            chosen = np.nonzero(steps == parts)[0]
            for some in np.array_split(chosen, len(chosen) * len(u) // 10**6 + 1):
                at, hue = (
                    (a + u[:, None] * (b - a) + v[:, None] * (c - a)).reshape(-1, 3)
                    for a, b, c in (each[some].transpose(1, 0, 2)[:, :, None] for each in (corner, tint))
                )
                kept = (at[:, 0] < 0) | (at[:, 1] < 0)
                facing = np.repeat(normal[some] @ view.T, len(u), axis=0)[kept]
                right, up, near = view @ (at[kept] - (0, 0, 0.5)).T
                pixel = (size / 2 - up * size / 3).astype(int) * size + (size / 2 + right * size / 3).astype(int)
                front = np.lexsort([near, pixel])
                front = front[
                    np.append(np.diff(pixel[front]) > 0, [True] * min(1, len(front)))
                ]  # nearest of each pixel
                front = front[near[front] > depth[pixel[front]]]
                light = np.abs(facing[front] @ (-0.45, 0.55, 0.7)) * 0.75 + 0.3
                shade = np.where(facing[front, 2:] > 0, 1, 0.72) * light[:, None] * hue[kept][front]
                depth[pixel[front]], picture[pixel[front]] = near[front], shade
    return picture.reshape(size // 2, 2, size // 2, 2, 3).mean((1, 3))


gear = twisted(14)
less, more = nf.offset(gear, -0.12, pitch=0.02), nf.offset(gear, 0.12, pitch=0.02)
hollow = nf.offset(gear, -0.12, pitch=0.02, hollow=True)
assert gear.closed and less.closed and more.closed and hollow.closed
GREY, RED, BLUE = (205, 205, 200), (214, 96, 70), (96, 140, 196)
thick = np.stack([np.interp(hollow.thickness, (0.12, 0.18, 0.24), each) for each in zip(BLUE, PAPER, RED)], -1)
save("hollow-gear.png", draw([(gear, GREY), (less, RED)]), draw([(more, BLUE), (gear, GREY)]), draw([(hollow, thick)]))
