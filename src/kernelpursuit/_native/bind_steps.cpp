// What a step of a least-squares fit does to vectors over the rows: which chunk on which thread.
#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "bind.hpp"
#include "isa.hpp"
#include "ordered_sums.hpp"
#include "parallel.hpp"

namespace kp {
namespace {

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
        tiles.sweep({v + i, n, std::min(chunk_rows, n - i), m}, given, target + i, partial.data() + task * size, scratch);
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
void criteria(Matrix<double> residual, Vector<double> leverage, Vector<double> weights,
              std::tuple<Matrix<double>, Matrix<double>> offsets, double total, Output<double> out, int threads) {
    const auto& [moved, shift] = offsets;
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
        tiles.leave_out({r + begin, n, rows, targets}, from(m, begin), from(s, begin), left, error, sums);
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
        tiles.rotate({v + i, n, std::min(chunk_rows, n - i), m}, c, s);
    });
}

}  // namespace

void bind_steps(nb::module_& module) {
    module.def("sweep", &sweep, "V"_a, "p"_a, "z"_a, "after"_a, "n_threads"_a);
    module.def("absorb", &absorb, "left"_a, "v"_a, "b"_a, "sign"_a, "leverage"_a, "squares"_a, "n_threads"_a);
    module.def("criteria", &criteria, "residual"_a, "leverage"_a, "weights"_a, "offsets"_a, "total"_a, "out"_a,
               "n_threads"_a);
    module.def("rotate", &rotate, "V"_a, "cosines"_a, "sines"_a, "n_threads"_a);
}

}  // namespace kp
