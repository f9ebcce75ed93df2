#include "io/traces/known_forms.hpp"

namespace prismopt {

std::string known_forms()
{
    return "give a table of operations (step, dp, stage, op, start_us, dur_us), "
           "a trace in JSON (Kineto of torch.profiler, JAX, Chakra), "
           "the GPU trace of Nsight Systems (nsys stats --report cuda_gpu_trace --format csv), "
           "an output of nccl-tests or of the OSU benchmarks, "
           "a table of collectives (algo, bytes, lat_us) or of runs by GPU (gpu, perf), "
           "a list of outages (node, start_day, end_day; sacctmgr show event; node and date in each line), "
           "or a kernel journal with NVRM: Xid";
}

}  // namespace prismopt
