// Values of sums, products and multiples of formulas: a kernel's steps, run on values that stay in cache.
#pragma once

#include "values.hpp"

namespace kp::KP_ISA {
namespace {

// Where the values at one height of the stack are: out[j * ld + i].
template <class T>
struct Slot {
    T* at;
    Index ld;
};

// lower = lower + upper or lower * upper, for whole panels of rows.
template <class T>
KP_INLINE void combine(Kind kind, Index atoms, Index rows, Slot<T> lower, Slot<T> upper) {
    for (Index j = 0; j < atoms; ++j) {
        T* a = lower.at + j * lower.ld;
        const T* b = upper.at + j * upper.ld;
        if (kind == Kind::sum)
            for (Index i = 0; i < rows; i += Simd<T>::width) store(a + i, load(a + i) + load(b + i));
        else
            for (Index i = 0; i < rows; i += Simd<T>::width) store(a + i, load(a + i) * load(b + i));
    }
}

template <class T>
KP_INLINE void multiply(T factor, Index atoms, Index rows, Slot<T> slot) {
    for (Index j = 0; j < atoms; ++j)
        for (Index i = 0; i < rows; i += Simd<T>::width) {
            T* a = slot.at + j * slot.ld + i;
            store(a, load(a) * splat(factor));
        }
}

// Values of a kernel of several steps; `above` is memory for depth * group * pass values.
template <class T>
void composed(const Kernel& kernel, const Inputs<T>& in, Slot<T> out, T* above, Index pass) {
    const Index rows = in.panels * panel_rows<T>;
    const auto slot = [&](Index height) {
        return height ? Slot<T>{above + (height - 1) * group * pass, pass} : out;
    };
    Index height = 0;
    for (const Step* step = kernel.steps; step != kernel.steps + kernel.size; ++step) {
        if (step->kind == Kind::multiple) {
            multiply(T(step->p0), in.atoms, rows, slot(height - 1));
        } else if (step->kind == Kind::sum || step->kind == Kind::product) {
            --height;
            combine(step->kind, in.atoms, rows, slot(height - 1), slot(height));
        } else {
            Inputs<T> part = in;
            part.packed += step->first * panel_rows<T>;
            part.c += step->first;
            part.width = step->width;
            const Slot<T> target = slot(height++);
            values(*step, part, target.at, target.ld);
        }
    }
}

// Values of a kernel, of one step or several, at packed rows.
template <class T>
KP_INLINE void evaluate(const Kernel& kernel, const Inputs<T>& in, Slot<T> out, T* above, Index pass) {
    if (kernel.size == 1)
        values(kernel.steps[0], in, out.at, out.ld);
    else
        composed(kernel, in, out, above, pass);
}

}  // namespace
}  // namespace kp::KP_ISA
