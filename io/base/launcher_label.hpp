#pragma once

#include <string_view>

namespace prismopt {

/// The prefix that launchers give to the lines of a rank: "[rank0]:", "[default0]:" (torchrun), "0:"
/// (srun --label), "[1,0]<stdout>:" (Open MPI's mpirun --tag-output; since version 5
/// "[prterun-host-17@1,0]<stdout>:"). Empty: none.
std::string_view launcher_label(std::string_view line);

}  // namespace prismopt
