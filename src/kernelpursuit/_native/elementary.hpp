// exp, tanh and (1 + u)^-a on packs, to a few units in the last place.
//
// The polynomials interpolate at Chebyshev nodes: (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2, and
// (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2 for (1 + s) / (1 - s) in [sqrt(1/2), sqrt(2)]. Their own relative
// error is under a fifth of a unit in the last place of the result.
#pragma once

#include "simd.hpp"

namespace kp::KP_ISA {
namespace {

template <class T>
struct Constants;

template <>
struct Constants<double> {
    static constexpr double log2e = 0x1.71547652b82fep+0;
    // k * ln2_hi is exact for every exponent k, with or without a fused multiply-add.
    static constexpr double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;
    static constexpr double exp[] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d4fp-5,
                                     0x1.11111111109adp-7,  0x1.6c16c17893833p-10, 0x1.a01a01a7c8d47p-13,
                                     0x1.a019b8ef67c6cp-16, 0x1.71de0d9c145d0p-19, 0x1.2891a8c1d838dp-22,
                                     0x1.af38d53857513p-26};
    static constexpr double log[] = {0x1.5555555555558p-1, 0x1.9999999995273p-2, 0x1.2492492dfd86cp-2,
                                     0x1.c71c62d5e53e0p-3, 0x1.7462b91b8df65p-3, 0x1.39fdcceb4bb45p-3,
                                     0x1.2b5f68a50d903p-3};
    static constexpr int mantissa = 52;
    static constexpr long long bias = 1023;
    // Adding this rounds to an integer k and leaves k + bias in the lowest bits.
    static constexpr double round = 0x1.8p52 + 1023;
    static constexpr double two_mantissa = 0x1p52;
    static constexpr unsigned long long sqrt_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    static constexpr double exp_limit = 708.39;  // exp(-exp_limit) is just above the smallest normal number
    static constexpr double tanh_limit = 20;     // from here on tanh rounds to 1
    static constexpr double largest = 0x1.fffffffffffffp1023;
    static constexpr double split = 0x1p27 + 1;
};

template <>
struct Constants<float> {
    static constexpr float log2e = 0x1.715476p+0f;
    static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
    static constexpr float exp[] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120ba2p-7f, 0x1.6d113cp-10f};
    static constexpr float log[] = {0x1.555556p-1f, 0x1.9999ecp-2f, 0x1.245c28p-2f, 0x1.ddd4dap-3f};
    static constexpr int mantissa = 23;
    static constexpr int bias = 127;
    static constexpr float round = 0x1.8p23f + 127;
    static constexpr float two_mantissa = 0x1p23f;
    static constexpr unsigned sqrt_half = 0x3f3504f3, one = 0x3f800000;
    static constexpr float exp_limit = 87.33f;
    static constexpr float tanh_limit = 10;
    static constexpr float largest = 0x1.fffffep127f;
    static constexpr float split = 0x1p12f + 1;
};

template <class T, int N, int M>
KP_INLINE Pack<T, N> horner(const T (&c)[M], Pack<T, N> x) {
    Pack<T, N> p = fma(x, c[M - 1], c[M - 2]);
    for (int i = M - 3; i >= 0; --i) p = fma(p, x, c[i]);
    return p;
}

// exp(-(x + tail)) as scale * (1 + fraction), where scale is a power of two and tail is tiny.
template <class T, int N>
struct Exponential {
    Pack<T, N> scale, fraction;

    KP_INLINE explicit Exponential(Pack<T, N> x) : Exponential(x, [](Pack<T, N> r) { return r; }) {}

    template <class Correct>
    KP_INLINE Exponential(Pack<T, N> x, Correct correct) {
        typedef Constants<T> K;
        typedef typename Simd<T>::I I;
        typedef typename Simd<T>::V V;
        const Pack<T, N> rounded = fma(x, -K::log2e, K::round);
        const Pack<T, N> k = rounded - K::round;
        for (int i = 0; i < N; ++i) scale.v[i] = (V)((I)rounded.v[i] << K::mantissa);
        Pack<T, N> r = fma(k, -K::ln2_hi, -x);
        r = correct(fma(k, -K::ln2_lo, r));
        fraction = fma(horner(K::exp, r), r * r, r);
    }
};

// exp(-x) for x >= 0; what would be below the normal range is 0, also for x = inf.
template <class T, int N>
KP_INLINE Pack<T, N> exp_minus(Pack<T, N> x) {
    const Exponential<T, N> e(x);
    return zero_above(x, Constants<T>::exp_limit, fma(e.scale, e.fraction, e.scale));
}

// tanh through expm1, so that small arguments keep their relative accuracy.
template <class T, int N>
KP_INLINE Pack<T, N> tanh(Pack<T, N> x) {
    typedef typename Simd<T>::V V;
    typedef typename Simd<T>::I I;
    const V negative_zero = splat(T(-0.0));
    Pack<T, N> size = x;
    for (int i = 0; i < N; ++i) size.v[i] = (V)((I)x.v[i] & ~(I)negative_zero);
    size = at_most(size, Constants<T>::tanh_limit);
    const Exponential<T, N> e(size + size);
    const Pack<T, N> expm1 = fma(e.scale, e.fraction, e.scale - T(1));
    Pack<T, N> y = -expm1 / (expm1 + T(2));
    for (int i = 0; i < N; ++i) y.v[i] = (V)(((I)y.v[i] & ~(I)negative_zero) | ((I)x.v[i] & (I)negative_zero));
    return y;
}

// a * b - product, exactly (up to underflow).
template <class T, int N>
KP_INLINE Pack<T, N> product_error(T a, Pack<T, N> b, Pack<T, N> product) {
    if (fused) return fma(b, a, -product);
    const T split = Constants<T>::split;
    const T a_high = split * a - (split * a - a), a_low = a - a_high;
    const Pack<T, N> b_high = split * b - (split * b - b), b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// (1 + u)^-a for finite u >= 0: exp of -a log1p(u), the logarithm and the product kept in two parts each, so that the
// error does not grow with the exponent.
template <class T, int N>
KP_INLINE Pack<T, N> power_minus(Pack<T, N> u, T a) {
    typedef Constants<T> K;
    typedef typename Simd<T>::V V;
    typedef typename Simd<T>::I I;
    const Pack<T, N> y = u + T(1);
    Pack<T, N> lost, m, k;  // 1 + u = y + lost, y = 2^k m, m in [sqrt(1/2), sqrt(2))
    for (int i = 0; i < N; ++i) {
        const V uv = u.v[i], yv = y.v[i];
        lost.v[i] = uv > splat(T(1)) ? splat(T(1)) - (yv - uv) : uv - (yv - splat(T(1)));
        const I bits = (I)yv + (K::one - K::sqrt_half);
        k.v[i] = (V)((bits >> K::mantissa) | (I)splat(K::two_mantissa)) - splat(K::two_mantissa + T(K::bias));
        m.v[i] = (V)((bits & ~(~I{} << K::mantissa)) + K::sqrt_half);
    }
    const Pack<T, N> f = m - T(1), s = f / (f + T(2)), z = s * s, half_square = f * f * T(0.5);
    const Pack<T, N> series = z * horner(K::log, z);
    // log(1 + u) = high + low, where the sum begins with k ln2_hi + f and low gets what high rounds off.
    const Pack<T, N> base = k * K::ln2_hi, first = base + f;
    const Pack<T, N> part = first - base, rounding = (base - (first - part)) + (f - part);
    const Pack<T, N> rest =
        rounding + (fma(k, K::ln2_lo, lost / y) - (half_square - s * (half_square + series)));
    const Pack<T, N> high = first + rest, low = rest - (high - first);
    const Pack<T, N> exponent = a * high, tail = product_error(a, high, exponent) + a * low;
    const Exponential<T, N> e(exponent, [&](Pack<T, N> r) { return r - tail; });
    return zero_above(exponent, K::exp_limit, fma(e.scale, e.fraction, e.scale));
}

// x^p by repeated squaring, p >= 1.
template <class T, int N>
KP_INLINE Pack<T, N> power(Pack<T, N> x, Index p) {
    while (!(p & 1)) x = x * x, p >>= 1;
    Pack<T, N> y = x;
    while (p >>= 1) {
        x = x * x;
        if (p & 1) y = y * x;
    }
    return y;
}

}  // namespace
}  // namespace kp::KP_ISA
