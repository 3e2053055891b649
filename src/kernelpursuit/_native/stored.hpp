// D'V from stored columns, with the bits that the columns computed anew would give.
#pragma once

#include "lane_sums.hpp"

namespace kp::KP_ISA {
namespace {

// Vectors and rows that stay in a level-2 cache while stored atoms are multiplied with them, group by group. Shorter
// pieces, for a level-1 cache, were measured to be slower: atoms are then read in bursts too short to be fetched ahead.
constexpr Index stored_vectors = 24, stored_rows = 512;
// Fewer vectors than this are read along with whole chunks of atoms.
constexpr Index few_vectors = 3;

template <class T>
void stored(Block<const T> block, Vectors by, double* sums, Index lds) {
    const Index ldb = block.ld, n = block.n, m = block.m, q = by.q, ldv = by.ld;
    const bool squares = by.squares;
    // A few vectors are read along with whole chunks of atoms; many take turns with pieces of them.
    const Index step = q < few_vectors ? n : stored_rows;
    double s[stored_vectors * stored_atoms * lanes];
    for (Index first = 0; first < q || (squares && first == 0); first += stored_vectors) {
        const Index vectors = q - first < stored_vectors ? q - first : stored_vectors;
        const double* factors = by.V + first * ldv;
        for (Index j = 0; j < m * vectors * lanes; ++j) s[j] = 0;
        double own[stored_atoms * lanes] = {};
        for (Index i = 0; i < n; i += step) {
            const Index rows = n - i < step ? n - i : step;
            for (Index j = 0; j < m; j += group) {
                const Index atoms = m - j < group ? m - j : group;
                const T* values = block.at + j * ldb + i;
                double* target = s + j * vectors * lanes;
                add_vectors(Block<const T>{values, ldb, rows, atoms}, {factors + i, vectors, ldv, false, nullptr}, target,
                            {atoms * lanes, lanes});
                if (squares && first == 0) add_group(values, ldb, rows, atoms, TimesItself{}, own + j * lanes, lanes);
            }
        }
        for (Index j = 0; j < m; j += group) {
            const Index atoms = m - j < group ? m - j : group;
            for (Index t = 0; t < vectors; ++t)
                for (Index a = 0; a < atoms; ++a)
                    sums[(first + t) * lds + j + a] = tree(s + (j * vectors + t * atoms + a) * lanes);
            if (squares && first == 0)
                for (Index a = 0; a < atoms; ++a) sums[q * lds + j + a] = tree(own + (j + a) * lanes);
        }
    }
}

}  // namespace
}  // namespace kp::KP_ISA
