#include "io/measured/measured_kernels.hpp"

#include "io/base/utf8.hpp"
#include "model/network/call_times.hpp"
#include "model/network/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

namespace prismopt {

namespace {

constexpr const char* kernels_source = "Kernels";

/// Accelerators by the `gpu` column, and the engines whose kernels count: those that run on most of them.
struct Measured {
    const char* gpu;
    const char* accelerator;
    const char* products;
    const char* attention;
    const char* latent;
    const char* experts;
};
constexpr auto measured =
    std::to_array<Measured>({{"A100", "a100-sxm-80gb", "sglang", "sglang", "trtllm", ""},
                             {"H100", "h100-sxm", "trtllm", "vllm", "trtllm", "trtllm"},
                             {"B200", "b200-sxm", "trtllm", "vllm", "trtllm", "trtllm"},
                             {"GB200", "gb200", "trtllm", "vllm", "trtllm", "trtllm"},
                             {"B300", "b300-sxm", "trtllm", "vllm", "trtllm", "trtllm"}});

struct Kind {
    const char* name;
    Precision precision;
    const char* key;  // of products
};
constexpr auto kinds = std::to_array<Kind>({{"bf16", Precision::bf16, "gemm"},
                                            {"fp8_tensor", Precision::fp8_current, "gemm_fp8"},
                                            {"fp8_block", Precision::fp8_blockwise, "gemm_fp8_block"},
                                            {"nvfp4", Precision::nvfp4, "gemm_nvfp4"}});

constexpr double shortest = 1024.0;  // tokens: of attention in training
constexpr int largest_ep = 8;        // groups beyond it also pass over tokens of others

/// Sizes of latent attention in its training form (DeepSeek-V3, arXiv 2412.19437, section 4.2).
constexpr double latent_key = 192.0;
constexpr double latent_value = 128.0;

std::optional<KernelTable> table_of(const CsvRow& row)
{
    const std::string kind = row.text("kind");
    if (kind == "gemm") {
        return KernelTable::product;
    }
    if (kind == "attention") {
        return row.number("window") > 0.0 && row.number("window") < row.number("tokens")
                   ? KernelTable::window
                   : KernelTable::attention;
    }
    if (kind == "attention_mla") {
        return KernelTable::latent_attention;
    }
    if (kind == "experts") {
        return KernelTable::experts;
    }
    if (kind == "cast") {
        return KernelTable::cast;
    }
    return kind == "amax" ? std::optional(KernelTable::largest_value) : std::nullopt;
}

std::string engine_of(const Measured& on, KernelTable table)
{
    switch (table) {
        case KernelTable::product: return on.products;
        case KernelTable::attention:
        case KernelTable::window: return on.attention;
        case KernelTable::latent_attention: return on.latent;
        case KernelTable::experts: return on.experts;
        case KernelTable::cast:
        case KernelTable::largest_value: break;
    }
    return "trtllm";
}

/// Causal, as the network's operator executes it.
AttentionWork attention_of(const CsvRow& row, bool latent)
{
    Attention core;
    core.heads = row.number("heads");
    core.key_heads = row.number("kv_heads") > 0.0 ? row.number("kv_heads") : core.heads;
    core.key_size = latent ? latent_key : row.number("head_size");
    core.value_size = latent ? latent_value : core.key_size;
    core.window = row.number("window");
    const LayerShape shape{{.microbatch = row.count("batch")}, row.count("tokens")};
    Calls calls;
    core.forward(Extent(shape), calls);
    return attention_work(std::get<KernelCall>(calls.list().front()));
}

/// Why the model does not cover a row; empty where it does.
std::string kernel_refusal(const CsvRow& row, KernelTable table, const Kind* kind, const Measured& on)
{
    const bool attention = table == KernelTable::attention || table == KernelTable::window;
    if (row.text("engine") != engine_of(on, table)) {
        return "another engine is compared on this accelerator";
    }
    if (kind == nullptr || (attention && kind->precision != Precision::bf16)) {
        return fmt::format("{} in {} has no constants", name(table), row.text("precision_kind"));
    }
    if ((attention || table == KernelTable::latent_attention) && row.number("tokens") < shortest) {
        return "shorter than sequences of training";
    }
    if (table == KernelTable::experts &&
        (row.text("distribution") != "balanced" || row.count("ep") > largest_ep)) {
        return "experts with unequal loads, or in groups that pass over tokens of others";
    }
    return row.text("notes").find("slower than the other engine") != std::string::npos
               ? "slower than the other engine"
               : "";
}

std::string key_of(KernelTable table, const Kind& kind)
{
    switch (table) {
        case KernelTable::product: return kind.key;
        case KernelTable::attention: return "attention";
        case KernelTable::latent_attention: return "attention_latent";
        case KernelTable::cast: return "cast";
        case KernelTable::window:
        case KernelTable::experts:
        case KernelTable::largest_value: break;
    }
    return "";
}

MeasuredKernel kernel_of(const CsvRow& row, KernelTable table, const Kind& kind, const Measured& on)
{
    MeasuredKernel read;
    read.table = table;
    read.accelerator = on.accelerator;
    read.key = key_of(table, kind);
    read.precision = kind.precision;
    read.m = row.number("m");
    read.n = row.number("n");
    read.k = row.number("k");
    read.measured_s = row.number("time_us") * 1e-6;
    read.shapes = fmt::format("{} x {}", read.n, read.k);
    if (table == KernelTable::attention || table == KernelTable::window ||
        table == KernelTable::latent_attention) {
        read.attention = attention_of(row, table == KernelTable::latent_attention);
        read.shapes = fmt::format("{} tokens", row.number("tokens"));
    } else if (table == KernelTable::experts) {
        const double ep = row.number("ep");
        read.groups = row.number("experts") / ep;
        read.tokens = row.number("tokens") / ep;
        read.m = read.tokens * row.number("top_k") / read.groups;
        read.shapes = fmt::format("{} experts of {} x {}", row.number("experts"), read.k, read.n);
    }
    return read;
}

}  // namespace

MeasuredKernels read_measured_kernels(const std::string& folder)
{
    MeasuredKernels result;
    const std::string path = (std::filesystem::path(folder) / kernels_table).string();
    if (!std::filesystem::exists(path)) {
        return result;
    }
    int line = 1;
    for (const CsvRow& row : read_csv(path)) {
        const std::string label = fmt::format("training_kernels line {}", ++line);
        const auto* on = std::find_if(measured.begin(), measured.end(),
                                      [&row](const Measured& m) { return row.text("gpu") == m.gpu; });
        const auto* kind = std::find_if(kinds.begin(), kinds.end(), [&row](const Kind& k) {
            return row.text("precision_kind") == k.name;
        });
        const auto table = table_of(row);
        if (on == measured.end() || !table) {
            result.skipped.push_back(
                {kernels_source, label,
                 plain_text(fmt::format("{} on {} is not described", row.text("kind"), row.text("gpu")))});
            continue;
        }
        const std::string reason = kernel_refusal(row, *table, kind == kinds.end() ? nullptr : kind, *on);
        if (!reason.empty()) {
            result.skipped.push_back({kernels_source, label, plain_text(reason)});
            continue;
        }
        result.rows.push_back(kernel_of(row, *table, *kind, *on));
        result.rows.back().row = label;
    }
    return result;
}

}  // namespace prismopt
