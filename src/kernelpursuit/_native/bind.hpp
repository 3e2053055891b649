// The parts of the Python module.
#pragma once

#include <nanobind/nanobind.h>

namespace kp {

void bind_kernels(nanobind::module_& module);
void bind_steps(nanobind::module_& module);

}  // namespace kp
