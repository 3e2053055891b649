// The operations on one task, for the instruction set KP_ISA names. Compiled once for each set, so nothing in the
// headers may have external linkage but the two tables here, and no library template may be instantiated.
#include "tiles.hpp"

#include "fit_steps.hpp"
#include "gradient.hpp"
#include "products.hpp"
#include "stored.hpp"

namespace kp::KP_ISA {

const Tiles<float> tiles_f32 = {block<float>,     rmatvec<float>, matvec<float>, pullback<float>,
                                transform<float>, stored<float>,  sweep<float>,  rotate<float>,
                                leave_out,        subtract_and_square};
const Tiles<double> tiles_f64 = {block<double>,     rmatvec<double>, matvec<double>, pullback<double>,
                                 transform<double>, stored<double>,  sweep<double>,  rotate<double>,
                                 leave_out,         subtract_and_square};

}  // namespace kp::KP_ISA
