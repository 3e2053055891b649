// A block of kernel values, and D c and D'V without storing it, for one task.
#pragma once

#include "composition.hpp"
#include "lane_sums.hpp"

namespace kp::KP_ISA {
namespace {

template <class T>
struct Scratch {
    T *packed, *values, *above;
    double* sums;

    Scratch(const Task<T>& task) {
        // The caller's memory is aligned to 64 bytes, and pass_rows is a multiple of 32.
        const Index rows = pass_rows(task.d, sizeof(T)), stack = group * (1 + task.kernel.depth);
        sums = static_cast<double*>(task.scratch) + rows * (task.d + stack) * Index(sizeof(T)) / 8;
        packed = static_cast<T*>(task.scratch);
        values = packed + rows * task.d;
        above = values + rows * group;
    }
};

// The group of atoms from j on, at packed rows.
template <class T>
KP_INLINE Inputs<T> inputs_at(const Task<T>& task, const T* packed, Index panels, Index j) {
    const Index atoms = task.m - j < group ? task.m - j : group;
    return {packed, panels, task.d, task.d, task.C + j * task.d, from(task.f, j), atoms};
}

// Calls visit(first row, rows, first atom, atoms, values, stride) for every group of atoms at every pass of rows.
template <class T, class Visit>
KP_INLINE void for_values(const Task<T>& task, const Scratch<T>& s, Visit visit) {
    const Index pass = pass_rows(task.d, sizeof(T)), n = task.n, d = task.d;
    for (Index i = 0; i < n; i += pass) {
        const Index rows = n - i < pass ? n - i : pass;
        const Index panels = pack(task.X + i * d, rows, d, s.packed);
        for (Index j = 0; j < task.m; j += group) {
            const Inputs<T> in = inputs_at(task, s.packed, panels, j);
            evaluate(task.kernel, in, {s.values, pass}, s.above, pass);
            visit(i, rows, j, in.atoms, s.values, pass);
        }
    }
}

template <class T>
void block(const Task<T>& task, T* out, Index ldo) {
    const Scratch<T> s(task);
    const Index pass = pass_rows(task.d, sizeof(T)), n = task.n, d = task.d;
    for (Index i = 0; i < n; i += pass) {
        const Index rows = n - i < pass ? n - i : pass;
        const Index panels = pack(task.X + i * d, rows, d, s.packed);
        const Index whole = rows / panel_rows<T>, rest = rows % panel_rows<T>;
        for (Index j = 0; j < task.m; j += group) {
            T* target = out + j * ldo + i;
            const Inputs<T> in = inputs_at(task, s.packed, whole, j);
            evaluate(task.kernel, in, {target, ldo}, s.above, pass);
            if (whole == panels) continue;
            // The last panel is computed in full beside the output, and its valid part copied.
            const Inputs<T> last = inputs_at(task, s.packed + whole * panel_rows<T> * d, 1, j);
            evaluate(task.kernel, last, {s.values, panel_rows<T>}, s.above, pass);
            for (Index a = 0; a < in.atoms; ++a)
                for (Index r = 0; r < rest; ++r)
                    target[a * ldo + whole * panel_rows<T> + r] = s.values[a * panel_rows<T> + r];
        }
    }
}

template <class T>
void rmatvec(const Task<T>& task, Vectors by, double* sums, Index lds) {
    const Scratch<T> s(task);
    const Index q = by.q, width = q + by.squares, stride = width * lanes;
    for (Index i = 0; i < task.m * stride; ++i) s.sums[i] = 0;
    for_values(task, s, [&](Index i, Index rows, Index j, Index atoms, const T* values, Index ld) {
        double* target = s.sums + j * stride;
        add_vectors(Block<const T>{values, ld, rows, atoms}, {by.V + i, q, by.ld, false, nullptr}, target,
                    {lanes, stride});
        if (by.squares && by.w)
            add_group(values, ld, rows, atoms, TimesWeighted{by.w + i}, target + q * lanes, stride);
        else if (by.squares)
            add_group(values, ld, rows, atoms, TimesItself{}, target + q * lanes, stride);
    });
    for (Index t = 0; t < width; ++t)
        for (Index j = 0; j < task.m; ++j) sums[t * lds + j] = tree(s.sums + j * stride + t * lanes);
}

template <class T>
void matvec(const Task<T>& task, const double* coef, Index q, double* out) {
    const Scratch<T> s(task);
    for_values(task, s, [&](Index i, Index rows, Index j, Index atoms, const T* values, Index ld) {
        // Whole vectors: the values of the rows beyond the last one are there, and never copied out.
        for (Index t = 0; t < q; ++t) {
            double* sums = s.sums + t * ld;
            const double* c = coef + j * q + t;
            if (j == 0)
                for (Index r = 0; r < rows + width - 1 && r < ld; ++r) sums[r] = 0;
            if (atoms == group) {
                const Vd c0 = splat(c[0]), c1 = splat(c[q]), c2 = splat(c[2 * q]), c3 = splat(c[3 * q]);
                for (Index r = 0; r < rows; r += width) {
                    Vd sum = load(sums + r);
                    sum = fma(load_double(values + r), c0, sum);
                    sum = fma(load_double(values + ld + r), c1, sum);
                    sum = fma(load_double(values + 2 * ld + r), c2, sum);
                    store(sums + r, fma(load_double(values + 3 * ld + r), c3, sum));
                }
            } else {
                for (Index a = 0; a < atoms; ++a)
                    for (Index r = 0; r < rows; r += width)
                        store(sums + r, fma(load_double(values + a * ld + r), splat(c[a * q]), load(sums + r)));
            }
            if (j + atoms == task.m)
                for (Index r = 0; r < rows; ++r) out[(i + r) * q + t] += sums[r];
        }
    });
}

}  // namespace
}  // namespace kp::KP_ISA
