// What the module (built for any machine of the architecture) knows of tiles.cpp (built once for each instruction set).
//
// Every function works on one task: some rows of X against some centres. It allocates nothing, calls no library
// and keeps no state, so a task can run on any thread. Rows of X, C, V and of the stored block are contiguous.
#pragma once

namespace kp {

typedef __PTRDIFF_TYPE__ Index;

// Those to rational_quadratic are stationary. `squares` and `absolutes` are what these are functions of: sums of squared
// or absolute differences. The last three combine values that were computed before.
enum class Kind {
    rbf,
    laplacian,
    matern12,
    matern32,
    matern52,
    rational_quadratic,
    polynomial,
    linear,
    sigmoid,
    squares,
    absolutes,
    sum,
    product,
    multiple
};

// One formula on the columns from `first` on, or an operation on the values of formulas.
struct Step {
    Kind kind;
    double p0;
    Index p1, first, width;
};

// A kernel in postfix order: a formula puts its values on a stack, `sum` and `product` replace the two topmost by one,
// `multiple` multiplies the topmost by p0. Most kernels are one formula. The stack holds `depth` values beside the
// lowest, which is where the result goes.
struct Kernel {
    const Step* steps;
    Index size, depth;

    Kind kind() const { return steps[0].kind; }
};

// The order of every sum over rows is fixed by these two numbers alone: within a chunk row i adds to lane
// i % lanes, the lanes are added as a tree, and the caller adds the chunks in order. Threads, tiles and the
// number of atoms or vectors cannot change a bit of it. Likewise for sums over atoms, chunk by chunk.
constexpr Index lanes = 8;
constexpr Index chunk_rows = 2048;
constexpr Index chunk_atoms = 256;

// Atoms that share the loads of a panel of rows, and stored ones that share those of a piece of many vectors.
constexpr Index group = 4;
constexpr Index stored_atoms = 32;

// n rows X against m centres C, of d features each, with the factors f of the atoms: k(x_i, c_j) = phi(f_j s_ij) for a
// stationary kernel phi of the sums s_ij. Factors are null for ones, and for every kernel that is not stationary.
template <class T>
struct Task {
    Kernel kernel;
    const T* X;
    Index n, d;
    const T *C, *f;
    Index m;
    void* scratch;
};

// m rows of n values, `ld` apart.
template <class T>
struct Block {
    T* at;
    Index ld, n, m;
};

// What values are multiplied with before they are added over rows: q vectors V, `ld` apart, and with `squares` the
// values themselves, times the weights w, where those are not null.
struct Vectors {
    const double* V;
    Index q, ld;
    bool squares;
    const double* w;
};

template <class T>
struct Tiles {
    // out[j * ldo + i] = k(x_i, c_j)
    void (*block)(const Task<T>&, T* out, Index ldo);
    // sums[t * lds + j] = sum_i k(x_i, c_j) V[t * ldv + i], for at most chunk_rows rows; with `squares`, and then for
    // t = q, sum_i w_i k(x_i, c_j)^2 as well
    void (*rmatvec)(const Task<T>&, Vectors, double* sums, Index lds);
    // out[i * q + t] += sum_j k(x_i, c_j) coef[j * q + t], for at most chunk_atoms atoms
    void (*matvec)(const Task<T>&, const double* coef, Index q, double* out);
    // With P_ij = G[j * ldg + i] phi'(f_j s_ij) and differences D = x_ik - c_jk: sums[k * lds + j] = sum_i P_ij D and
    // sums[(d + k) * lds + j] = sum_i P_ij D^2, or of P_ij sign(D) and P_ij |D| where s_ij is a sum of |D|, for at most
    // chunk_rows rows
    void (*pullback)(const Task<T>&, const T* G, Index ldg, double* sums, Index lds);
    // out[i] = phi(factor s_i), where out may be s
    void (*transform)(Step, const T* s, Index n, T factor, T* out);
    // sums[t * lds + j] = sum_i block[j * ldb + i] V[t * ldv + i], for at most chunk_rows rows and stored_atoms atoms;
    // with `squares`, and then for t = q, sum_i block[j * ldb + i]^2 as well, without weights
    void (*stored)(Block<const T> block, Vectors, double* sums, Index lds);
    // z -= sum_t p[t] V[t * ldv + .], then sums[t] = sum_i V[t * ldv + i] z_i and sums[m] = sum_i z_i^2, for at most
    // chunk_rows rows; V is read once
    void (*sweep)(Block<const T> V, const double* p, double* z, double* sums, void* scratch);
    // Rows t and t + 1 of V become c[t] V_t + s[t] V_{t+1} and c[t] V_{t+1} - s[t] V_t, for t = 0, ..., m - 2 in turn
    void (*rotate)(Block<T> V, const double* c, const double* s);
    // errors[i] = mean over t of (r[t * ld + i] / left[i] + s[t * ld + i])^2 and squares[t] = the sum over rows of
    // (r[t * ld + i] + m[t * ld + i])^2, for at most chunk_rows rows; m and s may be null
    void (*leave_out)(Block<const double> r, const double* m, const double* s, const double* left, double* errors,
                      double* squares);
    // left -= factor v; returns the squared length after it, for at most chunk_rows rows
    double (*subtract_and_square)(double* left, const double* v, double factor, Index n);
};

// Functions here are in an anonymous namespace so that no copy compiled for a newer processor can be the one
// the linker keeps.
namespace {

// Rows packed at a time: about a level-1 cache full, and a multiple of the widest panel (2 vectors of 16 floats).
constexpr Index pass_rows(Index d, Index bytes) {
    const Index fit = 32768 / ((d > 0 ? d : 1) * bytes) / 32 * 32;
    return fit < 32 ? 32 : fit > 512 ? 512 : fit;
}

// Bytes of scratch a task needs: the packed rows, the values of one group on a stack, and the accumulators.
constexpr Index scratch_bytes(Index d, Index depth, Index bytes, Index accumulators) {
    return pass_rows(d, bytes) * (d + group * (1 + depth)) * bytes + accumulators * 8 + 256;
}

// Doubles that `pullback` accumulates in for `atoms` atoms: what the sums of one group are of, and sums by lane.
constexpr Index pullback_accumulators(Index d, Index bytes, Index atoms) {
    return pass_rows(d, bytes) * group + 2 * d * lanes * atoms;
}

// The factors from atom j on, null for null.
template <class T>
inline const T* from(const T* f, Index j) {
    return f ? f + j : nullptr;
}

}  // namespace

#define KP_DECLARE(isa)                    \
    namespace isa {                        \
    extern const Tiles<float> tiles_f32;   \
    extern const Tiles<double> tiles_f64;  \
    }
KP_DECLARE(baseline)
KP_DECLARE(avx2)
KP_DECLARE(avx512)
#undef KP_DECLARE

}  // namespace kp
