// Tasks on threads, with answers to Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>

#include "tiles.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace kp {

inline int max_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

// One run over many tasks. Any thread may ask `alive()`, and leaves its loop when the answer is no; the thread
// that came from Python also looks for signals there, at most every 50 milliseconds.
class Run {
public:
    // `work` is about the number of operations: below a million, a fraction of a millisecond, one thread is done before
    // others have woken up.
    Run(int threads, double work) : threads_(work < 1e6 || threads < 1 ? 1 : threads) {}

    // Scratch memory of one thread, aligned for the widest vectors.
    void reserve(Index bytes) {
        bytes_ = (bytes + 127) / 64 * 64;
        memory_.reset(new (std::align_val_t(64)) std::byte[std::size_t(bytes_) * threads_]);
    }

    // task(index, scratch) for every index, in any order. Call without the GIL; throws what a signal handler raised.
    template <class Task>
    void operator()(Index tasks, Task task) {
        std::atomic<Index> next{0};
        const Index threads = tasks < threads_ ? tasks : threads_;
        auto work = [&](int thread) {
            for (Index i; alive(thread) && (i = next++) < tasks;) task(i, thread, memory_.get() + thread * bytes_);
        };
#ifdef _OPENMP
        if (threads > 1) {
#pragma omp parallel num_threads(int(threads))
            work(omp_get_thread_num());
        } else
#endif
            if (threads)
            work(0);
        if (stop_) {
            nanobind::gil_scoped_acquire gil;
            throw nanobind::python_error();
        }
    }

    bool alive(int thread) {
        if (thread == 0) {
            const auto now = Clock::now();
            if (now - looked_ > std::chrono::milliseconds(50)) {
                nanobind::gil_scoped_acquire gil;
                looked_ = Clock::now();
                if (PyErr_CheckSignals()) stop_ = true;
            }
        }
        return !stop_.load(std::memory_order_relaxed);
    }

    int threads() const { return threads_; }

private:
    typedef std::chrono::steady_clock Clock;
    struct Free {
        void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(64)); }
    };

    const int threads_;
    Index bytes_ = 0;
    std::unique_ptr<std::byte[], Free> memory_;
    std::atomic<bool> stop_{false};
    Clock::time_point looked_ = Clock::now();
};

}  // namespace kp
