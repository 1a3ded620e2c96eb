"""Labels on their way through an image

Label propagation, round by round: colours are the labels that cells have after so many rounds. Above, each takes the
smallest one among itself and its neighbours; a label moves on by a cell a round. Below, each also asks the far ends of
its links, and the cell whose address its label is. Regions are finished after a few rounds, and `nf.label_by_propagation`
takes exactly as many. More in [link_propagation.md](link_propagation.md).
"""

import numpy as np
from picture import edges, save, tints

import nearfield as nf

random = np.random.default_rng(5)
spectrum = np.fft.fft2(random.standard_normal((150, 200)))
frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(150), np.fft.fftfreq(200), indexing="ij"))
smooth = np.fft.ifft2(spectrum * np.exp(-((frequency * 22) ** 2))).real
image = np.digitize(smooth / smooth.std(), [-0.7, 0, 0.7]).astype(np.uint8)


def rounds_of(image, far, masters):
    """Labels after every round: at first each cell's own address."""
    label = np.arange(image.size)
    asked = []
    for step, axis in ((1, 1), (-1, 1), (image.shape[1], 0), (-image.shape[1], 0)):
        linked = np.roll(image, -np.sign(step), axis) == image
        linked[(slice(None),) * axis + (-1 if step > 0 else 0,)] = False
        length = linked.ravel().astype(int)
        asked.append(label + step * length)
        for _ in range(6 if far else 0):  # links of 64 cells by doubling
            length += length[label + step * length]
        asked.append(label + step * length)
    while True:
        better = np.minimum.reduce([label, *(label[cells] for cells in asked)])
        if masters:
            better = np.minimum(better, label[better])
        yield better.reshape(image.shape)
        if (better == label).all():
            return
        label = better


slow = list(rounds_of(image, far=False, masters=False))
fast = list(rounds_of(image, far=True, masters=True))
labels, report = nf.label_by_propagation(image, criterion="equal", background=None)
assert report.rounds == len(fast)
assert np.array_equal(np.unique(fast[-1], return_inverse=True)[1].reshape(image.shape) + 1, labels)

panels = [edges(tints(all[n] * 7919 % 100003 + 1), all[-1]) for all in (slow, fast) for n in (0, 2, 5, len(fast) - 1)]
save("link-propagation.png", *[np.kron(panel, np.ones((2, 2, 1))) for panel in panels], columns=4)
