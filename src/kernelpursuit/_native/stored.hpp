// D'V from stored columns, with the bits that the columns computed anew would give.
#pragma once

#include "lane_sums.hpp"

namespace kp::KP_ISA {
namespace {

// Vectors and rows that stay in a level-1 cache while stored atoms are multiplied with them, group by group.
constexpr Index stored_vectors = 24, stored_rows = 128;
// Vectors that share the loads of a group: with its sums they fill the registers.
constexpr int together = 3;

// What add_rows<group> does for each of `together` vectors, lane by lane the same sums.
template <class T>
KP_INLINE void add_block(const T* values, Index ldb, Index rows, const double* V, Index ldv, double* sums) {
    for (int v = 0; v < lane_vectors; ++v) {
        Vd sum[together][group];
        for (int t = 0; t < together; ++t)
            for (int j = 0; j < group; ++j) sum[t][j] = load(sums + (t * group + j) * lanes + v * width);
        for (Index i = v * width; i < rows; i += lanes) {
            Vd factor[together];
            for (int t = 0; t < together; ++t) factor[t] = load(V + t * ldv + i);
            for (int j = 0; j < group; ++j) {
                const Vd value = load_double(values + j * ldb + i);
                for (int t = 0; t < together; ++t) sum[t][j] = fma(factor[t], value, sum[t][j]);
            }
        }
        for (int t = 0; t < together; ++t)
            for (int j = 0; j < group; ++j) store(sums + (t * group + j) * lanes + v * width, sum[t][j]);
    }
}

template <class T>
void stored(Block<const T> block, Vectors by, double* sums, Index lds) {
    const Index ldb = block.ld, n = block.n, m = block.m, q = by.q, ldv = by.ld;
    const bool squares = by.squares;
    // A few vectors are read along with whole chunks of atoms; many take turns with pieces of them.
    const Index step = q < together ? n : stored_rows;
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
                Index t = 0;
                if (atoms == group && rows % lanes == 0)
                    for (; t + together <= vectors; t += together)
                        add_block(values, ldb, rows, factors + t * ldv + i, ldv, target + t * group * lanes);
                for (; t < vectors; ++t)
                    add_group(values, ldb, rows, atoms, TimesVector{factors + t * ldv + i}, target + t * atoms * lanes,
                              lanes);
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
