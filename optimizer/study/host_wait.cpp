#include "optimizer/study/host_wait.hpp"

#include "io/base/percent.hpp"
#include "io/toml/reading_units.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

namespace {

constexpr double noticeable = 0.05;  // share of the step; assumption

/// Modules of fixed shapes that recipes of Megatron-Bridge capture for mixtures whose
/// experts get any number of tokens.
constexpr std::array captured{Module::attn, Module::mamba, Module::moe_router, Module::moe_preprocess};

/// Experts whose kernels one operator launches, as those modules' software does, on accelerators
/// from Blackwell on, which have products of 4 bits: before, kernels are so long that captured
/// modules brought nothing (Megatron-Bridge, docs/training/cuda-graphs.md: Qwen3-30B on H100, 41.4 s
/// without and 42.0 s with them).
bool may_gain(const Problem& problem, const ParallelPlan& plan)
{
    return problem.workload.is_moe() && problem.workload.trains() && plan.cuda_graphs.empty() &&
           problem.cluster.stack.host_native.si > 0.0 && problem.cluster.accelerator.peak_fp4.si > 0.0;
}

/// Of the first phase; nothing: infeasible.
std::optional<NoiseFreeStep> noise_free_step_of(const Problem& problem, const ParallelPlan& plan)
{
    const Phase& phase = problem.phases.front();
    PlanCompiler compiler(without_memory_limit(setting_of(problem, phase)));
    const auto compiled = compiler.compile(plan_in_phase(plan, phase), CompileFor::noise_free_step);
    const auto* found = std::get_if<CompiledPlan>(&compiled);
    return found != nullptr ? std::optional(noise_free_step(found->graph)) : std::nullopt;
}

}  // namespace

std::string host_wait_text(const Problem& problem, const ParallelPlan& plan)
{
    if (!may_gain(problem, plan)) {
        return "";
    }
    const auto now = noise_free_step_of(problem, plan);
    if (!now || now->shares.host < noticeable) {
        return "";
    }
    ParallelPlan changed = plan;
    double fastest_s = now->step_s;
    std::vector<std::string> modules;
    for (const Module module : captured) {
        ParallelPlan with = changed;
        with.cuda_graphs |= {module};
        const auto step = noise_free_step_of(problem, with);
        if (step && step->step_s < fastest_s) {
            changed = with;
            fastest_s = step->step_s;
            modules.push_back(fmt::format("\"{}\"", name(module)));
        }
    }
    if (modules.empty()) {
        return "";
    }
    return fmt::format(
        "the accelerator waits for its launches {} of the step ({}); CUDA graphs, cuda_graphs = [[{}]] in "
        "[space], would make "
        "the step "
        "{} shorter",
        percent_text(now->shares.host, 0), time_text(now->shares.host * now->step_s, 3),
        fmt::join(modules, ", "), percent_text(1.0 - fastest_s / now->step_s, 0));
}

std::string host_text(const Problem& problem, const ParallelPlan& plan)
{
    const std::string waits = host_wait_text(problem, plan);
    if (!updates_on_host(plan.offload)) {
        return waits;
    }
    return waits.empty() ? std::string(host_update_words) : fmt::format("{}; {}", waits, host_update_words);
}

}  // namespace prismopt
