#include "link_propagation/call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace nearfield::test {

propagation_report propagate_on_host(label_call& c, const propagation_options& how) {
    const auto report = label_by_propagation(
        host{c.how.threads, {}}, c.image.view_of<host>(static_cast<const void*>(c.image.bytes().data())),
        c.label.view_of<host>(static_cast<void*>(c.label.bytes().data())), c.options, how);
    std::memcpy(c.count.element(0), &report.components, sizeof report.components);
    return report;
}

std::string check_propagation(const propagation_engine& engine, const label_call& c, const propagation_options& how,
                              propagation_report* report) {
    return check(
        [&](label_call& each) {
            const propagation_report came = engine(each, how);
            if (report != nullptr) *report = came;
        },
        c);
}

std::string refusal(const propagation_engine& engine, label_call c, const propagation_options& how) {
    c.label.paint();
    const std::vector<std::byte> before = c.label.bytes();
    try {
        engine(c, how);
    } catch (const error& e) {
        if (c.label.bytes() != before) return "written";
        return e.code() == error_code::invalid_argument ? e.what() : "another code";
    }
    return {};
}

bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

std::string name_of(const propagation_options& how) {
    return std::string(how.neighbours ? "neighbours " : "") + (how.links ? "links " : "") +
           (how.masters ? "masters " : "") + (how.hooked ? "hooked " : "") + std::to_string(how.gather_length);
}

std::vector<propagation_options> finishing_switches() {
    std::vector<propagation_options> all;
    for (const bool masters : {false, true})
        for (const bool hooked : {false, true}) {
            all.push_back({.neighbours = true, .links = false, .masters = masters, .hooked = hooked});
            all.push_back(
                {.neighbours = false, .links = true, .masters = masters, .hooked = hooked, .gather_length = 1});
            for (const int length : {1, 2, 3, 32, 64, 255, 256, 65535})
                all.push_back({.masters = masters, .hooked = hooked, .gather_length = length});
        }
    return all;
}

label_call drawn(const shape_t& shape, const flags_t& foreground, int connectivity) {
    label_case how;
    how.shape = shape;
    label_call c(how, {.connectivity = connectivity});
    c.draw(foreground);
    return c;
}

namespace {

label_case case_for(const shape_t& shape, std::uint64_t k) {
    label_case how = dressed(shape, k);
    if (how.label == dtype::uint16 && cells_of(shape) > 65535) how.label = dtype::int32;
    return how;
}

}  // namespace

// Without masters a label moves as far as links reach in a round: on a line of 70001 cells, links of two cells take
// 35000 rounds, six minutes on the stand-in. Long lines have long links there.
void walk_figures(const propagation_engine& engine, std::uint64_t every) {
    const std::vector<propagation_options> switches = finishing_switches();
    std::uint64_t k = 0;
    for (const auto* shapes : {&label_shapes(), &large_label_shapes()})
        for (const shape_case& s : *shapes)
            for (const figure kind : all_figures)
                for (int changes = 1; changes <= static_cast<int>(s.shape.size()); ++changes) {
                    if (++k % (shapes == &label_shapes() ? every : 8 * every) != 0 || !chosen(k)) continue;
                    propagation_options how = switches[mix(k + 50) % switches.size()];
                    if (!how.masters && *std::max_element(s.shape.begin(), s.shape.end()) > 10000)
                        how.links = true, how.gather_length = 65535;
                    label_call c(case_for(s.shape, k), {.connectivity = changes});
                    c.draw(make_figure(kind, s.shape, k));
                    ASSERT_EQ(check_propagation(engine, c, how), "")
                        << s.why << ' ' << name_of(kind) << ' ' << name_of(how) << " case " << k;
                }
}

void walk_criteria(const propagation_engine& engine, std::uint64_t every) {
    const std::vector<propagation_options> switches = finishing_switches();
    const scalar tolerances[] = {0, 1, 1.5, 30}, backgrounds[] = {0, 1, 7, 300, -1, 0.5};
    const shape_t shapes[] = {{65}, {7, 13}, {33, 40}, {3, 5, 7}, {9, 4, 33}};
    for (std::uint64_t k = every; k <= 1500; k += every) {
        if (!chosen(k)) continue;
        shape_t shape = shapes[mix(k + 20) % std::size(shapes)];
        label_options o{.connectivity = 1 + static_cast<int>(mix(k + 22) % shape.size())};
        o.criterion = std::array{criterion::nonzero, criterion::equal, criterion::within}[mix(k + 23) % 3];
        o.tolerance = tolerances[mix(k + 24) % 4], o.background = backgrounds[mix(k + 25) % 6];
        o.has_background = mix(k + 26) % 4 != 0, o.channels = mix(k + 21) % 3 == 0;
        o.norm = std::array{colour_norm::maximum, colour_norm::sum, colour_norm::euclidean}[mix(k + 27) % 3];
        if (o.channels) shape.push_back(1 + static_cast<std::int64_t>(mix(k + 28) % 4));
        label_case how = case_for(shape, k);
        if (o.channels)
            how.element = std::array{dtype::uint8, dtype::uint16, dtype::float32, dtype::float64}[mix(k + 29) % 4];
        label_call c(how, o);
        const std::uint64_t choices = std::array{2, 3, 9, 100}[mix(k + 30) % 4];
        const std::int64_t grain = std::array{1, 2, 5}[mix(k + 31) % 3];
        const auto value = [&](const shape_t& at) {
            return static_cast<std::int64_t>(grain_value(at, grain, choices, k));
        };
        c.write(over(shape, value), mix(k) % 4 == 0);
        const propagation_options& by = switches[mix(k + 50) % switches.size()];
        ASSERT_EQ(check_propagation(engine, c, by), "") << name_of(by) << " case " << k;
    }
}

void walk_rounds(const propagation_engine& engine, std::uint64_t every) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{200}, shape_t{40, 300}, shape_t{129, 131}, shape_t{12, 31, 40}})
        for (const figure kind : all_figures)
            for (const propagation_options& how : finishing_switches()) {
                if (how.hooked || mix(++k) % every != 0 || !chosen(k)) continue;
                label_call c = drawn(shape, make_figure(kind, shape), 1 + static_cast<int>(k % shape.size()));
                const std::int64_t expected = rounds_of_the_text(c, how);
                for (const int threads : {1, 2, 7}) {
                    c.how.threads = threads;
                    propagation_report came;
                    ASSERT_EQ(check_propagation(engine, c, how, &came), "");
                    ASSERT_EQ(came.rounds, expected) << name_of(kind) << ' ' << name_of(how) << " threads " << threads;
                }
            }
}

void walk_unfinished(const propagation_engine& engine) {
    for (const bool hooked : {false, true}) {
        label_call c = drawn({61, 67}, make_figure(figure::percolation4, {61, 67}), 1);
        propagation_options how{.hooked = hooked};
        const std::int64_t needed = engine(c, how).rounds;
        ASSERT_GT(needed, 2);
        for (const std::int64_t most : {1, 2}) {
            how.most_rounds = most;
            const std::string message = refusal(engine, c, how);
            EXPECT_TRUE(says(message, "unfinished after " + std::to_string(most) + " round")) << message;
        }
        how.most_rounds = needed + 20;  // rounds in place vary from run to run
        EXPECT_EQ(check_propagation(engine, c, how), "");
        if (hooked) continue;
        how.most_rounds = needed;
        EXPECT_EQ(check_propagation(engine, c, how), "");
        how.most_rounds = needed - 1;
        EXPECT_TRUE(says(refusal(engine, c, how), "give a larger most_rounds"));
    }
    // The ends of the cross's row read each other, and never learn what the middle learns from the column.
    for (const bool masters : {false, true})
        for (const bool hooked : {false, true})
            for (const int length : {2, 3, 64}) {
                const std::string message =
                    refusal(engine, drawn({3, 3}, cross(), 1),
                            {.neighbours = false, .masters = masters, .hooked = hooked, .gather_length = length});
                EXPECT_TRUE(says(message, "rounds; links alone skip cells")) << message;
            }
    EXPECT_EQ(refusal(engine, drawn({3, 3}, cross(), 1), {.neighbours = false, .gather_length = 1}), "");
}

}  // namespace nearfield::test
