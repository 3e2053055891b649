// The operations on one task, for the instruction set KP_ISA names. Compiled once for each set, so nothing
// here may have external linkage but the two tables at the end, and no library template may be instantiated.
#include "tiles.hpp"

#include "values.hpp"

namespace kp::KP_ISA {
namespace {

constexpr int width = Simd<double>::width;
constexpr int lane_vectors = lanes / width;

template <class T>
struct Scratch {
    T* packed;
    T* values;
    double* sums;

    Scratch(void* memory, Index d) {
        // The caller's memory is aligned to 64 bytes, and pass_rows is a multiple of 32.
        const Index rows = pass_rows(d, sizeof(T));
        sums = static_cast<double*>(memory) + rows * (d + group) * Index(sizeof(T)) / 8;
        packed = static_cast<T*>(memory);
        values = packed + rows * d;
    }
};

// Calls visit(first row, rows, first atom, atoms, values, stride) for every group of atoms at every pass of rows.
template <class T, class Visit>
KP_INLINE void for_values(const Kernel& kernel, const T* X, Index n, Index d, const T* C, const T* f, Index m,
                          const Scratch<T>& s, Visit visit) {
    const Index pass = pass_rows(d, sizeof(T));
    for (Index i = 0; i < n; i += pass) {
        const Index rows = n - i < pass ? n - i : pass;
        const Index panels = pack(X + i * d, rows, d, s.packed);
        for (Index j = 0; j < m; j += group) {
            const Index atoms = m - j < group ? m - j : group;
            values(kernel, s.packed, panels, d, C + j * d, from(f, j), atoms, s.values, pass);
            visit(i, rows, j, atoms, s.values, pass);
        }
    }
}

template <class T>
void block(Kernel kernel, const T* X, Index n, Index d, const T* C, const T* f, Index m, T* out, Index ldo,
           void* scratch) {
    const Scratch<T> s(scratch, d);
    const Index pass = pass_rows(d, sizeof(T));
    for (Index i = 0; i < n; i += pass) {
        const Index rows = n - i < pass ? n - i : pass;
        const Index panels = pack(X + i * d, rows, d, s.packed);
        const Index whole = rows / panel_rows<T>, rest = rows % panel_rows<T>;
        for (Index j = 0; j < m; j += group) {
            const Index atoms = m - j < group ? m - j : group;
            T* target = out + j * ldo + i;
            values(kernel, s.packed, whole, d, C + j * d, from(f, j), atoms, target, ldo);
            if (whole == panels) continue;
            // The last panel is computed in full beside the output, and its valid part copied.
            values(kernel, s.packed + whole * panel_rows<T> * d, 1, d, C + j * d, from(f, j), atoms, s.values,
                   panel_rows<T>);
            for (Index a = 0; a < atoms; ++a)
                for (Index r = 0; r < rest; ++r)
                    target[a * ldo + whole * panel_rows<T> + r] = s.values[a * panel_rows<T> + r];
        }
    }
}

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

KP_INLINE double tree(const double* s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

template <class T>
void rmatvec(Kernel kernel, const T* X, Index n, Index d, const T* C, const T* f, Index m, const double* V, Index q,
             Index ldv, bool squares, const double* w, double* sums, Index lds, void* scratch) {
    const Scratch<T> s(scratch, d);
    const Index width = q + squares, stride = width * lanes;
    for (Index i = 0; i < m * stride; ++i) s.sums[i] = 0;
    for_values(kernel, X, n, d, C, f, m, s, [&](Index i, Index rows, Index j, Index atoms, const T* values, Index ld) {
        double* target = s.sums + j * stride;
        for (Index t = 0; t < q; ++t)
            add_group(values, ld, rows, atoms, TimesVector{V + t * ldv + i}, target + t * lanes, stride);
        if (squares && w)
            add_group(values, ld, rows, atoms, TimesWeighted{w + i}, target + q * lanes, stride);
        else if (squares)
            add_group(values, ld, rows, atoms, TimesItself{}, target + q * lanes, stride);
    });
    for (Index t = 0; t < width; ++t)
        for (Index j = 0; j < m; ++j) sums[t * lds + j] = tree(s.sums + j * stride + t * lanes);
}

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
void stored(const T* block, Index ldb, Index n, Index m, const double* V, Index q, Index ldv, bool squares, double* sums,
            Index lds) {
    // A few vectors are read along with whole chunks of atoms; many take turns with pieces of them.
    const Index step = q < together ? n : stored_rows;
    double s[stored_vectors * stored_atoms * lanes];
    for (Index first = 0; first < q || (squares && first == 0); first += stored_vectors) {
        const Index vectors = q - first < stored_vectors ? q - first : stored_vectors;
        const double* factors = V + first * ldv;
        for (Index j = 0; j < m * vectors * lanes; ++j) s[j] = 0;
        double own[stored_atoms * lanes] = {};
        for (Index i = 0; i < n; i += step) {
            const Index rows = n - i < step ? n - i : step;
            for (Index j = 0; j < m; j += group) {
                const Index atoms = m - j < group ? m - j : group;
                const T* values = block + j * ldb + i;
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

// z -= sum_t p[t] V[t * ldv + .] for `rows` rows.
template <class T>
KP_INLINE void subtract(const T* V, Index ldv, Index rows, Index m, const double* p, double* z) {
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
void sweep(const T* V, Index ldv, Index n, Index m, const double* p, double* z, double* sums, void* scratch) {
    double* lane_sums = static_cast<double*>(scratch);
    for (Index i = 0; i < (m + 1) * lanes; ++i) lane_sums[i] = 0;
    // A chunk of a few hundred directions is still in a shared cache when it is read for the second time.
    subtract(V, ldv, n, m, p, z);
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
void leave_out(const double* r, const double* m, const double* s, Index ld, Index targets, Index n, const double* left,
               double* errors, double* squares) {
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
void rotate(T* V, Index ldv, Index n, Index m, const double* c, const double* s) {
    // A row is written by one rotation and read by the next: few enough columns, and it is still in cache.
    constexpr Index step = 256;
    for (Index i = 0; i < n; i += step) {
        const Index rows = n - i < step ? n - i : step;
        for (Index t = 0; t + 1 < m; ++t) {
            T *upper = V + t * ldv + i, *lower = upper + ldv;
            for (Index r = 0; r < rows; ++r) {
                const double a = upper[r], b = lower[r];
                upper[r] = T(c[t] * a + s[t] * b);
                lower[r] = T(c[t] * b - s[t] * a);
            }
        }
    }
}

template <class T>
void matvec(Kernel kernel, const T* X, Index n, Index d, const T* C, const T* f, Index m, const double* coef, Index q,
            double* out, void* scratch) {
    const Scratch<T> s(scratch, d);
    for_values(kernel, X, n, d, C, f, m, s, [&](Index i, Index rows, Index j, Index atoms, const T* values, Index ld) {
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
            if (j + atoms == m)
                for (Index r = 0; r < rows; ++r) out[(i + r) * q + t] += sums[r];
        }
    });
}

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

// P = slopes times G in float64, zero from `rows` to `padded`.
template <class T>
KP_INLINE void weigh(const T* slopes, const T* G, Index rows, Index padded, double* P) {
    Index i = 0;
    for (; i + width <= rows; i += width) store(P + i, load_double(slopes + i) * load_double(G + i));
    for (; i < rows; ++i) P[i] = double(slopes[i]) * double(G[i]);
    for (; i < padded; ++i) P[i] = 0;
}

template <class Terms, class T>
void pull_back(const Kernel& kernel, const T* X, Index n, Index d, const T* C, const T* f, Index m, const T* G,
               Index ldg, double* sums, Index lds, void* scratch) {
    const Scratch<T> s(scratch, d);
    const Index pass = pass_rows(d, sizeof(T)), half = d * lanes, stride = 2 * half;
    double *P = s.sums, *lane_sums = s.sums + group * pass;
    for (Index i = 0; i < m * stride; ++i) lane_sums[i] = 0;
    for (Index i = 0; i < n; i += pass) {
        const Index rows = n - i < pass ? n - i : pass;
        Index panels = pack(X + i * d, rows, d, s.packed);
        // Panels of rows that are not there fill up the last lanes.
        for (; panels * panel_rows<T> % lanes; ++panels)
            for (Index k = 0; k < d * panel_rows<T>; ++k) s.packed[panels * panel_rows<T> * d + k] = 0;
        const Index padded = panels * panel_rows<T>;
        for (Index j = 0; j < m; j += group) {
            const Index atoms = m - j < group ? m - j : group;
            slopes(kernel, s.packed, panels, d, C + j * d, from(f, j), atoms, s.values, pass);
            for (Index a = 0; a < atoms; ++a)
                weigh(s.values + a * pass, G + (j + a) * ldg + i, rows, padded, P + a * pass);
            for (Index k = 0; k < d; ++k) {
                const T *x = s.packed + k * panel_rows<T>, *c = C + j * d + k;
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
void pullback(Kernel kernel, const T* X, Index n, Index d, const T* C, const T* f, Index m, const T* G, Index ldg,
              double* sums, Index lds, void* scratch) {
    if (kernel.kind == Kind::laplacian)
        pull_back<AbsoluteTerms>(kernel, X, n, d, C, f, m, G, ldg, sums, lds, scratch);
    else
        pull_back<SquareTerms>(kernel, X, n, d, C, f, m, G, ldg, sums, lds, scratch);
}

}  // namespace

const Tiles<float> tiles_f32 = {block<float>,     rmatvec<float>, matvec<float>, pullback<float>,
                                transform<float>, stored<float>,  sweep<float>,  rotate<float>,
                                leave_out,        subtract_and_square};
const Tiles<double> tiles_f64 = {block<double>,     rmatvec<double>, matvec<double>, pullback<double>,
                                 transform<double>, stored<double>,  sweep<double>,  rotate<double>,
                                 leave_out,         subtract_and_square};

}  // namespace kp::KP_ISA
