// Sums over rows by lane: the one order in which values times vectors are added, wherever they come from.
#pragma once

#include "simd.hpp"
#include "tiles.hpp"

namespace kp::KP_ISA {
namespace {

constexpr int width = Simd<double>::width;
constexpr int lane_vectors = lanes / width;

// What a value is multiplied with before it is added: the vector's entry, itself, or itself times a weight.
struct TimesVector {
    const double* v;
    KP_INLINE TimesVector at(const double* p) const { return {p}; }
    KP_INLINE Vd operator()(Index i, Vd) const { return load(v + i); }
};
struct TimesItself {
    static constexpr const double* v = nullptr;
    KP_INLINE TimesItself at(const double*) const { return {}; }
    KP_INLINE Vd operator()(Index, Vd value) const { return value; }
};
struct TimesWeighted {
    const double* v;
    KP_INLINE TimesWeighted at(const double* p) const { return {p}; }
    KP_INLINE Vd operator()(Index i, Vd value) const { return load(v + i) * value; }
};

// sums[j * stride + lane] += values of `atoms` rows times the factor; rows start at a multiple of `lanes`.
template <int atoms, class T, class Factor>
KP_INLINE void add_rows(const T* values, Index ldv, Index rows, Factor factor, double* sums, Index stride) {
    Vd sum[atoms][lane_vectors];
    for (int j = 0; j < atoms; ++j)
        for (int v = 0; v < lane_vectors; ++v) sum[j][v] = load(sums + j * stride + v * width);
    Index i = 0;
    for (; i + lanes <= rows; i += lanes)
        for (int v = 0; v < lane_vectors; ++v)
            for (int j = 0; j < atoms; ++j) {
                const Vd value = load_double(values + j * ldv + i + v * width);
                sum[j][v] = fma(factor(i + v * width, value), value, sum[j][v]);
            }
    if (i < rows) {
        // The last rows go through the same arithmetic, filled up with zeros.
        double v_rest[lanes] = {};
        T rest[atoms][lanes] = {};
        for (Index r = 0; i + r < rows; ++r) {
            if (factor.v) v_rest[r] = factor.v[i + r];
            for (int j = 0; j < atoms; ++j) rest[j][r] = values[j * ldv + i + r];
        }
        const Factor last = factor.at(v_rest);
        for (int v = 0; v < lane_vectors; ++v)
            for (int j = 0; j < atoms; ++j) {
                const Vd value = load_double(&rest[j][v * width]);
                sum[j][v] = fma(last(v * width, value), value, sum[j][v]);
            }
    }
    for (int j = 0; j < atoms; ++j)
        for (int v = 0; v < lane_vectors; ++v) store(sums + j * stride + v * width, sum[j][v]);
}

template <class T, class Factor>
KP_INLINE void add_group(const T* values, Index ldv, Index rows, Index atoms, Factor factor, double* sums, Index stride) {
    if (atoms == group)
        add_rows<group>(values, ldv, rows, factor, sums, stride);
    else
        for (Index j = 0; j < atoms; ++j) add_rows<1>(values + j * ldv, ldv, rows, factor, sums + j * stride, stride);
}

// Vectors that share the loads of a group: with its sums they fill the registers, 32 of them or 16.
constexpr int together = vector_bytes == 64 ? 6 : 3;

// Where the sums of a vector and of an atom lie: sums[t * vector + j * atom + lane].
struct Strides {
    Index vector, atom;
};

// What add_rows<group> does for each of `count` vectors, lane by lane the same sums.
template <int count, class T>
KP_INLINE void add_block(Block<const T> values, const double* V, Index ldv, double* sums, Strides by) {
    for (int v = 0; v < lane_vectors; ++v) {
        Vd sum[count][group];
        for (int t = 0; t < count; ++t)
            for (int j = 0; j < group; ++j) sum[t][j] = load(sums + t * by.vector + j * by.atom + v * width);
        for (Index i = v * width; i < values.n; i += lanes) {
            Vd factor[count];
            for (int t = 0; t < count; ++t) factor[t] = load(V + t * ldv + i);
            for (int j = 0; j < group; ++j) {
                const Vd value = load_double(values.at + j * values.ld + i);
                for (int t = 0; t < count; ++t) sum[t][j] = fma(factor[t], value, sum[t][j]);
            }
        }
        for (int t = 0; t < count; ++t)
            for (int j = 0; j < group; ++j) store(sums + t * by.vector + j * by.atom + v * width, sum[t][j]);
    }
}

// Adds values of a group of atoms times each of several vectors, as many of these together as registers hold.
template <class T>
KP_INLINE void add_vectors(Block<const T> values, Vectors factors, double* sums, Strides by) {
    Index t = 0;
    if (values.m == group && values.n % lanes == 0) {
        for (; t + together <= factors.q; t += together)
            add_block<together>(values, factors.V + t * factors.ld, factors.ld, sums + t * by.vector, by);
        for (; t + 2 <= factors.q; t += 2)
            add_block<2>(values, factors.V + t * factors.ld, factors.ld, sums + t * by.vector, by);
    }
    for (; t < factors.q; ++t)
        add_group(values.at, values.ld, values.n, values.m, TimesVector{factors.V + t * factors.ld},
                  sums + t * by.vector, by.atom);
}

KP_INLINE double tree(const double* s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

}  // namespace
}  // namespace kp::KP_ISA
