// The Python module.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "isa.hpp"
#include "parallel.hpp"

using namespace nanobind::literals;

NB_MODULE(_core, module) {
    module.doc() = "Kernel blocks and products with them; use kernelpursuit._native, which checks its arguments.";
    kp::bind_kernels(module);
    kp::bind_steps(module);
    module.def("max_threads", &kp::max_threads);
    module.def("isas", &kp::isas);
    module.def("use_isa", &kp::use_isa, "name"_a);
}
