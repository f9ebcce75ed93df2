#include "io/logs/out_of_memory.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(OutOfMemory, IsFoundInTheLinesOfTrainersAndSlurm)
{
    const struct {
        const char* line;
        MemoryOf of;
        const char* text;
    } cases[] = {
        {"[rank1]: torch.OutOfOutOfMemory: CUDA out of memory. Tried to allocate 2.00 GiB.", MemoryOf::gpu,
         "CUDA out of memory. Tried to allocate 2.00 GiB."},
        {"RuntimeError: CUDA error: out of memory", MemoryOf::gpu, "CUDA error: out of memory"},
        {"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7 "
         "bytes.",
         MemoryOf::gpu, "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7 bytes."},
        {"slurmstepd: error: Detected 1 oom_kill event in StepId=11.0. Some", MemoryOf::host,
         "oom_kill event in StepId=11.0. Some"},
        {"slurmstepd: error: Detected 2 oom-kill event(s) in step 3756240.batch cgroup.", MemoryOf::host,
         "oom-kill event(s) in step 3756240.batch cgroup."},
    };
    for (const auto& c : cases) {
        const auto error = out_of_memory_in(c.line, 7);
        ASSERT_TRUE(error) << c.line;
        EXPECT_EQ(error->of, c.of);
        EXPECT_EQ(error->line, 7);
        EXPECT_EQ(error->text, c.text);
    }
    EXPECT_FALSE(out_of_memory_in("memory: 40.00GiB(50.00%); reduce the batch if you are out of memory", 7));
}

TEST(OutOfMemory, TextIsShortAndPlain)
{
    EXPECT_EQ(out_of_memory_in("CUDA out of memory\xff\x1b rest", 1)->text, "CUDA out of memory");
    EXPECT_LE(out_of_memory_in("CUDA out of memory" + std::string(1000, '.'), 1)->text.size(), 120U);
}

}  // namespace
}  // namespace prismopt
