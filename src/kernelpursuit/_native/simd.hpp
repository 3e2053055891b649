// Vectors of the instruction set this file is compiled for, and packs of several vectors.
//
// A pack applies each operation to all of its vectors in turn, which interleaves independent chains of arithmetic
// and so hides the latency of a polynomial. Fused multiply-adds are explicit and contraction is off, so a value
// has the same bits wherever it is computed.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define KP_INLINE inline __attribute__((always_inline))

namespace kp::KP_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T>
struct Simd;  // V: the values; I: their bits, unsigned since arithmetic on them may wrap

template <>
struct Simd<double> {
    typedef double V __attribute__((vector_size(vector_bytes)));
    typedef unsigned long long I __attribute__((vector_size(vector_bytes)));
    static constexpr int width = vector_bytes / 8;
};

template <>
struct Simd<float> {
    typedef float V __attribute__((vector_size(vector_bytes)));
    typedef unsigned I __attribute__((vector_size(vector_bytes)));
    static constexpr int width = vector_bytes / 4;
};

typedef Simd<double>::V Vd;
typedef Simd<float>::V Vf;

#if defined(__AVX512F__)
constexpr bool fused = true;
KP_INLINE Vd fma(Vd a, Vd b, Vd c) { return (Vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
KP_INLINE Vf fma(Vf a, Vf b, Vf c) { return (Vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
// The forms with a mask, since the plain ones warn of an uninitialised operand in GCC 12.
KP_INLINE Vd sqrt(Vd a) { return (Vd)_mm512_maskz_sqrt_pd(0xff, (__m512d)a); }
KP_INLINE Vf sqrt(Vf a) { return (Vf)_mm512_maskz_sqrt_ps(0xffff, (__m512)a); }
#elif defined(__AVX2__)
constexpr bool fused = true;
KP_INLINE Vd fma(Vd a, Vd b, Vd c) { return (Vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
KP_INLINE Vf fma(Vf a, Vf b, Vf c) { return (Vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
KP_INLINE Vd sqrt(Vd a) { return (Vd)_mm256_sqrt_pd((__m256d)a); }
KP_INLINE Vf sqrt(Vf a) { return (Vf)_mm256_sqrt_ps((__m256)a); }
#elif defined(__aarch64__)
constexpr bool fused = true;
KP_INLINE Vd fma(Vd a, Vd b, Vd c) { return (Vd)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b); }
KP_INLINE Vf fma(Vf a, Vf b, Vf c) { return (Vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
KP_INLINE Vd sqrt(Vd a) { return (Vd)vsqrtq_f64((float64x2_t)a); }
KP_INLINE Vf sqrt(Vf a) { return (Vf)vsqrtq_f32((float32x4_t)a); }
#else
constexpr bool fused = false;
KP_INLINE Vd fma(Vd a, Vd b, Vd c) { return a * b + c; }
KP_INLINE Vf fma(Vf a, Vf b, Vf c) { return a * b + c; }
#if defined(__x86_64__)
KP_INLINE Vd sqrt(Vd a) { return (Vd)_mm_sqrt_pd((__m128d)a); }
KP_INLINE Vf sqrt(Vf a) { return (Vf)_mm_sqrt_ps((__m128)a); }
#else
KP_INLINE Vd sqrt(Vd a) {
    for (int i = 0; i < Simd<double>::width; ++i) a[i] = __builtin_sqrt(a[i]);
    return a;
}
KP_INLINE Vf sqrt(Vf a) {
    for (int i = 0; i < Simd<float>::width; ++i) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
#endif
#endif

template <class T>
KP_INLINE typename Simd<T>::V load(const T* p) {
    typename Simd<T>::V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

template <class T>
KP_INLINE void store(T* p, typename Simd<T>::V v) {
    __builtin_memcpy(p, &v, sizeof v);
}

// A vector of doubles from doubles or from floats.
KP_INLINE Vd load_double(const double* p) { return load(p); }
KP_INLINE Vd load_double(const float* p) {
#if defined(__AVX512F__)
    return (Vd)_mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(p));
#elif defined(__AVX2__)
    return (Vd)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    typedef float Half __attribute__((vector_size(vector_bytes / 2)));
    Half h;
    __builtin_memcpy(&h, p, sizeof h);
    return __builtin_convertvector(h, Vd);
#endif
}

template <class T>
KP_INLINE typename Simd<T>::V splat(T x) {
    return x - typename Simd<T>::V{};  // folds to a broadcast, since x - 0 is x for every x, -0 included
}

template <class T, int N>
struct Pack {
    typename Simd<T>::V v[N];

    KP_INLINE Pack() {}
    KP_INLINE Pack(T x) {
        for (int i = 0; i < N; ++i) v[i] = splat(x);
    }
};

#define KP_OPERATOR(op)                                             \
    template <class T, int N>                                       \
    KP_INLINE Pack<T, N> operator op(Pack<T, N> a, Pack<T, N> b) {  \
        for (int i = 0; i < N; ++i) a.v[i] = a.v[i] op b.v[i];      \
        return a;                                                   \
    }                                                               \
    template <class T, int N>                                       \
    KP_INLINE Pack<T, N> operator op(Pack<T, N> a, T b) {           \
        for (int i = 0; i < N; ++i) a.v[i] = a.v[i] op splat(b);    \
        return a;                                                   \
    }                                                               \
    template <class T, int N>                                       \
    KP_INLINE Pack<T, N> operator op(T a, Pack<T, N> b) {           \
        for (int i = 0; i < N; ++i) b.v[i] = splat(a) op b.v[i];    \
        return b;                                                   \
    }
KP_OPERATOR(+)
KP_OPERATOR(-)
KP_OPERATOR(*)
KP_OPERATOR(/)
#undef KP_OPERATOR

template <class T, int N>
KP_INLINE Pack<T, N> fma(Pack<T, N> a, Pack<T, N> b, Pack<T, N> c) {
    for (int i = 0; i < N; ++i) a.v[i] = fma(a.v[i], b.v[i], c.v[i]);
    return a;
}
template <class T, int N>
KP_INLINE Pack<T, N> fma(Pack<T, N> a, Pack<T, N> b, T c) {
    for (int i = 0; i < N; ++i) a.v[i] = fma(a.v[i], b.v[i], splat(c));
    return a;
}
template <class T, int N>
KP_INLINE Pack<T, N> fma(Pack<T, N> a, T b, Pack<T, N> c) {
    for (int i = 0; i < N; ++i) a.v[i] = fma(a.v[i], splat(b), c.v[i]);
    return a;
}
template <class T, int N>
KP_INLINE Pack<T, N> fma(Pack<T, N> a, T b, T c) {
    for (int i = 0; i < N; ++i) a.v[i] = fma(a.v[i], splat(b), splat(c));
    return a;
}

template <class T, int N>
KP_INLINE Pack<T, N> operator-(Pack<T, N> a) {
    for (int i = 0; i < N; ++i) a.v[i] = -a.v[i];
    return a;
}

template <class T, int N>
KP_INLINE Pack<T, N> sqrt(Pack<T, N> a) {
    for (int i = 0; i < N; ++i) a.v[i] = sqrt(a.v[i]);
    return a;
}

// The smaller of a and the limit; a NaN stays a NaN.
template <class T, int N>
KP_INLINE Pack<T, N> at_most(Pack<T, N> a, T limit) {
    for (int i = 0; i < N; ++i) a.v[i] = a.v[i] > splat(limit) ? splat(limit) : a.v[i];
    return a;
}

// Zero where x is beyond the limit, else y.
template <class T, int N>
KP_INLINE Pack<T, N> zero_above(Pack<T, N> x, T limit, Pack<T, N> y) {
    typedef typename Simd<T>::V V;
    typedef typename Simd<T>::I I;
    for (int i = 0; i < N; ++i) y.v[i] = (V)((I)y.v[i] & ~(I)(x.v[i] > splat(limit)));
    return y;
}

// Zero where x is zero, else y.
template <class T, int N>
KP_INLINE Pack<T, N> zero_at_zero(Pack<T, N> x, Pack<T, N> y) {
    typedef typename Simd<T>::V V;
    typedef typename Simd<T>::I I;
    for (int i = 0; i < N; ++i) y.v[i] = (V)((I)y.v[i] & ~(I)(x.v[i] == V{}));
    return y;
}

}  // namespace
}  // namespace kp::KP_ISA
