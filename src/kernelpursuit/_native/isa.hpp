// The instruction sets that this build and this machine have, and the one in use.
#pragma once

#include <string>
#include <vector>

#include "tiles.hpp"

namespace kp {

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

extern Isa current;

std::vector<std::string> isas();
void use_isa(const std::string& name);

}  // namespace kp
