// Kernel values of a few centres at panels of rows: the register-blocked innermost loops.
//
// A kernel is a sum over features (squared differences, absolute differences or products) and a map of that sum.
// Differences are taken before squaring, so that near neighbours lose no digits.
#pragma once

#include "elementary.hpp"
#include "tiles.hpp"

namespace kp::KP_ISA {
namespace {

// A panel holds two vectors of rows, feature by feature.
template <class T>
constexpr Index panel_rows = 2 * Simd<T>::width;

struct Squares {
    template <class V>
    static KP_INLINE V add(V sum, V x, V c) {
        const V difference = x - c;
        return fma(difference, difference, sum);
    }
};

struct Absolutes {
    static KP_INLINE Vd add(Vd sum, Vd x, Vd c) {
        typedef Simd<double>::I I;
        return sum + (Vd)((I)(x - c) & ~(I)splat(-0.0));
    }
    static KP_INLINE Vf add(Vf sum, Vf x, Vf c) {
        typedef Simd<float>::I I;
        return sum + (Vf)((I)(x - c) & ~(I)splat(-0.0f));
    }
};

struct Products {
    template <class V>
    static KP_INLINE V add(V sum, V x, V c) {
        return fma(x, c, sum);
    }
};

template <Kind kind>
struct SumOf {
    typedef Squares type;
};
template <>
struct SumOf<Kind::laplacian> {
    typedef Absolutes type;
};
template <>
struct SumOf<Kind::absolutes> {
    typedef Absolutes type;
};
template <>
struct SumOf<Kind::polynomial> {
    typedef Products type;
};
template <>
struct SumOf<Kind::linear> {
    typedef Products type;
};
template <>
struct SumOf<Kind::sigmoid> {
    typedef Products type;
};

template <Kind kind, class T, int N>
KP_INLINE Pack<T, N> map(Pack<T, N> s, T p0, Index p1) {
    // Past this root distance every Matern kernel is 0; the limit keeps inf * 0 out.
    const T far = 2 * Constants<T>::exp_limit;
    if constexpr (kind == Kind::rbf || kind == Kind::laplacian) {
        return exp_minus(s);
    } else if constexpr (kind == Kind::matern12) {
        return exp_minus(sqrt(T(2) * s));
    } else if constexpr (kind == Kind::matern32) {
        const Pack<T, N> a = at_most(sqrt(T(6) * s), far);
        return (a + T(1)) * exp_minus(a);
    } else if constexpr (kind == Kind::matern52) {
        const Pack<T, N> a = at_most(sqrt(T(10) * s), far);
        return fma(a, fma(a, T(1) / T(3), T(1)), T(1)) * exp_minus(a);
    } else if constexpr (kind == Kind::rational_quadratic) {
        const Pack<T, N> u = at_most(s / p0, Constants<T>::largest);
        return zero_above(s, Constants<T>::largest, power_minus(u, p0));
    } else if constexpr (kind == Kind::polynomial) {
        return power(s + p0, p1);
    } else if constexpr (kind == Kind::sigmoid) {
        return tanh(s + p0);
    } else {
        return s;
    }
}

// The derivative of a stationary kernel's map; 0 where there is none (Matern 1/2 at distance 0).
template <Kind kind, class T, int N>
KP_INLINE Pack<T, N> derivative(Pack<T, N> s, T p0) {
    const T far = 2 * Constants<T>::exp_limit;
    if constexpr (kind == Kind::matern12) {
        const Pack<T, N> a = sqrt(T(2) * s);
        return zero_at_zero(a, -exp_minus(a) / a);
    } else if constexpr (kind == Kind::matern32) {
        return T(-3) * exp_minus(sqrt(T(6) * s));
    } else if constexpr (kind == Kind::matern52) {
        const Pack<T, N> a = at_most(sqrt(T(10) * s), far);
        return fma(a, T(-5) / T(3), T(-5) / T(3)) * exp_minus(a);
    } else if constexpr (kind == Kind::rational_quadratic) {
        const Pack<T, N> u = at_most(s / p0, Constants<T>::largest);
        return zero_above(s, Constants<T>::largest, -power_minus(u, p0) / (u + T(1)));
    } else {
        return -exp_minus(s);
    }
}

// What is computed of the sums: the kernel's values, or the derivative of its map.
enum class Of { values, derivatives };

template <Kind kind, Of of, class T, int N>
KP_INLINE Pack<T, N> mapped(Pack<T, N> s, T p0, Index p1) {
    if constexpr (of == Of::derivatives)
        return derivative<kind>(s, p0);
    else
        return map<kind>(s, p0, p1);
}

// Packed rows and a few centres of them, `ld` features each, of which a formula takes `width`.
template <class T>
struct Inputs {
    const T* packed;
    Index panels, width, ld;
    const T *c, *f;
    Index atoms;
};

// The numbers of a formula, in its float type.
template <class T>
struct Numbers {
    T p0;
    Index p1;
};

// Values of `atoms` centres at `panels` panels, four vectors mapped at a time; sums times factors if `scaled`.
template <Kind kind, Of of, bool scaled, class T, int atoms, int panels>
KP_INLINE void micro_tile(const Inputs<T>& in, Numbers<T> numbers, T* out, Index ldo) {
    typedef typename Simd<T>::V V;
    constexpr int width = Simd<T>::width, vectors = 2 * panels;
    const Index ld = in.ld, features = in.width;
    const T *x = in.packed, *c = in.c;
    [[maybe_unused]] const T* f = in.f;
    V sum[atoms][vectors];
    for (int j = 0; j < atoms; ++j)  // not by an initialiser, which GCC would do in memory
        for (int v = 0; v < vectors; ++v) sum[j][v] = V{};
    for (Index k = 0; k < features; ++k) {
        V row[vectors];
        for (int v = 0; v < vectors; ++v)
            row[v] = load(x + (v / 2) * ld * panel_rows<T> + k * panel_rows<T> + (v % 2) * width);
        for (int j = 0; j < atoms; ++j) {
            const V centre = splat(c[j * ld + k]);
            for (int v = 0; v < vectors; ++v) sum[j][v] = SumOf<kind>::type::add(sum[j][v], row[v], centre);
        }
    }
    constexpr int total = atoms * vectors, step = total < 4 ? total : 4;
    for (int first = 0; first < total; first += step) {
        Pack<T, step> s;
        for (int i = 0; i < step; ++i) s.v[i] = sum[(first + i) / vectors][(first + i) % vectors];
        if constexpr (scaled)
            for (int i = 0; i < step; ++i) s.v[i] = s.v[i] * splat(f[(first + i) / vectors]);
        s = mapped<kind, of>(s, numbers.p0, numbers.p1);
        for (int i = 0; i < step; ++i)
            store(out + (first + i) / vectors * ldo + (first + i) % vectors * width, s.v[i]);
    }
}

// Values of 1 to `group` centres at some panels: out[j * ldo + i].
template <Kind kind, Of of, bool scaled, class T>
void values_at(Inputs<T> in, Numbers<T> numbers, T* out, Index ldo) {
    constexpr Index rows = panel_rows<T>;
    const Index step = rows * in.ld;
    if (in.atoms == group) {
        for (Index b = 0; b < in.panels; ++b, in.packed += step)
            micro_tile<kind, of, scaled, T, group, 1>(in, numbers, out + b * rows, ldo);
        return;
    }
    const T* packed = in.packed;
    for (Index j = 0; j < in.atoms; ++j, in.c += in.ld, in.f = from(in.f, 1), out += ldo) {
        Index b = 0;
        in.packed = packed;
        for (; b + 4 <= in.panels; b += 4, in.packed += 4 * step)
            micro_tile<kind, of, scaled, T, 1, 4>(in, numbers, out + b * rows, ldo);
        for (; b < in.panels; ++b, in.packed += step)
            micro_tile<kind, of, scaled, T, 1, 1>(in, numbers, out + b * rows, ldo);
    }
}

template <Kind kind, Of of, class T>
void values_of(const Inputs<T>& in, Numbers<T> numbers, T* out, Index ldo) {
    if constexpr (kind <= Kind::rational_quadratic)
        if (in.f) return values_at<kind, of, true>(in, numbers, out, ldo);
    values_at<kind, of, false>(in, numbers, out, ldo);
}

// The shape of a rational quadratic kernel, kept where its arithmetic neither overflows nor divides by 0. Beyond these
// bounds the kernel is exp(-s), or 1, to rounding. It differs from exp(-s) by a relative s^2 / 2p, which is under half an
// ulp for all s at which exp(-s) is above 0 once p > 7e10 (float32, s < 88) or 3e21 (float64, s < 709); and from 1 by
// p log(1 + s / p), under 2e-28 and 2e-297 at the lower bounds, with s the largest number.
template <class T>
double bounded(double p0) {
    const double low = sizeof(T) == 4 ? 1e-30 : 1e-300, high = sizeof(T) == 4 ? 1e20 : 1e100;
    return p0 < low ? low : p0 > high ? high : p0;
}

template <class T>
Numbers<T> numbers_of(const Step& step) {
    return {T(step.kind == Kind::rational_quadratic ? bounded<T>(step.p0) : step.p0), step.p1};
}

#define KP_STATIONARY(KP_CASE) \
    KP_CASE(rbf)               \
    KP_CASE(laplacian)         \
    KP_CASE(matern12)          \
    KP_CASE(matern32)          \
    KP_CASE(matern52)          \
    KP_CASE(rational_quadratic)

// Values of one formula.
template <class T>
void values(const Step& step, const Inputs<T>& in, T* out, Index ldo) {
    switch (step.kind) {
#define KP_CASE(name) \
    case Kind::name:  \
        return values_of<Kind::name, Of::values>(in, numbers_of<T>(step), out, ldo);
        KP_STATIONARY(KP_CASE)
        KP_CASE(polynomial)
        KP_CASE(linear)
        KP_CASE(sigmoid)
        KP_CASE(squares)
        KP_CASE(absolutes)
#undef KP_CASE
        default:
            return;
    }
}

// Derivatives of the maps of stationary kernels.
template <class T>
void derivatives(const Step& step, const Inputs<T>& in, T* out, Index ldo) {
    switch (step.kind) {
#define KP_CASE(name) \
    case Kind::name:  \
        return values_of<Kind::name, Of::derivatives>(in, numbers_of<T>(step), out, ldo);
        KP_STATIONARY(KP_CASE)
#undef KP_CASE
        default:
            return;
    }
}

// Values of a stationary kernel from n sums times a factor.
template <Kind kind, class T>
void values_from(const T* s, Index n, T factor, T p0, T* out) {
    constexpr int width = Simd<T>::width;
    constexpr Index step = 4 * width;
    const auto four = [&](const T* from, T* to) {
        Pack<T, 4> sum;
        for (int i = 0; i < 4; ++i) sum.v[i] = load(from + i * width);
        sum = map<kind>(sum * factor, p0, Index(0));
        for (int i = 0; i < 4; ++i) store(to + i * width, sum.v[i]);
    };
    Index i = 0;
    for (; i + step <= n; i += step) four(s + i, out + i);
    if (i == n) return;
    T rest[step] = {};
    for (Index r = 0; i + r < n; ++r) rest[r] = s[i + r];
    four(rest, rest);
    for (Index r = 0; i + r < n; ++r) out[i + r] = rest[r];
}

template <class T>
void transform(Step step, const T* s, Index n, T factor, T* out) {
    const T p0 = numbers_of<T>(step).p0;
    switch (step.kind) {
#define KP_CASE(name) \
    case Kind::name:  \
        return values_from<Kind::name>(s, n, factor, p0, out);
        KP_STATIONARY(KP_CASE)
#undef KP_CASE
        default:
            return;
    }
}

// Rows to panels, the last one filled up with zeros; returns the number of panels.
template <class T>
Index pack(const T* X, Index n, Index d, T* packed) {
    constexpr Index rows = panel_rows<T>;
    Index panels = 0;
    for (; n > 0; ++panels, n -= rows, X += rows * d, packed += rows * d) {
        if (n >= rows) {
            for (Index k = 0; k < d; ++k)
#pragma GCC unroll 32  // a panel of floats: as a loop, its time depends by a third on where the linker puts it
                for (Index i = 0; i < rows; ++i) packed[k * rows + i] = X[i * d + k];
        } else {
            for (Index k = 0; k < d; ++k)
                for (Index i = 0; i < rows; ++i) packed[k * rows + i] = i < n ? X[i * d + k] : T(0);
        }
    }
    return panels;
}

}  // namespace
}  // namespace kp::KP_ISA
