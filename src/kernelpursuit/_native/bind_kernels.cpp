// Kernel blocks and products with them: which task on which thread.
#include <algorithm>
#include <vector>

#include "arrays.hpp"
#include "bind.hpp"
#include "isa.hpp"
#include "ordered_sums.hpp"
#include "parallel.hpp"

namespace kp {
namespace {

// Atoms of one task: enough to pay for packing the rows, few enough that centres and sums stay in cache.
Index task_atoms(Index d, Index q) {
    const Index most = std::min({Index(64), 4096 / std::max(q, Index(1)), 65536 / std::max(d, Index(1))});
    return std::max(group, most / group * group);
}

template <class T>
void block(Atoms<T> atoms, Matrix<T> X, Output<T> out, int threads) {
    const Problem<T> all(atoms, X);
    const Index n = all->n, m = all->m, d = all->d, together = task_atoms(d, 1);
    const Index row_parts = parts(n, chunk_rows), atom_parts = parts(m, together);
    T* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (d + 10));
    run.reserve(all.scratch(0));
    run(row_parts * atom_parts, [&](Index task, int, void* scratch) {
        const Index i = task / atom_parts * chunk_rows, j = task % atom_parts * together;
        tiles.block(all.part(i, std::min(chunk_rows, n - i), j, std::min(together, m - j), scratch),
                    target + j * n + i, n);
    });
}

// Kernel values of stored sums times a factor.
template <class T>
void transform(const Steps& steps, Matrix<T> sums, double factor, Output<T> out, int threads) {
    const Program program(steps, 0);
    const Step step = program.kernel().steps[0];
    const Index size = sums.shape(0) * sums.shape(1), length = 16 * chunk_rows;
    const T* s = sums.data();
    T* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(size) * 10);
    run(parts(size, length), [&](Index task, int, void*) {
        const Index i = task * length;
        tiles.transform(step, s + i, std::min(length, size - i), T(factor), target + i);
    });
}

// Products of atoms with vectors, and with `squares` their squared norms as one more row of `out`; no weights are ones.
template <class T>
void rmatvec(Atoms<T> atoms, Matrix<T> X, Matrix<double> V, bool squares, Vector<double> weights, Output<double> out,
             int threads) {
    const Problem<T> all(atoms, X);
    const Index n = all->n, m = all->m, d = all->d, q = V.shape(0), width = q + squares;
    const Index together = task_atoms(d, width);
    const double *v = V.data(), *w = weights.shape(0) ? weights.data() : nullptr;
    double* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (d + 10 + width));
    run.reserve(all.scratch(together * width * lanes));
    sum_over_rows(run, {n, m, width, together}, target,
                  [&](Index i, Index rows, Index j, Index count, double* sums, void* scratch) {
                      tiles.rmatvec(all.part(i, rows, j, count, scratch), {v + i, q, n, squares, from(w, i)}, sums, m);
                  });
}

template <class T>
void matvec(Atoms<T> atoms, Matrix<T> X, Matrix<double> coef, Output<double> out, int threads) {
    const Problem<T> all(atoms, X);
    const Index n = all->n, m = all->m, d = all->d, q = coef.shape(1);
    const double* w = coef.data();
    double* target = out.data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (d + 10 + q));
    run.reserve(all.scratch(q * pass_rows(d, sizeof(T))));
    // A few passes of rows at most, and as many tasks for every thread, so that all are busy to the end.
    const Index pass = pass_rows(d, sizeof(T)), count = run.threads();
    const Index most = pass * std::clamp(n / (pass * 8 * count), Index(1), std::max(Index(1), 1024 / pass));
    const Index tasks = std::max(Index(1), parts(parts(n, most), count) * count);
    const Index rows = std::max(Index(32), parts(parts(n, tasks), 32) * 32);
    std::fill(target, target + n * q, 0.0);
    run(parts(n, rows), [&](Index task, int thread, void* scratch) {
        const Index i = task * rows;
        for (Index j = 0; j < m && run.alive(thread); j += chunk_atoms)
            tiles.matvec(all.part(i, std::min(rows, n - i), j, std::min(chunk_atoms, m - j), scratch), w + j * q, q,
                         target + i * q);
    });
}

// The gradient of a function of a block's values through centres, feature scales and factors, from its gradient G.
template <class T>
void pullback(Atoms<T> atoms, Matrix<T> X, Matrix<T> G, std::tuple<Output<double>, Output<double>, Output<double>> out,
              int threads) {
    const Problem<T> all(atoms, X);
    const Index n = all->n, m = all->m, d = all->d, width = 2 * d, together = task_atoms(d, width);
    const T *f = all->f, *g = G.data();
    double *by_center = std::get<0>(out).data(), *by_scale = std::get<1>(out).data(), *by_atom = std::get<2>(out).data();
    const Tiles<T>& tiles = current.tiles<T>();
    nb::gil_scoped_release nogil;
    Run run(threads, double(n) * m * (3 * d + 10));
    run.reserve(all.scratch(pullback_accumulators(d, sizeof(T), together)));
    std::vector<double> sums(width * m);
    sum_over_rows(run, {n, m, width, together}, sums.data(),
                  [&](Index i, Index rows, Index j, Index count, double* target, void* scratch) {
                      tiles.pullback(all.part(i, rows, j, count, scratch), g + j * n + i, n, target, m);
                  });
    // The sum of squared differences grows with twice a difference, that of absolute ones with its sign.
    const double power = all->kernel.kind() == Kind::laplacian ? 1 : 2;
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
    const Index together = q < 3 ? group : stored_atoms;
    sum_over_rows(run, {n, m, width, together}, target,
                  [&](Index i, Index rows, Index j, Index count, double* sums, void*) {
                      tiles.stored({b + j * n + i, n, rows, count}, {v + i, q, n, squares, nullptr}, sums, m);
                  });
}

template <class T>
void bind(nb::module_& module) {
    module.def("block", &block<T>, "atoms"_a, "X"_a, "out"_a, "n_threads"_a);
    module.def("transform", &transform<T>, "steps"_a, "sums"_a, "factor"_a, "out"_a, "n_threads"_a);
    module.def("matvec", &matvec<T>, "atoms"_a, "X"_a, "coef"_a, "out"_a, "n_threads"_a);
    module.def("rmatvec", &rmatvec<T>, "atoms"_a, "X"_a, "V"_a, "squares"_a, "weights"_a, "out"_a, "n_threads"_a);
    module.def("pullback", &pullback<T>, "atoms"_a, "X"_a, "G"_a, "out"_a, "n_threads"_a);
    module.def("stored_rmatvec", &stored_rmatvec<T>, "block"_a, "V"_a, "squares"_a, "out"_a, "n_threads"_a);
}

}  // namespace

void bind_kernels(nb::module_& module) {
    bind<float>(module);
    bind<double>(module);
}

}  // namespace kp
