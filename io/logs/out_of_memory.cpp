#include "io/logs/out_of_memory.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

struct ErrorSign {
    std::string_view text;
    MemoryOf of;
};

/// PyTorch: c10/cuda/CUDACachingAllocator.cpp, "CUDA out of memory. Tried to allocate ..." (HIP instead on
/// AMD), the same words of other devices, and error 2 of CUDA; JAX: status RESOURCE_EXHAUSTED of XLA; Slurm:
/// slurmstepd, "Detected 1 oom_kill event in StepId=...", "oom-kill" in older releases.
constexpr std::array<ErrorSign, 9> signs{{{"CUDA out of memory", MemoryOf::gpu},
                                          {"HIP out of memory", MemoryOf::gpu},
                                          {"XPU out of memory", MemoryOf::gpu},
                                          {"NPU out of memory", MemoryOf::gpu},
                                          {"CUDA error: out of memory", MemoryOf::gpu},
                                          {"HIP error: out of memory", MemoryOf::gpu},
                                          {"RESOURCE_EXHAUSTED: Out of memory", MemoryOf::gpu},
                                          {"oom_kill event", MemoryOf::host},
                                          {"oom-kill event", MemoryOf::host}}};

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

std::optional<OutOfMemory> out_of_memory_in(std::string_view line, std::int64_t number)
{
    constexpr std::size_t longest = 120;  // of the text
    for (const ErrorSign& sign : signs) {
        if (const std::size_t at = line.find(sign.text); at != std::string_view::npos) {
            const std::string_view text = line.substr(at, longest);
            return OutOfMemory{
                sign.of, number, {text.begin(), std::find_if_not(text.begin(), text.end(), is_plain)}};
        }
    }
    return std::nullopt;
}

}  // namespace prismopt
