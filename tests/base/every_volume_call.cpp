// The calls of every_call() for volumes, and for everything that is made of distances.
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <type_traits>

#include "base/every_call.hpp"

namespace nearfield::test {
namespace {

constexpr std::int64_t ray_count = 500, site_count = 64;

/// The arrays of all calls: a volume of balls, and its first planes as images.
struct volume {
    explicit volume(const extent<3>& of) : shape(of), image{of[1], of[2]} {
        const auto cells = static_cast<std::size_t>(shape.cells());
        std::mt19937 random(1);
        mask.assign(cells, 1), gray.resize(cells), labels.assign(cells, 0), seeds.assign(cells, 0);
        for (int ball = 0; ball < 60; ++ball) add_ball(random, ball % 9);
        for (std::uint8_t& each : gray) each = static_cast<std::uint8_t>(random() % 256);
        for (const std::uint8_t each : gray) bounds.push_back(static_cast<float>(each) / 16);
        for (int seed = 0; seed < 20; ++seed) seeds[random() % cells] = 1 + seed % 5;
        for (std::int64_t k = 0; k < 3 * ray_count; ++k) {
            origins.push_back(static_cast<double>(random() % 100) / 100 *
                              static_cast<double>(shape[static_cast<int>(k % 3)]));
            directions.push_back(static_cast<double>(random() % 201) - 100.5);
        }
        for (std::int64_t k = 0; k < site_count; ++k) {
            const std::int64_t cell = k * image.cells() / site_count;
            sites.push_back(static_cast<std::int32_t>(cell / image[1]));
            sites.push_back(static_cast<std::int32_t>(cell % image[1]));
        }
        out.resize(4 * cells);
    }

    /// Adds a ball as an obstacle or object: zero in the mask, numbered in the labels.
    void add_ball(std::mt19937& random, int number) {
        const std::array<std::int64_t, 3> at{static_cast<std::int64_t>(random()) % shape[0],
                                             static_cast<std::int64_t>(random()) % shape[1],
                                             static_cast<std::int64_t>(random()) % shape[2]};
        const auto radius = static_cast<std::int64_t>(2 + random() % 5);
        for (std::int64_t z = 0, i = 0; z < shape[0]; ++z)
            for (std::int64_t y = 0; y < shape[1]; ++y)
                for (std::int64_t x = 0; x < shape[2]; ++x, ++i) {
                    const std::int64_t dz = z - at[0], dy = y - at[1], dx = x - at[2];
                    if (dz * dz + dy * dy + dx * dx > radius * radius) continue;
                    mask[static_cast<std::size_t>(i)] = 0, labels[static_cast<std::size_t>(i)] = number;
                }
    }

    template <class T>
    view<T, 3, host> in(std::vector<T>& memory) {
        return {memory.data(), shape};
    }
    template <class T>
    view<T, 2, host> plane(std::vector<T>& memory) {
        return {memory.data(), image};
    }
    /// The quarter `part` of the output memory, viewed as another type and shape.
    template <class T, int R>
    view<T, R, host> to(const extent<R>& of, std::size_t part = 0) {
        return {reinterpret_cast<T*>(out.data() + part * out.size() / 4), of};
    }

    [[nodiscard]] std::uint64_t hash() {
        std::uint64_t sum = 14695981039346656037ULL;
        for (std::uint64_t& each : out) sum = (sum ^ each) * 1099511628211ULL, each = 0;
        return sum;
    }

    extent<3> shape;
    extent<2> image;
    std::vector<std::uint8_t> mask, gray;
    std::vector<std::int32_t> labels, seeds, sites;
    std::vector<float> bounds;
    std::vector<double> origins, directions;
    std::vector<std::uint64_t> out;
};

using made = std::vector<named_call>;
using shared = std::shared_ptr<volume>;

template <class Call>
void add(made& to, const shared& a, const char* name, const Call& call) {
    to.push_back({name, [a, call](const host& on) {
                      call(*a, on);
                      return a->hash();
                  }});
}

void add_distances(made& to, const shared& all) {
    add(to, all, "distance, squared and index of a volume", [](volume& a, const host& on) {
        fields<host> out;
        out.distance = a.to<float>(a.shape), out.squared = a.to<std::uint32_t>(a.shape, 1);
        out.index = a.to<std::int64_t>(a.shape, 2);
        distance_transform(on, a.in(a.mask), out);
    });
    add(to, all, "coordinates in a periodic volume of real cells", [](volume& a, const host& on) {
        fields<host> out;
        out.coordinates = a.to<std::int32_t>(extent<4>{3, a.shape[0], a.shape[1], a.shape[2]});
        out.distance = a.to<double>(a.shape, 3);
        distance_transform(on, a.in(a.mask), out, {.spacing = {0.3, 1.7, 1.0 / 3}, .border = border::periodic});
    });
    add(to, all, "bounded_distance_transform", [](volume& a, const host& on) {
        fields<host> out;
        out.distance = a.to<float>(a.shape);
        bounded_distance_transform(on, a.in(a.mask), a.in(a.bounds), out);
    });
    add(to, all, "distance_transform_where with labels", [](volume& a, const host& on) {
        fields<host> out;
        out.distance = a.to<float>(a.shape), out.index = a.to<std::int64_t>(a.shape, 2);
        distance_transform_where(on, a.in(a.labels), a.in(a.mask), out, {.sites = sites::other_labels});
    });
    add(to, all, "chessboard_distance",
        [](volume& a, const host& on) { chessboard_distance(on, a.in(a.mask), a.to<std::int32_t>(a.shape)); });
    add(to, all, "cityblock_distance",
        [](volume& a, const host& on) { cityblock_distance(on, a.in(a.mask), a.to<std::int32_t>(a.shape)); });
}

void add_fields_of_robots(made& to, const shared& all) {
    add(to, all, "esdf", [](volume& a, const host& on) {
        esdf_fields<host> out;
        out.distance = a.to<float>(a.shape, 3);
        out.gradient = a.to<float>(extent<4>{3, a.shape[0], a.shape[1], a.shape[2]});
        esdf(on, a.in(a.mask), out, {.negative_inside = true});
    });
    add(to, all, "update_esdf", [](volume& a, const host& on) {
        esdf_fields<host> out;
        out.distance = a.to<float>(a.shape),
        out.site = a.to<std::int32_t>(extent<4>{3, a.shape[0], a.shape[1], a.shape[2]}, 1);
        const esdf_options options{.max_distance = 4};
        esdf(on, a.in(a.mask), out, options);
        const std::int64_t first[] = {1, 2, 3}, end[] = {3, 6, 9};
        update_esdf(on, a.in(a.mask), first, end, out, options);
    });
    add(to, all, "pass_along", [](volume& a, const host& on) {
        fields<host> planes;
        planes.squared = a.to<std::uint32_t>(a.shape);
        distance_transform(on, a.in(a.mask), planes, {.batch_axes = 1});
        const auto in = a.to<const std::uint32_t>(a.shape);
        pass_along(on, {.squared = in}, 0, {.squared = a.to<std::uint32_t>(a.shape, 1)});
    });
    add(to, all, "chunks", [](volume& a, const host& on) {
        const any_output<host> labels = a.to<std::int32_t>(a.shape);
        std::int64_t count = 0;
        label_fields<host> out;
        out.label = labels, out.count = any_output<host>::contiguous(&count, dtype::int64, std::array{1});
        label(on, a.in(a.mask), out);
        using sides = std::vector<std::int64_t>;
        const sides size(a.shape.size.begin(), a.shape.size.end());
        const std::vector<chunk_faces> faces{chunk_faces_of(on, labels, count, {sides(3), size, size})};
        const merged_chunks merged = merge(faces, sides(3, 1));
        renumber(on, labels, merged.numbers[0], a.to<std::int64_t>(a.shape, 1));
        static_cast<void>(every_cell_has_site(on, labels));
    });
    add(to, all, "inflate_costmap", [](volume& a, const host& on) {
        inflate_costmap(on, a.plane(a.gray), a.to<std::uint8_t>(a.image), {.inflation_radius = 0.3});
    });
}

void add_shapes(made& to, const shared& all) {
    using ball_call =
        void (*)(const host&, const any_input<host>&, double, const any_output<host>&, const morphology_options&);
    for (const auto& [name, call] : {std::pair<const char*, ball_call>{"erosion", erosion},
                                     {"dilation", dilation},
                                     {"opening", opening},
                                     {"closing", closing}})
        add(to, all, name,
            [call = call](volume& a, const host& on) { call(on, a.in(a.mask), 2.5, a.to<std::uint8_t>(a.shape), {}); });
    add(to, all, "medial_axis", [](volume& a, const host& on) {
        medial_axis_fields<host> out;
        out.axis = a.to<std::uint8_t>(a.shape), out.squared = a.to<std::uint32_t>(a.shape, 1);
        medial_axis(on, a.in(a.mask), out);
        reconstruct(on, a.to<std::uint8_t>(a.shape), a.to<std::uint32_t>(a.shape, 1), a.to<std::uint8_t>(a.shape, 2));
    });
    for (const kept_cells keep : {kept_cells::ends, kept_cells::isthmuses})
        add(to, all, "skeletonize", [keep](volume& a, const host& on) {
            skeletonize(on, a.in(a.mask), a.to<std::uint8_t>(a.shape), {.keep = keep});
        });
    add(to, all, "local_thickness of a volume", [](volume& a, const host& on) {
        thickness_fields<host> out;
        out.thickness = a.to<float>(a.shape);
        local_thickness(on, a.in(a.mask), out);
    });
    add(to, all, "compare_surfaces", [](volume& a, const host& on) {
        std::vector<double> areas;
        for (const surface kind : {surface::cells, surface::elements})
            for (const surface_distances& each :
                 compare_surfaces(on, a.in(a.labels), a.in(a.seeds), {}, {.surface = kind}))
                areas.insert(areas.end(), {each.hausdorff, each.symmetric_average, each.dice});
        std::memcpy(a.out.data(), areas.data(), areas.size() * sizeof(double));
    });
    add(to, all, "network_of_pores", [](volume& a, const host& on) {
        const pore_network network =
            network_of_pores(on, a.in(a.mask), {.boundaries = true}, a.to<std::int32_t>(a.shape));
        a.out.back() = std::hash<std::string>()(csv_of(network));
    });
}

void add_graphs(made& to, const shared& all) {
    add(to, all, "graph of a skeleton, pruned", [](volume& a, const host& on) {
        const auto thin = a.to<std::uint8_t>(a.shape);
        skeletonize(on, a.in(a.mask), thin);
        const skeleton_graph graph = graph_of(cells_of_skeleton(thin, a.in(a.bounds), {0.3, 1.7, 1.0 / 3}));
        const std::string text = csv_of(graph) + csv_of(pruned(graph, branch_rule::ratio, 1.5)) + swc_of(graph);
        a.out.back() = std::hash<std::string>()(text);
    });
}

void add_objects(made& to, const shared& all) {
    add(to, all, "label of a volume",
        [](volume& a, const host& on) { label(on, a.in(a.mask), a.to<std::int32_t>(a.shape), {.connectivity = 3}); });
    add(to, all, "watershed", [](volume& a, const host& on) {
        watershed_fields<host> out;
        out.label = a.to<std::int32_t>(a.shape), out.passes = a.to<std::uint8_t>(a.shape, 1);
        watershed(on, a.in(a.gray), out, {.connectivity = 2}, a.in(a.seeds), a.in(a.mask));
    });
    add(to, all, "basins", [](volume& a, const host& on) {
        const basins all_of(on, a.in(a.gray));
        all_of.mark(on, 20, false, a.to<std::uint8_t>(a.shape));
        all_of.cut(on, a.to<std::int32_t>(a.shape, 1), {.by = attribute::volume, .regions = 12});
    });
    add(to, all, "peaks", [](volume& a, const host& on) {
        for (const peak& each : peaks(on, a.in(a.gray), {.h = 30})) a.out[static_cast<std::size_t>(each.cell)] = 1;
    });
    add(to, all, "reconstruct_gray", [](volume& a, const host& on) {
        reconstruct_gray(on, a.in(a.mask), a.in(a.gray), a.to<std::uint8_t>(a.shape));
    });
    for (const split_method by :
         {split_method::watershed, split_method::lecture, split_method::voronoi, split_method::geodesic})
        add(to, all, "split",
            [by](volume& a, const host& on) { split(on, a.in(a.mask), a.to<std::int32_t>(a.shape), {.method = by}); });
    add(to, all, "fill_nearest", [](volume& a, const host& on) {
        fill_nearest(on, a.in(a.gray), a.in(a.mask), a.to<std::uint8_t>(a.shape), {.max_distance = 7});
    });
    add(to, all, "natural_neighbor",
        [](volume& a, const host& on) { natural_neighbor(on, a.in(a.gray), a.in(a.mask), a.to<double>(a.shape)); });
    add(to, all, "interpolate_slices", [](volume& a, const host& on) {
        const slice_position between[] = {{1, 2}, {3, 4}};
        interpolate_slices(on, a.in(a.labels), 0, between, a.to<std::int32_t>(extent<3>{2, a.shape[1], a.shape[2]}));
    });
}

void add_paths(made& to, const shared& all) {
    add(to, all, "geodesic", [](volume& a, const host& on) {
        const std::vector<priced_step> steps = euclidean_steps(3, 1, {0.3, 1.7, 1.0 / 3}, 1000);
        geodesic_fields<host> out;
        out.cost = a.to<std::int32_t>(a.shape), out.label = a.to<std::int32_t>(a.shape, 1);
        geodesic(on, a.in(a.mask), a.in(a.seeds), out, {.steps = steps});
    });
    add(to, all, "travel cost", [](volume& a, const host& on) {
        geodesic_fields<host> out;
        out.cost = a.to<std::int64_t>(a.shape);
        geodesic(on, a.in(a.mask), a.in(a.seeds), out, {.rule = cost_rule::both}, a.in(a.gray));
    });
    add(to, all, "plan_path and roadmap", [](volume& a, const host& on) {
        const std::int64_t start[] = {1, 1}, goal[] = {a.image[0] - 2, a.image[1] - 2};
        const auto found = plan_path(on, a.plane(a.seeds), start, goal, {.objective = path_objective::safe});
        const roadmap roads(on, a.plane(a.seeds));
        a.out[0] = found.front().cost, a.out[1] = roads.find(start, goal).cost;
    });
}

void add_pictures(made& to, const shared& all) {
    add(to, all, "centroidal_voronoi", [](volume& a, const host& on) {
        centroidal_fields<host> out;
        out.sites = a.to<std::int32_t>(extent<2>{site_count, 2}),
        out.weights = a.to<std::int64_t>(extent<1>{site_count}, 1);
        out.labels = a.to<std::int32_t>(a.image, 2);
        const any_input<host> sites = any_input<host>(view<std::int32_t, 2, host>(a.sites.data(), {site_count, 2}));
        centroidal_voronoi(on, a.plane(a.gray), sites, out, {.rounds = 3});
    });
    add(to, all, "capacity_voronoi", [](volume& a, const host& on) {
        const any_input<host> sites = any_input<host>(view<std::int32_t, 2, host>(a.sites.data(), {site_count, 2}));
        const capacity_regions found = capacity_voronoi(on, a.plane(a.gray), sites, {}, {.rounds = 2});
        std::memcpy(a.out.data(), found.labels.data(), found.labels.size() * sizeof(std::int32_t));
    });
    add(to, all, "stipple", [](volume& a, const host& on) {
        const stipples dots = stipple(on, a.plane(a.gray), {.points = 50, .method = stipple_method::lbg, .rounds = 8});
        std::memcpy(a.out.data(), dots.parts.data(), dots.parts.size() * sizeof(std::int32_t));
    });
    add(to, all, "pad, decode, paint, encode", [](volume& a, const host& on) {
        const extent<3> texture{a.image[0], a.image[1] / 4, 4};
        const view<std::uint8_t, 3, host> image(a.gray.data(), texture);
        const view<float, 2, host> layer(a.bounds.data(), {texture[0], texture[1]});
        const view<float, 3, host> canvas = a.to<float>(texture, 1);
        effects::pad(on, image, a.to<std::uint8_t>(texture), {.radius = 3});
        effects::decode(on, image, canvas);
        effects::paint(on, canvas, layer, {.red = 1, .green = 0.3F, .alpha = 0.1F});
        effects::encode(on, canvas, a.to<std::uint8_t>(texture, 2));
    });
    add(to, all, "sdf and effects", [](volume& a, const host& on) {
        sdf(on, a.plane(a.gray), a.to<float>(a.image));
        effects::layer(on, a.to<float>(a.image), a.to<float>(a.image, 1), effects::glow{});
        effects::layer(on, a.to<float>(a.image), a.to<float>(a.image, 2), effects::trail{});
    });
}

void add_rays(made& to, const shared& all) {
    add(to, all, "raycast", [](volume& a, const host& on) {
        const view<double, 2, host> from(a.origins.data(), {ray_count, 3}),
            towards(a.directions.data(), {ray_count, 3});
        for (const ray_skips skips : {ray_skips::cubes, ray_skips::octants}) {
            ray_hits<host> out;
            out.entry = a.to<double>(extent<1>{ray_count}, static_cast<std::size_t>(skips));
            raycast(on, a.in(a.labels), from, towards, out, {.skips = skips});
        }
        surface_hits<host> out;
        out.entry = a.to<double>(extent<1>{ray_count}, 3);
        sphere_trace(on, a.in(a.bounds), from, towards, out, {.level = 8});
        const std::int64_t shape[] = {a.shape[0], a.shape[1], a.shape[2]};
        surface_hits<host> picture;
        picture.entry = a.to<double>(extent<2>{30, 40}, 0);
        sphere_trace(on, a.in(a.bounds), camera_for(shape, 3), picture, {.level = 8});
    });
    add(to, all, "render", [](volume& a, const host& on) {
        const std::int64_t shape[] = {a.shape[0], a.shape[1], a.shape[2]};
        for (const render_mode mode : {render_mode::surface, render_mode::volume, render_mode::isolines})
            render(on, a.in(a.mask), a.to<std::uint8_t>(extent<3>{40, 60, 3}, static_cast<std::size_t>(mode)),
                   {.mode = mode, .camera = camera_for(shape, 3)});
    });
}

void add_meshes(made& to, const shared& all) {
    add(to, all, "isosurface, voxelize, mesh_distance, offset", [](volume& a, const host& on) {
        // The first cells of the volume as a small volume.
        const extent<3> part{4, 16, 25};
        const view<std::uint8_t, 3, host> few(a.mask.data(), part);
        const mesh of = isosurface(on, few, 0.5, {.closed = true});
        const mesh_grid grid{.shape = {part[0], part[1], part[2]}};
        voxelize(on, of, grid, a.to<std::uint8_t>(part));
        mesh_fields<host> out;
        out.distance = a.to<double>(part, 1);
        mesh_distance(on, of, grid, out, {.is_signed = true});
        const mesh sharp = isosurface(on, few, 0.5, {.method = isosurface_method::dual_contouring});
        const offset_result wider = offset(on, of, 1, {.pitch = 2});
        a.out.back() = of.faces.size() + 1000003 * sharp.faces.size() + 998244353 * wider.surface.faces.size();
    });
}

}  // namespace

void add_volume_calls(std::vector<named_call>& to, const extent<3>& shape) {
    const auto all = std::make_shared<volume>(shape);
    add_distances(to, all);
    add_fields_of_robots(to, all);
    add_shapes(to, all);
    add_graphs(to, all);
    add_objects(to, all);
    add_paths(to, all);
    add_pictures(to, all);
    add_rays(to, all);
    add_meshes(to, all);
}

}  // namespace nearfield::test
