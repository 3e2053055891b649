// The Python module: which instruction set, which task on which thread, and in which order sums are added.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "parallel.hpp"
#include "tiles.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kp {
namespace {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

struct Isa {
    const char* name;
    const Tiles<float>* f32;
    const Tiles<double>* f64;

    template <class T>
    const Tiles<T>& tiles() const {
        if constexpr (sizeof(T) == 4)
            return *f32;
        else
            return *f64;
    }
};

// Best first.
const std::vector<Isa>& available() {
    static const std::vector<Isa> isas = [] {
        std::vector<Isa> found;
#ifdef KP_HAVE_AVX512
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
            found.push_back({"avx512", &avx512::tiles_f32, &avx512::tiles_f64});
#endif
#ifdef KP_HAVE_AVX2
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            found.push_back({"avx2", &avx2::tiles_f32, &avx2::tiles_f64});
#endif
        found.push_back({"baseline", &baseline::tiles_f32, &baseline::tiles_f64});
        return found;
    }();
    return isas;
}

Isa current = available().front();

std::vector<std::string> isas() {
    std::vector<std::string> names;
    for (const Isa& isa : available()) names.emplace_back(isa.name);
    return names;
}

void use_isa(const std::string& name) {
    for (const Isa& isa : available())
        if (name == isa.name) {
            current = isa;
            return;
        }
    throw nb::value_error("this machine or build does not have that instruction set");
}

Kernel kernel_of(const std::string& kind, double p0, double p1) {
    static const char* const names[] = {"rbf",      "laplacian",          "matern12",   "matern32",
                                        "matern52", "rational_quadratic", "polynomial", "linear",
                                        "sigmoid",  "squares",            "absolutes"};
    for (int i = 0; i < int(std::size(names)); ++i)
        if (kind == names[i]) return {Kind(i), p0, Index(p1)};
    throw nb::value_error("unknown kernel");
}

Index parts(Index total, Index size) { return (total + size - 1) / size; }

// Atoms of one task: enough to pay for packing the rows, few enough that centres and sums stay in cache.
Index task_atoms(Index d, Index q) {
    const Index most = std::min({Index(64), 4096 / std::max(q, Index(1)), 65536 / std::max(d, Index(1))});
    return std::max(group, most / group * group);
}

// The factors of the atoms, null where none were given, which are ones.
template <class T>
const T* factors_of(const Vector<T>& factors) {
    return factors.shape(0) ? factors.data() : nullptr;
}

template <class T>
void block(const std::string& kind, double p0, double p1, Matrix<T> C, Matrix<T> X, Vector<T> factors, Output<T> out,
           int threads) {
    const Kernel kernel = kernel_of(kind, p0, p1);
    const Index n = X.shape(0), m = C.shape(0), d = X.shape(1), atoms = task_atoms(d, 1);
    const Index row_parts = parts(n, chunk_rows), atom_parts = parts(m, atoms);
    const T *x = X.data(), *c = C.data(), *f = factors_of(factors);
    T* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (d + 10));
    run.reserve(scratch_bytes(d, sizeof(T), 0));
    run(row_parts * atom_parts, [&](Index task, int, void* scratch) {
        const Index i = task / atom_parts * chunk_rows, j = task % atom_parts * atoms;
        tiles.block(kernel, x + i * d, std::min(chunk_rows, n - i), d, c + j * d, from(f, j), std::min(atoms, m - j),
                    target + j * n + i, n, scratch);
    });
}

// Kernel values of stored sums times a factor.
template <class T>
void transform(const std::string& kind, double p0, double p1, Matrix<T> sums, double factor, Output<T> out,
               int threads) {
    const Kernel kernel = kernel_of(kind, p0, p1);
    const Index size = sums.shape(0) * sums.shape(1), step = 16 * chunk_rows;
    const T* s = sums.data();
    T* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(size) * 10);
    run(parts(size, step), [&](Index task, int, void*) {
        const Index i = task * step;
        tiles.transform(kernel, s + i, std::min(step, size - i), T(factor), target + i);
    });
}

// Adds chunk sums in order, keeping what each addition rounds off.
class OrderedSum {
public:
    explicit OrderedSum(Index size) : high_(size, 0.0), low_(size, 0.0) {}

    void add(const double* term) {
        for (std::size_t i = 0; i < high_.size(); ++i) {
            const double sum = high_[i] + term[i], part = sum - high_[i];
            low_[i] += (high_[i] - (sum - part)) + (term[i] - part);
            high_[i] = sum;
        }
    }

    void copy_to(double* out) const {
        for (std::size_t i = 0; i < high_.size(); ++i)
            out[i] = std::isfinite(low_[i]) ? high_[i] + low_[i] : high_[i];
    }

private:
    std::vector<double> high_, low_;
};

// sums over rows for `width` vectors and m atoms: chunk(first row, rows, first atom, atoms, sums, scratch) fills
// sums[t * m + j] for its rows and atoms. Chunks come in waves, so that their sums take bounded memory.
template <class Chunk>
void sum_over_rows(Run& run, Index n, Index m, Index width, Index atoms, double* out, Chunk chunk) {
    const Index chunks = parts(n, chunk_rows), atom_parts = parts(m, atoms), size = width * m;
    const Index wave = std::clamp((Index(1) << 21) / std::max(size, Index(1)), Index(1), std::max(chunks, Index(1)));
    // With many atoms a task walks along a few chunks, which suits the memory system; with few, it takes one.
    const Index walk = atom_parts >= 8 * run.threads() ? std::min(wave, Index(16)) : 1;
    OrderedSum total(size);
    std::vector<double> partial(size ? wave * size : 0);
    for (Index first = 0; first < chunks && size; first += wave) {
        const Index here = std::min(wave, chunks - first), walks = parts(here, walk);
        run(walks * atom_parts, [&](Index task, int thread, void* scratch) {
            const Index begin = task / atom_parts * walk, end = std::min(begin + walk, here);
            const Index j = task % atom_parts * atoms;
            for (Index w = begin; w < end && run.alive(thread); ++w) {
                const Index i = (first + w) * chunk_rows;
                chunk(i, std::min(chunk_rows, n - i), j, std::min(atoms, m - j), partial.data() + w * size + j, scratch);
            }
        });
        for (Index w = 0; w < here; ++w) total.add(partial.data() + w * size);
    }
    total.copy_to(out);
}

// Products of atoms with vectors, and with `squares` their squared norms as one more row of `out`; no weights are ones.
template <class T>
void rmatvec(const std::string& kind, double p0, double p1, Matrix<T> C, Matrix<T> X, Vector<T> factors,
             Matrix<double> V, bool squares, Vector<double> weights, Output<double> out, int threads) {
    const Kernel kernel = kernel_of(kind, p0, p1);
    const Index n = X.shape(0), m = C.shape(0), d = X.shape(1), q = V.shape(0), width = q + squares;
    const Index atoms = task_atoms(d, width);
    const T *x = X.data(), *c = C.data(), *f = factors_of(factors);
    const double *v = V.data(), *w = weights.shape(0) ? weights.data() : nullptr;
    double* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (d + 10 + width));
    run.reserve(scratch_bytes(d, sizeof(T), atoms * width * lanes));
    sum_over_rows(run, n, m, width, atoms, target, [&](Index i, Index rows, Index j, Index count, double* sums, void* scratch) {
        tiles.rmatvec(kernel, x + i * d, rows, d, c + j * d, from(f, j), count, v + i, q, n, squares, from(w, i), sums,
                      m, scratch);
    });
}

// The gradient of a function of a block's values through centres, feature scales and factors, from its gradient G.
template <class T>
void pullback(const std::string& kind, double p0, double p1, Matrix<T> C, Matrix<T> X, Vector<T> factors, Matrix<T> G,
              Output<double> centers, Output<double> scales, Output<double> by_factor, int threads) {
    const Kernel kernel = kernel_of(kind, p0, p1);
    const Index n = X.shape(0), m = C.shape(0), d = X.shape(1), width = 2 * d, atoms = task_atoms(d, width);
    const T *x = X.data(), *c = C.data(), *f = factors_of(factors), *g = G.data();
    double *by_center = centers.data(), *by_scale = scales.data(), *by_atom = by_factor.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (3 * d + 10));
    run.reserve(scratch_bytes(d, sizeof(T), pullback_accumulators(d, sizeof(T), atoms)));
    std::vector<double> sums(width * m);
    sum_over_rows(run, n, m, width, atoms, sums.data(),
                  [&](Index i, Index rows, Index j, Index count, double* target, void* scratch) {
                      tiles.pullback(kernel, x + i * d, rows, d, c + j * d, from(f, j), count, g + j * n + i, n,
                                     target, m, scratch);
                  });
    // The sum of squared differences grows with twice a difference, that of absolute ones with its sign.
    const double power = kernel.kind == Kind::laplacian ? 1 : 2;
    std::fill(by_atom, by_atom + m, 0.0);
    for (Index k = 0; k < d; ++k) {
        double total = 0;
        for (Index j = 0; j < m; ++j) {
            const double factor = f ? double(f[j]) : 1.0, second = factor * sums[(d + k) * m + j];
            by_center[j * d + k] = -power * factor * sums[k * m + j];
            by_atom[j] += second;
            total += second;
        }
        by_scale[k] = power * total;
    }
}

template <class T>
void stored_rmatvec(Matrix<T> block, Matrix<double> V, bool squares, Output<double> out, int threads) {
    const Index m = block.shape(0), n = block.shape(1), q = V.shape(0), width = q + squares;
    const T* b = block.data();
    const double* v = V.data();
    double* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (2 + width));
    const Index atoms = q < 3 ? group : stored_atoms;
    sum_over_rows(run, n, m, width, atoms, target, [&](Index i, Index rows, Index j, Index count, double* sums, void*) {
        tiles.stored(b + j * n + i, n, rows, count, v + i, q, n, squares, sums, m);
    });
}

// One Gram-Schmidt sweep: subtracts p from z in place, fills after[t] = V_t' z, returns z' z.
double sweep(Matrix<double> V, Vector<double> p, Output<double> z, Output<double> after, int threads) {
    const Index m = V.shape(0), n = V.shape(1), size = m + 1, chunks = parts(n, chunk_rows);
    const double *v = V.data(), *given = p.data();
    double *target = z.data(), *products = after.data();
    const Tiles<double>& tiles = current.tiles<double>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * 4);
    run.reserve(size * lanes * Index(sizeof(double)));
    std::vector<double> partial(chunks * size);
    run(chunks, [&](Index task, int, void* scratch) {
        const Index i = task * chunk_rows;
        tiles.sweep(v + i, n, std::min(chunk_rows, n - i), m, given, target + i, partial.data() + task * size, scratch);
    });
    OrderedSum total(size);
    for (Index task = 0; task < chunks; ++task) total.add(partial.data() + task * size);
    std::vector<double> sums(size);
    total.copy_to(sums.data());
    std::copy(sums.begin(), sums.end() - 1, products);
    return sums.back();
}

// What a new direction v changes: left -= sign b v' and leverage += sign v^2. Fills squares[t] with the squared length
// that is left of every target.
void absorb(Output<double> left, Vector<double> v, Vector<double> b, double sign, Output<double> leverage,
            Output<double> squares, int threads) {
    const Index targets = left.shape(0), n = left.shape(1), chunks = parts(n, chunk_rows);
    double *l = left.data(), *h = leverage.data(), *out = squares.data();
    const double *direction = v.data(), *given = b.data();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * (2 + 3 * targets));
    std::vector<double> partial(chunks * targets);
    const Tiles<double>& tiles = current.tiles<double>();
    run(chunks, [&](Index task, int, void*) {
        const Index begin = task * chunk_rows, end = std::min(begin + chunk_rows, n);
        for (Index i = begin; i < end; ++i) h[i] += sign * direction[i] * direction[i];
        for (Index t = 0; t < targets; ++t)
            partial[task * targets + t] =
                tiles.subtract_and_square(l + t * n + begin, direction + begin, sign * given[t], end - begin);
    });
    OrderedSum total(targets);
    for (Index task = 0; task < chunks; ++task) total.add(partial.data() + task * targets);
    total.copy_to(out);
}

// Criteria of a least-squares fit. With e = residual / (1 - h / max(w, 1)) + shift, w = 1 without weights, fills
// out[t] with the sum of squares of residual + moved for every target, then with the sum of h, the least
// 1 - h / max(w, 1), the mean over targets of e^2 summed over rows, and sum w (mean of e^2 / w - that / total)^2.
void criteria(Matrix<double> residual, Vector<double> leverage, Vector<double> weights, Matrix<double> moved,
              Matrix<double> shift, double total, Output<double> out, int threads) {
    const Index targets = residual.shape(0), n = residual.shape(1), chunks = parts(n, chunk_rows), size = targets + 2;
    const double *r = residual.data(), *h = leverage.data(), *w = weights.shape(0) ? weights.data() : nullptr;
    const double *m = moved.shape(0) ? moved.data() : nullptr, *s = shift.shape(0) ? shift.data() : nullptr;
    double* result = out.data();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * (8 + 4 * targets));
    std::vector<double> partial(chunks * size), least(chunks, 1.0);
    const std::unique_ptr<double[]> errors(new double[n]);
    const Tiles<double>& tiles = current.tiles<double>();
    run(chunks, [&](Index task, int, void*) {
        const Index begin = task * chunk_rows, rows = std::min(chunk_rows, n - begin);
        double *sums = partial.data() + task * size, *error = errors.get() + begin, left[chunk_rows];
        double dof = 0, lowest = 1, total_error = 0;
        for (Index i = 0; i < rows; ++i) {
            const double leverage = h[begin + i], weight = w ? std::max(w[begin + i], 1.0) : 1.0;
            left[i] = 1.0 - leverage / weight;
            dof += leverage;
            lowest = std::min(lowest, left[i]);
        }
        tiles.leave_out(r + begin, m ? m + begin : nullptr, s ? s + begin : nullptr, n, targets, rows, left, error, sums);
        for (Index i = 0; i < rows; ++i) total_error += error[i];
        sums[targets] = dof;
        sums[targets + 1] = total_error;
        least[task] = lowest;
    });
    OrderedSum sum(size);
    for (Index task = 0; task < chunks; ++task) sum.add(partial.data() + task * size);
    std::vector<double> sums(size);
    sum.copy_to(sums.data());
    std::copy(sums.begin(), sums.end() - 1, result);
    result[targets + 1] = *std::min_element(least.begin(), least.end());
    result[targets + 2] = sums.back();
    const double mean = sums.back() / total;
    run(chunks, [&](Index task, int, void*) {
        double spread = 0;
        for (Index i = task * chunk_rows; i < std::min((task + 1) * chunk_rows, n); ++i) {
            const double weight = w ? w[i] : 1.0, from_mean = errors[i] / weight - mean;
            spread += weight * from_mean * from_mean;
        }
        partial[task] = spread;
    });
    OrderedSum spread(1);
    for (Index task = 0; task < chunks; ++task) spread.add(partial.data() + task);
    spread.copy_to(result + targets + 3);
}

// Turns neighbouring rows of V by Givens rotations, one after the other, in place.
void rotate(Output<double> V, Vector<double> cosines, Vector<double> sines, int threads) {
    const Index m = V.shape(0), n = V.shape(1);
    double* v = V.data();
    const double *c = cosines.data(), *s = sines.data();
    const Tiles<double>& tiles = current.tiles<double>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * 4);
    run(parts(n, chunk_rows), [&](Index task, int, void*) {
        const Index i = task * chunk_rows;
        tiles.rotate(v + i, n, std::min(chunk_rows, n - i), m, c, s);
    });
}

template <class T>
void matvec(const std::string& kind, double p0, double p1, Matrix<T> X, Matrix<T> C, Vector<T> factors,
            Matrix<double> coef, Output<double> out, int threads) {
    const Kernel kernel = kernel_of(kind, p0, p1);
    const Index n = X.shape(0), m = C.shape(0), d = X.shape(1), q = coef.shape(1);
    const T *x = X.data(), *c = C.data(), *f = factors_of(factors);
    const double* w = coef.data();
    double* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (d + 10 + q));
    run.reserve(scratch_bytes(d, sizeof(T), q * pass_rows(d, sizeof(T))));
    // A few passes of rows at most, and as many tasks for every thread, so that all are busy to the end.
    const Index pass = pass_rows(d, sizeof(T)), count = run.threads();
    const Index most = pass * std::clamp(n / (pass * 8 * count), Index(1), std::max(Index(1), 1024 / pass));
    const Index tasks = std::max(Index(1), parts(parts(n, most), count) * count);
    const Index rows = std::max(Index(32), parts(parts(n, tasks), 32) * 32);
    std::fill(target, target + n * q, 0.0);
    run(parts(n, rows), [&](Index task, int thread, void* scratch) {
        const Index i = task * rows;
        for (Index j = 0; j < m && run.alive(thread); j += chunk_atoms)
            tiles.matvec(kernel, x + i * d, std::min(rows, n - i), d, c + j * d, from(f, j),
                         std::min(chunk_atoms, m - j), w + j * q, q, target + i * q, scratch);
    });
}

template <class T>
void bind(nb::module_& module) {
    module.def("block", &block<T>, "kind"_a, "p0"_a, "p1"_a, "C"_a, "X"_a, "factors"_a, "out"_a, "n_threads"_a);
    module.def("transform", &transform<T>, "kind"_a, "p0"_a, "p1"_a, "sums"_a, "factor"_a, "out"_a, "n_threads"_a);
    module.def("matvec", &matvec<T>, "kind"_a, "p0"_a, "p1"_a, "X"_a, "C"_a, "factors"_a, "coef"_a, "out"_a,
               "n_threads"_a);
    module.def("rmatvec", &rmatvec<T>, "kind"_a, "p0"_a, "p1"_a, "C"_a, "X"_a, "factors"_a, "V"_a, "squares"_a,
               "weights"_a, "out"_a, "n_threads"_a);
    module.def("pullback", &pullback<T>, "kind"_a, "p0"_a, "p1"_a, "C"_a, "X"_a, "factors"_a, "G"_a, "centers"_a,
               "scales"_a, "by_factor"_a, "n_threads"_a);
    module.def("stored_rmatvec", &stored_rmatvec<T>, "block"_a, "V"_a, "squares"_a, "out"_a, "n_threads"_a);
}

}  // namespace
}  // namespace kp

NB_MODULE(_core, module) {
    module.doc() = "Kernel blocks and products with them; use kernelpursuit._native, which checks its arguments.";
    kp::bind<float>(module);
    kp::bind<double>(module);
    module.def("sweep", &kp::sweep, "V"_a, "p"_a, "z"_a, "after"_a, "n_threads"_a);
    module.def("absorb", &kp::absorb, "left"_a, "v"_a, "b"_a, "sign"_a, "leverage"_a, "squares"_a, "n_threads"_a);
    module.def("criteria", &kp::criteria, "residual"_a, "leverage"_a, "weights"_a, "moved"_a, "shift"_a, "total"_a, "out"_a,
               "n_threads"_a);
    module.def("rotate", &kp::rotate, "V"_a, "cosines"_a, "sines"_a, "n_threads"_a);
    module.def("max_threads", &kp::max_threads);
    module.def("isas", &kp::isas);
    module.def("use_isa", &kp::use_isa, "name"_a);
}
