#include "io/scenario/sections/catalog.hpp"
#include "model/network/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace prismopt {
namespace {

struct Size {
    const char* network;
    double tensors;      // sum over all tensors of the published configuration, 1e9
    double published;    // as printed, 1e9; 0: none found
    double digit;        // of the last printed digit, 1e9
    const char* except;  // why it is not the published number; empty: it is
};

// Published: papers and model cards, in the words of the catalog's sources.
const Size sizes[] = {
    {"llama2-7b", 6.738, 6.74, 0.01, ""},
    {"llama2-13b", 13.016, 13.02, 0.01, ""},
    {"llama2-70b", 68.977, 69.0, 0.1, ""},
    {"llama3-8b", 8.030, 8.03, 0.01, ""},
    {"llama3-70b", 70.554, 70.55, 0.01, ""},
    {"llama3-405b", 405.853, 405.0, 1.0, "the name rounds down"},
    {"mistral-7b", 7.242, 7.24, 0.01, ""},
    {"qwen2.5-7b", 7.616, 7.61, 0.01, "the model card rounds down"},
    {"qwen2.5-14b", 14.770, 14.7, 0.1, "the model card rounds down"},
    {"qwen2.5-72b", 72.706, 72.7, 0.1, ""},
    {"qwen3-8b", 8.191, 8.2, 0.1, ""},
    {"qwen3-14b", 14.768, 14.8, 0.1, ""},
    {"qwen3-32b", 32.762, 32.8, 0.1, ""},
    {"gemma2-9b", 9.242, 9.24, 0.01, ""},
    {"gemma2-27b", 27.227, 27.2, 0.1, ""},
    {"gemma3-12b", 11.766, 12.0, 1.0, ""},
    {"gemma3-27b", 27.009, 27.0, 1.0, ""},
    {"glm-4-9b", 9.400, 9.4, 0.1, ""},
    {"olmo2-7b", 7.299, 7.3, 0.1, ""},
    {"olmo2-13b", 13.716, 13.7, 0.1, ""},
    {"olmo2-32b", 32.234, 32.2, 0.1, ""},
    {"phi-3-mini", 3.821, 3.8, 0.1, ""},
    {"phi-4", 14.660, 14.7, 0.1, ""},
    {"falcon-7b", 6.922, 7.0, 1.0, ""},
    {"falcon-40b", 41.303, 40.0, 1.0, "the name rounds down; the published weights hold 41.3"},
    {"falcon-180b", 178.557, 180.0, 10.0, ""},
    {"gpt-neox-20b", 20.555, 20.55, 0.01, ""},
    {"gpt2-xl", 1.558, 1.558, 0.001, ""},
    {"nemotron4-15b", 15.629, 15.0, 1.0, "the name rounds down"},
    {"nemotron4-340b", 341.029, 340.0, 10.0, ""},
    {"mixtral-8x7b", 46.703, 46.7, 0.1, ""},
    {"mixtral-8x22b", 140.621, 141.0, 1.0, ""},
    {"qwen2-57b-a14b", 57.409, 57.4, 0.1, ""},
    {"qwen3-30b-a3b", 30.532, 30.5, 0.1, ""},
    {"qwen3-235b-a22b", 235.094, 235.0, 1.0, ""},
    {"deepseek-v2-lite", 15.707, 15.7, 0.1, ""},
    {"deepseek-v2", 235.741, 236.0, 1.0, ""},
    {"deepseek-v3", 671.026, 671.0, 1.0, ""},
    {"kimi-k2", 1026.408, 1040.0, 10.0, "no sum over the published fields gives the published count"},
    {"gpt-oss-20b", 20.915, 21.0, 1.0, ""},
    {"gpt-oss-120b", 116.829, 117.0, 1.0, ""},
    {"glm-4.5", 352.798, 355.0, 1.0, "355 is without embeddings and with the prediction module"},
    {"glm-4.5-air", 106.852, 106.0, 1.0, "106 is without embeddings, 105.6"},
    {"llama4-scout", 107.770, 109.0, 1.0, "109 is with the vision tower"},
    {"llama4-maverick", 400.712, 400.0, 1.0, "the name rounds down"},
    {"qwen3-next-80b-a3b", 79.674, 80.0, 1.0, ""},
    {"qwen3.5-27b", 26.896, 27.0, 1.0, ""},
    {"qwen3.5-397b-a17b", 396.346, 397.0, 1.0, "the name is a round number"},
    {"mamba2-2.7b", 2.703, 2.7, 0.1, ""},
    {"nemotron-h-8b", 8.101, 8.0, 1.0, ""},
    {"nemotron-h-56b", 56.324, 56.0, 1.0, ""},
    {"nemotron-nano-9b-v2", 8.888, 9.0, 1.0, ""},
    {"nemotron-3-nano-30b-a3b", 31.578, 31.6, 0.1, ""},
    {"nemotron-3-super-120b-a12b", 120.669, 120.6, 0.1, "the model card rounds down"},
    {"nemotron-3-ultra-550b-a55b", 549.309, 550.0, 1.0, "the name is a round number"},
    {"granite-4.0-h-small", 32.207, 32.0, 1.0, ""},
    {"granite-4.0-h-tiny", 6.939, 7.0, 1.0, ""},
    {"bert-large", 0.334, 0.34, 0.01, "the paper rounds up; 0.335 with the pooler"},
    {"t5-v1.1-small", 0.07696, 0.0, 0.0, ""},
    {"t5-v1.1-large", 0.783, 0.0, 0.0, ""},
    {"t5-v1.1-xl", 2.850, 3.0, 1.0, ""},
    {"t5-v1.1-xxl", 11.135, 11.0, 1.0, ""},
    {"vit-h-14", 0.631, 0.632, 0.001, "class token and its position are not counted"},
    {"vit-g-14", 1.843, 1.843, 0.001, "learned positions, 0.0004, are not counted"},
    {"dit-xl-2", 0.675, 0.675, 0.001, ""},
    {"sd2-unet", 0.866, 0.865, 0.001, "the paper rounds down"},
    {"sdxl-unet", 2.568, 2.6, 0.1, ""},
    {"wan-2.1-14b", 14.289, 14.0, 1.0, ""},
    {"flux.1-dev", 11.901, 12.0, 1.0, ""},
    {"sd3-medium", 2.059, 2.03, 0.01, "2.028 without what the text part of the last block lacks"},
    {"dlrm-dcnv2", 26.152, 0.0, 0.0, ""},
    {"dlrm-a", 801.2, 801.0, 1.0, ""},
    {"dlrm-i", 332.1, 0.0, 0.0, ""},
};

double billions(const char* network) { return parameters_of(network_of(catalog_workload(network))) / 1e9; }

TEST(NetworkSizes, AreTheSumsOverAllTensors)
{
    for (const Size& size : sizes) {
        EXPECT_NEAR(billions(size.network) / size.tensors, 1.0, 0.0005)
            << size.network << " " << billions(size.network);
    }
}

/// Rounded to the last printed digit, and where they are not, for a reason.
TEST(NetworkSizes, AreThePublishedOnesToTheirLastDigit)
{
    for (const Size& size : sizes) {
        if (size.published > 0.0) {
            const bool same = std::abs(billions(size.network) - size.published) <= 0.5 * size.digit;
            EXPECT_EQ(same, std::string(size.except).empty())
                << size.network << " " << billions(size.network);
        }
    }
}

/// Parameters that one token uses: all but the routed experts that it is not sent to. With both embeddings;
/// sums over the tensors of the published configurations.
TEST(NetworkSizes, CountTheExpertsOfAToken)
{
    const auto active = [](const char* name) {
        return active_parameters_of(network_of(catalog_workload(name))) / 1e9;
    };
    const std::pair<const char*, double> sums[] = {{"mixtral-8x7b", 12.880},
                                                   {"mixtral-8x22b", 39.152},
                                                   {"qwen3-30b-a3b", 3.353},
                                                   {"deepseek-v2-lite", 2.661},
                                                   {"deepseek-v3", 37.552},
                                                   {"kimi-k2", 32.862},
                                                   {"gpt-oss-120b", 5.712},
                                                   {"llama4-maverick", 17.185},
                                                   {"qwen3-next-80b-a3b", 3.875},
                                                   {"nemotron-3-nano-30b-a3b", 3.580},
                                                   {"nemotron-3-super-120b-a12b", 12.770},
                                                   {"granite-4.0-h-small", 8.803}};
    for (const auto& [name, sum] : sums) {
        EXPECT_NEAR(active(name) / sum, 1.0, 0.0005) << name << " " << active(name);
    }
    EXPECT_EQ(active("llama3-8b"), billions("llama3-8b"));
    // The dense part, and of the tables the rows that a sample looks up.
    EXPECT_NEAR(active("dlrm-dcnv2") * 1e9,
                billions("dlrm-dcnv2") * 1e9 - 204184588.0 * 128.0 + 214.0 * 128.0, 1.0);
}

/// GPT-like networks of papers about training, whose vocabularies are padded and
/// whose positions are not counted.
TEST(NetworkSizes, CoverTheWholeCatalog)
{
    const std::set<std::string> of_papers{"gpt-22b",         "gpt3-175b",    "gpt-530b",      "gpt-1t",
                                          "internlm-7b",     "llama2-34b",   "gpt3-5b",       "gpt3-20b",
                                          "gpt3-175b-flash", "nemotron3-8b", "nemotron3-22b", "grok1-314b"};
    std::set<std::string> covered = of_papers;
    for (const Size& size : sizes) {
        covered.insert(size.network);
    }
    for (const std::string& name : catalog_workloads()) {
        EXPECT_TRUE(covered.contains(name)) << name;
    }
}

struct Flops {
    const char* network;
    int sequence;
    double per_token;  // forward and backward, 1e9
    double tolerance;
    const char* source;
};

/// Of training, by what vendors print: model FLOP/s over tokens/s (NVIDIA Megatron-Bridge,
/// docs/performance-summary.md), and papers.
TEST(NetworkSizes, NeedThePublishedOperations)
{
    const Flops rows[] = {
        {"deepseek-v3", 4096, 249.7, 0.005, "Megatron-Bridge, without prediction module"},
        {"deepseek-v2", 4096, 155.0, 0.005, "arXiv 2505.09343, table 2"},
        {"kimi-k2", 4096, 204.4, 0.006, "Megatron-Bridge, without the router's products, here 1.0"},
        {"qwen3-30b-a3b", 4096, 22.95, 0.01, "Megatron-Bridge: 22.8 to 23.1"},
        {"qwen3-235b-a22b", 4096, 148.0, 0.005, "Megatron-Bridge: 147.7 to 148.2"},
        {"gpt-oss-120b", 4096, 32.6, 0.005, "Megatron-Bridge, newest rows: windows counted"},
        {"llama3-405b", 8192, 2525.0, 0.005, "Megatron-Bridge: 2520 to 2530"},
        {"llama3-70b", 8192, 449.2, 0.005, "Megatron-Bridge: 439 to 453"},
        {"llama3-8b", 8192, 51.5, 0.005, "Megatron-Bridge, release 25.11"},
        // Its formula for scans takes twice the hidden size for their width and 7
        // products (section 3.5 of the methods).
        {"nemotron-3-nano-30b-a3b", 8192, 22.3, 0.08, "Megatron-Bridge: 22.1 to 22.6"},
        {"nemotron-3-super-120b-a12b", 8192, 75.4, 0.02, "the same formula without prediction modules"},
        {"nemotron-3-ultra-550b-a55b", 8192, 335.6, 0.02, "the same"},
    };
    for (const Flops& row : rows) {
        const Network network = network_of(catalog_workload(row.network));
        EXPECT_NEAR(model_flops_per_sequence(network, row.sequence) / row.sequence / 1e9 / row.per_token, 1.0,
                    row.tolerance)
            << row.network << " " << model_flops_per_sequence(network, row.sequence) / row.sequence / 1e9
            << "; " << row.source;
    }
    // Forward passes of images and samples: multiply-adds of DiT-XL/2 (118.6e9 at 256 pixels, 524.5e9 at 512;
    // facebookresearch/DiT), operations of ViT-G/14 (963.6e9; arXiv 2106.04560, table 2), U-Nets counted by
    // hand from their configurations.
    const Flops forward[] = {{"dit-xl-2", 256, 2.0 * 118.6, 0.005, "arXiv 2212.09748, table 4"},
                             {"dit-xl-2", 1024, 2.0 * 524.5, 0.005, "same"},
                             {"vit-g-14", 256, 963.6, 0.005, "arXiv 2106.04560, table 2"},
                             {"sd2-unet", 4096, 804.0, 0.01, "by hand"},
                             {"sdxl-unet", 16384, 6760.0, 0.01, "by hand"},
                             {"flux.1-dev", 4608, 74400.0, 0.005, "by hand, with 512 tokens of text"}};
    for (const Flops& row : forward) {
        const Network network = network_of(catalog_workload(row.network));
        const double third = model_flops_per_sequence(network, row.sequence) / 3.0 / 1e9;
        EXPECT_NEAR(third / row.per_token, 1.0, row.tolerance)
            << row.network << " " << third << "; " << row.source;
    }
}

}  // namespace
}  // namespace prismopt
