// Arrays and kernels as they come from Python, which has checked them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "tiles.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kp {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

// (kind, p0, p1, columns): a step of a kernel, and how many columns for each feature its formula takes.
typedef std::vector<std::tuple<std::string, double, double, Index>> Steps;

// (steps, centres, factors); factors of length 0 are ones.
template <class T>
using Atoms = std::tuple<Steps, Matrix<T>, Vector<T>>;

inline Kind kind_of(const std::string& name) {
    static const char* const names[] = {"rbf",      "laplacian",          "matern12",   "matern32",
                                        "matern52", "rational_quadratic", "polynomial", "linear",
                                        "sigmoid",  "squares",            "absolutes",  "sum",
                                        "product",  "multiple"};
    for (int i = 0; i < int(std::size(names)); ++i)
        if (name == names[i]) return Kind(i);
    throw nb::value_error("unknown kernel");
}

// The steps of a kernel, each formula on columns of its own out of d.
class Program {
public:
    Program(const Steps& steps, Index d) {
        Index columns = 0, first = 0, height = 0, highest = 1;
        for (const auto& step : steps) columns += std::get<3>(step);
        for (const auto& [name, p0, p1, own] : steps) {
            const Index width = own ? d / columns * own : 0;
            steps_.push_back({kind_of(name), p0, Index(p1), first, width});
            first += width;
            const Kind kind = steps_.back().kind;
            height += kind < Kind::sum ? 1 : kind == Kind::multiple ? 0 : -1;
            highest = std::max(highest, height);
        }
        kernel_ = {steps_.data(), Index(steps_.size()), highest - 1};
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    const Kernel& kernel() const { return kernel_; }

private:
    std::vector<Step> steps_;
    Kernel kernel_;
};

// Rows against atoms, whole: the task that is cut into smaller ones.
template <class T>
class Problem {
public:
    Problem(const Atoms<T>& atoms, const Matrix<T>& X)
        : program_(std::get<0>(atoms), Index(X.shape(1))), task_{} {
        const auto& [steps, C, factors] = atoms;
        task_ = {program_.kernel(), X.data(), Index(X.shape(0)), Index(X.shape(1)),
                 C.data(), factors.shape(0) ? factors.data() : nullptr, Index(C.shape(0)), nullptr};
    }

    const Task<T>* operator->() const { return &task_; }

    // `rows` rows from i on against `count` atoms from j on.
    Task<T> part(Index i, Index rows, Index j, Index count, void* scratch) const {
        Task<T> task = task_;
        task.X += i * task.d;
        task.n = rows;
        task.C += j * task.d;
        task.f = from(task.f, j);
        task.m = count;
        task.scratch = scratch;
        return task;
    }

    Index scratch(Index accumulators) const {
        return scratch_bytes(task_.d, task_.kernel.depth, sizeof(T), accumulators);
    }

private:
    Program program_;
    Task<T> task_;
};

}  // namespace kp
