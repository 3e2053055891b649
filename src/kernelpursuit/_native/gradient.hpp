// The gradient of a function of a block's values through centres, feature scales and factors, for one task.
#pragma once

#include "products.hpp"

namespace kp::KP_ISA {
namespace {

// The two terms of a row in the gradient: how the kernel's sum changes with the centre, and with the feature's scale.
struct SquareTerms {
    static KP_INLINE void add(Vd& first, Vd& second, Vd difference, Vd p) {
        const Vd term = p * difference;
        first = first + term;
        second = fma(term, difference, second);
    }
};
struct AbsoluteTerms {
    static KP_INLINE void add(Vd& first, Vd& second, Vd difference, Vd p) {
        typedef Simd<double>::I I;
        const I sign = (I)difference & (I)splat(-0.0), nonzero = (I)(difference != Vd{});
        first = first + (Vd)(((I)p ^ sign) & nonzero);
        second = fma((Vd)((I)difference ^ sign), p, second);
    }
};

// sums[a * stride + lane] and sums[a * stride + half + lane] += the terms of `atoms` centres at one feature. x points
// to the feature in the first panel, c to it in the first centre; rows are a multiple of `lanes` and of a panel.
template <class Terms, int atoms, class T>
KP_INLINE void add_terms(const T* x, Index rows, Index d, const T* c, const double* P, Index ldp, double* sums,
                         Index stride, Index half) {
    constexpr Index panel = panel_rows<T>, unit = panel > lanes ? panel : lanes;
    Vd centre[atoms];
    for (int a = 0; a < atoms; ++a) centre[a] = splat(double(c[a * d]));
    for (int v = 0; v < lane_vectors; ++v) {
        Vd first[atoms], second[atoms];
        double* target = sums + v * width;
        for (int a = 0; a < atoms; ++a) {
            first[a] = load(target + a * stride);
            second[a] = load(target + a * stride + half);
        }
        for (Index i = 0; i < rows; i += unit)
            for (Index r = v * width; r < unit; r += lanes) {
                const Vd row = load_double(x + (i + r / panel * panel) * d + r % panel);
                for (int a = 0; a < atoms; ++a)
                    Terms::add(first[a], second[a], row - centre[a], load(P + a * ldp + i + r));
            }
        for (int a = 0; a < atoms; ++a) {
            store(target + a * stride, first[a]);
            store(target + a * stride + half, second[a]);
        }
    }
}

// P = derivatives times G in float64, zero from `rows` to `padded`.
template <class T>
KP_INLINE void weigh(const T* derivatives, const T* G, Index rows, Index padded, double* P) {
    Index i = 0;
    for (; i + width <= rows; i += width) store(P + i, load_double(derivatives + i) * load_double(G + i));
    for (; i < rows; ++i) P[i] = double(derivatives[i]) * double(G[i]);
    for (; i < padded; ++i) P[i] = 0;
}

template <class Terms, class T>
void pull_back(const Task<T>& task, const T* G, Index ldg, double* sums, Index lds) {
    const Scratch<T> s(task);
    const Index n = task.n, d = task.d, m = task.m;
    const Index pass = pass_rows(d, sizeof(T)), half = d * lanes, stride = 2 * half;
    double *P = s.sums, *lane_sums = s.sums + group * pass;
    for (Index i = 0; i < m * stride; ++i) lane_sums[i] = 0;
    for (Index i = 0; i < n; i += pass) {
        const Index rows = n - i < pass ? n - i : pass;
        Index panels = pack(task.X + i * d, rows, d, s.packed);
        // Panels of rows that are not there fill up the last lanes.
        for (; panels * panel_rows<T> % lanes; ++panels)
            for (Index k = 0; k < d * panel_rows<T>; ++k) s.packed[panels * panel_rows<T> * d + k] = 0;
        const Index padded = panels * panel_rows<T>;
        for (Index j = 0; j < m; j += group) {
            const Inputs<T> in = inputs_at(task, s.packed, panels, j);
            const Index atoms = in.atoms;
            derivatives(task.kernel.steps[0], in, s.values, pass);
            for (Index a = 0; a < atoms; ++a)
                weigh(s.values + a * pass, G + (j + a) * ldg + i, rows, padded, P + a * pass);
            for (Index k = 0; k < d; ++k) {
                const T *x = s.packed + k * panel_rows<T>, *c = in.c + k;
                double* target = lane_sums + j * stride + k * lanes;
                if (atoms == group)
                    add_terms<Terms, group>(x, padded, d, c, P, pass, target, stride, half);
                else
                    for (Index a = 0; a < atoms; ++a)
                        add_terms<Terms, 1>(x, padded, d, c + a * d, P + a * pass, pass, target + a * stride, stride,
                                            half);
            }
        }
    }
    for (Index t = 0; t < 2 * d; ++t)
        for (Index j = 0; j < m; ++j) sums[t * lds + j] = tree(lane_sums + j * stride + t * lanes);
}

template <class T>
void pullback(const Task<T>& task, const T* G, Index ldg, double* sums, Index lds) {
    if (task.kernel.kind() == Kind::laplacian)
        pull_back<AbsoluteTerms>(task, G, ldg, sums, lds);
    else
        pull_back<SquareTerms>(task, G, ldg, sums, lds);
}

}  // namespace
}  // namespace kp::KP_ISA
