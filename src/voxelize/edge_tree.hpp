// Open edges in a hierarchy, for the host: sums of winding numbers to within a bound that they tell.
//
// Edges that follow one another are a chain. The part of a chain between two of its vertices spans the same solid angle
// with the upward direction as the straight edge between them, apart from that of the fan of triangles between both,
// which is that of a dipole in its box to within 2 area radius / distance^3. This holds for cells that are
// not above the fan; above it a whole turn lies between the two. Chains that end where they begin, as the rims of holes
// do, leave the dipole alone.
#pragma once

#include <vector>

#include "voxelize/room.hpp"
#include "voxelize/winding.hpp"

namespace nearfield::voxels {

/// The open edges of a mesh on a lattice.
[[nodiscard]] open_edges edges_of(const lattice& l);

class edge_tree {
public:
    explicit edge_tree(const open_edges& of);

    static constexpr double coarse = 1.0 / 512, fine = 1.0 / 8192;

    /// The sum at a cell. Nodes count as a straight edge and a dipole if they differ by at most `allowed` turns;
    /// `change` bounds these differences too. Stops where `change` shows that sums are not settled within the reach.
    [[nodiscard]] open_edges::seen at(const std::int64_t* cell, double reach, double allowed) const;
    /// True if the upward extension of an edge may meet the box of lattice points from `first` to `last`.
    [[nodiscard]] bool is_below(const std::int64_t* first, const std::int64_t* last) const;

private:
    using chain = std::vector<meshes::open_edge>;
    /// A part of a chain, or several whole chains. Its parts follow it.
    struct node {
        std::int32_t low[3] = {}, high[3] = {};
        double half[3] = {};                ///< of its box
        double area = 0, normal[3] = {};    ///< of its fans, times net
        double middle[3] = {}, radius = 0;  ///< of its box
        meshes::open_edge straight{};       ///< none if both ends are the same
        std::uint32_t after = 0;            ///< the next node that is not a part of it
        bool is_edge = false;
    };
    [[nodiscard]] static std::vector<chain> chains_of(const open_edges& of);
    [[nodiscard]] node measured(const meshes::open_edge* first, std::int64_t count) const;
    std::size_t add(node made);
    void add_part(const meshes::open_edge* first, std::int64_t count);
    void add_chains(chain* first, std::int64_t count);

    open_edges edges_;
    std::vector<node> nodes_;
};

}  // namespace nearfield::voxels
