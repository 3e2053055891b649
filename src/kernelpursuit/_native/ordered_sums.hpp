// Sums over chunks of rows, added in one order whatever thread had them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel.hpp"

namespace kp {

inline Index parts(Index total, Index size) { return (total + size - 1) / size; }

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

// Sums over n rows for m atoms, `atoms` of them in a task, and `width` vectors.
struct SumShape {
    Index n, m, width, atoms;
};

// Fills out[t * m + j]: chunk(first row, rows, first atom, atoms, sums, scratch) fills
// sums[t * m + j] for its rows and atoms. Chunks come in waves, so that their sums take bounded memory.
template <class Chunk>
void sum_over_rows(Run& run, SumShape shape, double* out, Chunk chunk) {
    const auto [n, m, width, atoms] = shape;
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

}  // namespace kp
