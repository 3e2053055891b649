// What a step of a least-squares fit does to vectors over the rows, for one chunk of them.
#pragma once

#include "lane_sums.hpp"

namespace kp::KP_ISA {
namespace {

// z -= sum_t p[t] V[t * ldv + .] for `rows` rows.
template <class T>
KP_INLINE void subtract(Block<const T> block, const double* p, double* z) {
    const T* V = block.at;
    const Index ldv = block.ld, rows = block.n, m = block.m;
    const Index whole = rows / width * width;
    Index t = 0;
    for (; t + group <= m; t += group) {
        const Vd p0 = splat(-p[t]), p1 = splat(-p[t + 1]), p2 = splat(-p[t + 2]), p3 = splat(-p[t + 3]);
        const T* v = V + t * ldv;
        for (Index i = 0; i < whole; i += width) {
            Vd part = fma(load_double(v + i), p0, load(z + i));
            part = fma(load_double(v + ldv + i), p1, part);
            part = fma(load_double(v + 2 * ldv + i), p2, part);
            store(z + i, fma(load_double(v + 3 * ldv + i), p3, part));
        }
    }
    for (; t < m; ++t)
        for (Index i = 0; i < whole; i += width)
            store(z + i, fma(load_double(V + t * ldv + i), splat(-p[t]), load(z + i)));
    for (Index i = whole; i < rows; ++i)
        for (t = 0; t < m; ++t) z[i] -= p[t] * double(V[t * ldv + i]);
}

template <class T>
void sweep(Block<const T> block, const double* p, double* z, double* sums, void* scratch) {
    const T* V = block.at;
    const Index ldv = block.ld, n = block.n, m = block.m;
    double* lane_sums = static_cast<double*>(scratch);
    for (Index i = 0; i < (m + 1) * lanes; ++i) lane_sums[i] = 0;
    // A chunk of a few hundred directions is still in a shared cache when it is read for the second time.
    subtract(block, p, z);
    for (Index t = 0; t < m; t += group)
        add_group(V + t * ldv, ldv, n, m - t < group ? m - t : group, TimesVector{z}, lane_sums + t * lanes, lanes);
    add_rows<1>(z, Index(0), n, TimesItself{}, lane_sums + m * lanes, lanes);
    for (Index t = 0; t <= m; ++t) sums[t] = tree(lane_sums + t * lanes);
}

// left -= factor v; returns the squared length after it.
double subtract_and_square(double* left, const double* v, double factor, Index n) {
    double sums[lanes] = {};
    const Index whole = n / lanes * lanes;
    for (Index i = 0; i < whole; i += lanes)
        for (Index lane = 0; lane < lanes; ++lane) {
            left[i + lane] -= factor * v[i + lane];
            sums[lane] += left[i + lane] * left[i + lane];
        }
    for (Index i = whole; i < n; ++i) {
        left[i] -= factor * v[i];
        sums[i - whole] += left[i] * left[i];
    }
    return tree(sums);
}

// Sums over rows of the squares of r + m, and mean squares of e = r / left + s, into errors; m and s may be null.
void leave_out(Block<const double> residuals, const double* m, const double* s, const double* left, double* errors,
               double* squares) {
    const double* r = residuals.at;
    const Index ld = residuals.ld, n = residuals.n, targets = residuals.m;
    for (Index i = 0; i < n; ++i) errors[i] = 0;
    for (Index t = 0; t < targets; ++t, r += ld) {
        double sums[lanes] = {};
        const Index whole = n / lanes * lanes;
        for (Index i = 0; i < whole; i += lanes)
            for (Index lane = 0; lane < lanes; ++lane) {
                const double predicted = m ? r[i + lane] + m[t * ld + i + lane] : r[i + lane];
                sums[lane] += predicted * predicted;
            }
        for (Index i = whole; i < n; ++i) {
            const double predicted = m ? r[i] + m[t * ld + i] : r[i];
            sums[i - whole] += predicted * predicted;
        }
        squares[t] = tree(sums);
        if (s)
            for (Index i = 0; i < n; ++i) {
                const double without = r[i] / left[i] + s[t * ld + i];
                errors[i] += without * without;
            }
        else
            for (Index i = 0; i < n; ++i) {
                const double without = r[i] / left[i];
                errors[i] += without * without;
            }
    }
    const double share = 1.0 / double(targets);
    for (Index i = 0; i < n; ++i) errors[i] *= share;
}

template <class T>
void rotate(Block<T> V, const double* c, const double* s) {
    // A row is written by one rotation and read by the next: few enough columns, and it is still in cache.
    constexpr Index step = 256;
    for (Index i = 0; i < V.n; i += step) {
        const Index rows = V.n - i < step ? V.n - i : step;
        for (Index t = 0; t + 1 < V.m; ++t) {
            T *upper = V.at + t * V.ld + i, *lower = upper + V.ld;
            for (Index r = 0; r < rows; ++r) {
                const double a = upper[r], b = lower[r];
                upper[r] = T(c[t] * a + s[t] * b);
                lower[r] = T(c[t] * b - s[t] * a);
            }
        }
    }
}

}  // namespace
}  // namespace kp::KP_ISA
