#include "isa.hpp"

#include <nanobind/nanobind.h>

namespace kp {
namespace {

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

}  // namespace

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
    throw nanobind::value_error("this machine or build does not have that instruction set");
}

}  // namespace kp
