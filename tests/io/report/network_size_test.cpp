#include "io/report/network_size.hpp"

#include "io/report/network_json.hpp"
#include "io/scenario/sections/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(NetworkSize, IsOfATokenOrASample)
{
    const NetworkSize dense = network_size(catalog_workload("llama3-8b"), 8192);
    EXPECT_EQ(dense.active, dense.parameters);
    EXPECT_EQ(dense.trained, dense.parameters);
    EXPECT_NEAR(dense.flops / 51.5e9, 1.0, 0.005);  // NVIDIA Megatron-Bridge, docs/performance-summary.md
    EXPECT_THAT(network_text(dense), HasSubstr("8.03e+09 parameters; 5.1"));
    EXPECT_THAT(network_text(dense), HasSubstr("FLOPs per token in training, with 8192 tokens per sequence"));
    EXPECT_TRUE(network_json(dense).contains("flops_per_token"));
    const NetworkSize mixture = network_size(catalog_workload("mixtral-8x7b"), 4096);
    EXPECT_THAT(network_text(mixture), HasSubstr("(1.288e+10 active per token)"));
    // Three times the multiply-adds of a forward pass, arXiv 2212.09748, table 4.
    const NetworkSize images = network_size(catalog_workload("dit-xl-2"), 256);
    EXPECT_NEAR(images.flops / (3.0 * 2.0 * 118.6e9), 1.0, 0.005);
    EXPECT_THAT(network_text(images), HasSubstr("FLOPs per sample in training, with 256 tokens per sample"));
    EXPECT_THAT(network_text(network_size(catalog_workload("dlrm-a"), 1)), Not(HasSubstr("with 1 tokens")));
}

/// Adapters of rank 16 on the products of Llama 3 70B: docs/methods/tasks.md.
TEST(NetworkSize, ReportsWhatIsTrained)
{
    Workload w = catalog_workload("llama3-70b");
    w.frozen_ends = true;
    w.adapter_rank = 16;
    w.kinds.front().frozen = true;
    const NetworkSize size = network_size(w, 4096);
    EXPECT_DOUBLE_EQ(size.trained, 175'636'480.0);
    EXPECT_THAT(network_text(size), HasSubstr("1.756e+08 of them trained"));
    w.task = WorkloadTask::inference;
    const NetworkSize forward = network_size(w, 4096);
    EXPECT_LT(forward.flops, 0.6 * size.flops);
    EXPECT_THAT(network_text(forward), Not(HasSubstr("trained")));
}

}  // namespace
}  // namespace prismopt
