"""Public functions under jax.jit, jax.vmap, jax.grad, torch.vmap, torch.func.grad: right, or a sentence that helps."""

import numpy as np
import pytest

import nearfield as nf
from nearfield import ndimage

IMAGES = np.random.default_rng(3).integers(0, 3, (4, 6, 7)).astype(np.int32)


def fields(image):
    return nf.distance_transform(
        image, spacing=(2, 1), border=("closed", "open"), return_indices=True, return_labels=True
    )


def labels_of_sites(image):
    return nf.voronoi(image, return_labels=True, return_distances=True)


def power(image):
    return nf.voronoi(image, weights=image * 3, return_indices=False, return_labels=True)


def small_removed(image):
    return nf.remove_small(image, 3)


def by_method(image):
    return nf.distance_transform(image, method="jump-flood", return_labels=True)


# In torch's order: what is one operation there, and what is refused.
MAPPED = (nf.distance_transform, fields, nf.voronoi, labels_of_sites, power, nf.expand_labels, nf.label)


def opened(image):
    return nf.opening(image, 1.5)


def smoothed(image):
    return nf.natural_neighbor(image, IMAGES[0] > 0, dtype="float32")


SHAPES = (nf.local_thickness, nf.medial_axis, nf.skeletonize, smoothed, opened)
SHAPED = (*MAPPED, small_removed, nf.relabel, by_method, ndimage.distance_transform_edt, *SHAPES)
VALUED = (
    *(
        nf.components,
        nf.component_statistics,
        nf.label_lists,
        nf.contacts,
        nf.label_by_propagation,
        nf.compare,
        nf.plan,
    ),
    *(ndimage.label, ndimage.find_objects, ndimage.distance_transform_cdt, ndimage.distance_transform_bf),
)


def named(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda each: f"{each.__module__}.{each.__name__}")


def leaves(answer):
    return list(answer) if isinstance(answer, tuple) else [answer]


def check(came, wanted, kind):
    """JAX has no float64 here."""
    assert len(came) == len(wanted)
    for one, other in zip(came, wanted):
        assert isinstance(one, kind)
        np.testing.assert_array_equal(np.asarray(one), other.astype("float32") if other.dtype == "float64" else other)


def stacked(function):
    return [np.stack(each) for each in zip(*(leaves(function(image)) for image in IMAGES))]


class TestJax:
    @named(SHAPED)
    def test_jit_and_vmap(self, jax, function):
        check(leaves(jax.jit(function)(jax.numpy.asarray(IMAGES[0]))), leaves(function(IMAGES[0])), jax.Array)
        for axis in (0, 2):
            images = jax.numpy.asarray(np.moveaxis(IMAGES, 0, axis))
            check(leaves(jax.vmap(function, in_axes=axis)(images)), stacked(function), jax.Array)

    @named([nf.distance_transform, nf.label, small_removed, ndimage.distance_transform_edt])
    def test_no_gradient_passes_through(self, jax, function):
        """Labels are values of the image, and powers depend on the weights: JAX itself refuses these."""

        def weighed(image):
            return (leaves(function(image))[0] * image).sum()

        image = jax.numpy.asarray(IMAGES[0], "float32")
        np.testing.assert_array_equal(jax.grad(weighed)(image), leaves(function(image))[0])

    @named(VALUED)
    def test_what_needs_values_says_so(self, jax, function):
        for transform in (jax.jit, jax.vmap):
            with pytest.raises(TypeError, match="is traced by JAX, and this call needs its values; call it outside of"):
                transform(lambda image: function(image))(jax.numpy.asarray(IMAGES))

    @pytest.mark.parametrize(
        ("function", "keyword", "value"),
        [
            (nf.distance_transform, "spacing", 2.0),
            (nf.distance_transform, "spacing", np.array([2.0, 1.0])),
            (nf.distance_transform, "max_distance", 2.0),
            (nf.distance_transform, "signed", True),
            (nf.distance_transform, "batch_axes", 1),
            (nf.expand_labels, "distance", 2.0),
            (nf.label, "criterion", 2.0),
            (nf.label, "min_size", 2),
            (ndimage.distance_transform_edt, "sampling", 2.0),
        ],
    )
    def test_options_are_known_before(self, jax, function, keyword, value):
        with pytest.raises(TypeError, match="is traced by JAX, and a call needs its value; .*static_argnames"):
            jax.jit(lambda image, value: function(image, **{keyword: value}))(IMAGES[0], value)
        known = jax.jit(function, static_argnames=keyword)
        value = tuple(value) if isinstance(value, np.ndarray) else value
        check([known(IMAGES[0], **{keyword: value})], [function(IMAGES[0], **{keyword: value})], jax.Array)

    def test_scipys_function_where_jax_has_no_float64(self, jax):
        image, wanted = jax.numpy.asarray(IMAGES[0]), ndimage.distance_transform_edt(IMAGES[0])
        assert ndimage.distance_transform_edt(image).dtype == np.float32
        np.testing.assert_array_equal(ndimage.distance_transform_edt(image), wanted.astype(np.float32))
        with jax.enable_x64(True):
            assert ndimage.distance_transform_edt(jax.numpy.asarray(IMAGES[0])).dtype == np.float64

    def test_outputs_are_refused(self, jax):
        for words in ({"return_num": True}, {"out": IMAGES[0]}):
            for function in (nf.label, nf.relabel):
                with pytest.raises(TypeError, match=rf"nearfield.{function.__name__} takes no out= and no return_num="):
                    jax.jit(lambda image: function(image, **words))(IMAGES[0])  # noqa: B023
        with pytest.raises(TypeError, match="labels are integers"):
            jax.jit(nf.relabel)(IMAGES[0].astype(np.float32))


class TestTorch:
    @named(SHAPES)
    def test_shapes_in_compiled_functions(self, torch, function):
        """Morphology is one operation there; at the others the graph breaks."""
        image = torch.from_numpy(IMAGES[0])
        twice = torch.compile(lambda x: function(x) * 2, backend="eager", fullgraph=function is opened)
        np.testing.assert_array_equal(twice(image), leaves(function(IMAGES[0]))[0] * 2)

    @named(MAPPED)
    def test_vmap(self, torch, function):
        for axis in (0, 2):
            images = torch.from_numpy(np.moveaxis(IMAGES, 0, axis).copy())
            check(leaves(torch.vmap(function, in_dims=axis)(images)), stacked(function), torch.Tensor)

    def test_vmap_of_batches_of_lines_and_of_one_weight_for_all(self, torch):
        images, weights = torch.from_numpy(IMAGES), torch.from_numpy(IMAGES[0] * 2)

        def lines(image):
            return nf.distance_transform(
                image, batch_axes=1, border=("open", "closed"), spacing=3, return_indices="linear"
            )

        check(leaves(torch.vmap(lines)(images)), stacked(lines), torch.Tensor)
        twice = torch.vmap(torch.vmap(nf.distance_transform))(images)
        np.testing.assert_array_equal(twice, nf.distance_transform(IMAGES, batch_axes=2))
        came = torch.vmap(lambda image: nf.voronoi(image, weights=weights, return_labels=True))(images)
        check(came, stacked(lambda image: nf.voronoi(image, weights=IMAGES[0] * 2, return_labels=True)), torch.Tensor)
        colours = torch.vmap(lambda image: nf.label(image, channels=True, criterion=1))(images.to(torch.uint8)[..., :3])
        wanted = [
            nf.label(np.ascontiguousarray(image[:, :3]), channels=True, criterion=1) for image in IMAGES.astype("u1")
        ]
        np.testing.assert_array_equal(colours, np.stack(wanted))

    @named([nf.distance_transform, fields, power, nf.expand_labels, nf.label])
    def test_no_gradient_passes_through(self, torch, function):
        def weighed(image):
            return (leaves(function(image))[0] * image).sum()

        image = torch.from_numpy(IMAGES[0]).float()
        np.testing.assert_array_equal(torch.func.grad(weighed)(image), leaves(function(image))[0])

    @named([small_removed, nf.relabel, by_method, *VALUED])
    def test_what_needs_values_says_so(self, torch, function):
        with pytest.raises(TypeError, match="is traced by PyTorch, and this call needs its values"):
            torch.vmap(lambda image: function(image))(torch.from_numpy(IMAGES))

    def test_outputs_are_refused(self, torch):
        out = torch.empty(IMAGES.shape)
        with pytest.raises(TypeError, match="torch.vmap nearfield takes no out="):
            torch.vmap(lambda image: nf.distance_transform(image, out=out))(torch.from_numpy(IMAGES))
