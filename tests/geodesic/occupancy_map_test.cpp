// Maps of ROS: what is written is read, grays mean what map_server says, and malformed files are refused.
#include <gtest/gtest.h>

#include <fstream>

#include "folder.hpp"
#include "nearfield/esdf.hpp"
#include "nearfield/occupancy_map.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

class OccupancyMap : public testing::Test {
protected:
    std::string put(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return (folder_ / name).string();
    }
    static void expect_malformed(const std::string& path, const char* word) {
        try {
            static_cast<void>(read_map(path));
            ADD_FAILURE() << "was read; expected an error about " << word;
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::io) << e.what();
            EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
        }
    }

    const folder folder_;
};

using bytes = std::vector<std::uint8_t>;

TEST_F(OccupancyMap, GraysMeanWhatMapServerSays) {
    const bytes usual{costmap_lethal, costmap_unknown, costmap_free},
        white{costmap_free, costmap_lethal, costmap_lethal};
    const std::string image = put("map.pgm", std::string("P5\n# by map_saver\n3 # wide\n1\n255\n") + '\0' + "\xcd\xfe");
    EXPECT_EQ(read_map(image).costs, usual);
    const std::string yaml =
        put("map.yaml", "# a map\nimage: \"map.pgm\" # beside\nresolution: 0.1\r\norigin: [-1, 2.5, 0.0]\n");
    const occupancy_map map = read_map(yaml);
    EXPECT_EQ(map.costs, usual);
    EXPECT_EQ(map.rows, 1);
    EXPECT_EQ(map.columns, 3);
    EXPECT_EQ(map.info.resolution, 0.1);
    EXPECT_EQ(map.info.origin, (std::array<double, 3>{-1, 2.5, 0}));
    EXPECT_EQ(map.view().shape[1], 3);
    EXPECT_EQ(read_map(put("negate.yaml", "image: map.pgm\nresolution: 1\nnegate: 1\n")).costs, white);
    const bytes strict{costmap_lethal, costmap_free, costmap_free};
    EXPECT_EQ(read_map(put("strict.yaml", "image: map.pgm\nresolution: 1\nfree_thresh: 0.5\nmode: trinary\n")).costs,
              strict);
}

/// By hand: shares 1, 0.8, 0.5, 0.3 and 0 between 0.2 and 0.8 are lethal, 100 %, 50 %, 16 % and free.
TEST_F(OccupancyMap, ScaledGraysLieBetween) {
    put("map.pgm", std::string("P5 5 1 255\n") + '\0' + '\x33' + '\x80' + '\xb3' + '\xff');
    const std::string words = "image: map.pgm\nresolution: 1\noccupied_thresh: 0.8\nfree_thresh: 0.2\nmode: ";
    EXPECT_EQ(read_map(put("scale.yaml", words + "scale\n")).costs, (bytes{254, 254, 127, 40, 0}));
    EXPECT_EQ(read_map(put("raw.yaml", words + "raw\n")).costs, (bytes{0, 0x33, 0x80, 0xb3, 255}));
    map_info equal;
    equal.mode = "scale", equal.occupied = equal.free = 0.6;
    bytes grays{0, 102, 255};  // the share of 102 is 0.6
    grays_to_costs(equal, grays);
    EXPECT_EQ(grays, (bytes{254, 254, 0}));
}

TEST_F(OccupancyMap, WhatIsWrittenIsRead) {
    occupancy_map map{{}, 2, 3, {0, 1, 253, 254, 255, '#'}};
    map.info.resolution = 0.05, map.info.origin = {1e-3, -12.25, 3};
    const std::string path = (folder_ / "costs.yaml").string();
    write_map(path, map);
    const occupancy_map again = read_map(path);
    EXPECT_EQ(again.costs, map.costs);
    EXPECT_EQ(again.columns, 3);
    EXPECT_EQ(again.info.resolution, 0.05);
    EXPECT_EQ(again.info.origin, map.info.origin);
    map.costs.pop_back();
    expect_refused([&] { write_map(path, map); }, {"costs", "5"});
    expect_refused([&] { write_map("map.pgm", map); }, {"yaml"});
}

TEST_F(OccupancyMap, RefusesMalformedFiles) {
    expect_malformed((folder_ / "none.yaml").string(), "No such file");
    expect_malformed(put("a.yaml", "resolution: 1\n"), "image");
    expect_malformed(put("b.yaml", "image: map.pgm\n"), "resolution");
    expect_malformed(put("c.yaml", "image: map.pgm\nresolution: one\n"), "resolution is one");
    expect_malformed(put("l.yaml", "image: map.pgm\nresolution: inf\n"), "resolution is inf");
    expect_malformed(put("d.yaml", "image: map.pgm\nresolution: 1\norigin: [0, 0]\n"), "origin");
    expect_malformed(put("e.pgm", "P2 1 1 255 0"), "P5");
    expect_malformed(put("f.pgm", "P5 4 4 255\n123"), "ends before");
    expect_malformed(put("g.pgm", "P5 4 4 65535\n0123456789abcdef"), "255");
    expect_malformed(put("h.pgm", "P5 4000000000 4000000000 255\n0"), "header");
    expect_malformed(put("i.pgm", "P5 -1 4 255\n0123"), "header");
    expect_malformed(put("j.pgm", "P5 # a comment"), "header");
    put("map.pgm", "P5 1 1 255\n0");
    expect_refused([&] { static_cast<void>(read_map(put("k.yaml", "image: map.pgm\nresolution: 1\nmode: grey\n"))); },
                   {"grey", "scale"});
}

}  // namespace
}  // namespace nearfield::test
