#include "io/authoring/starter_space.hpp"

#include "io/scenario/sections/software.hpp"
#include "io/toml/quantity.hpp"
#include "io/trainers/trainer.hpp"
#include "model/plan/plan.hpp"
#include "model/plan_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace prismopt {

namespace {

using Values = std::vector<std::string>;  // as TOML has them

Values texts_of(const std::vector<int>& numbers)
{
    Values texts;
    for (const int number : numbers) {
        texts.push_back(std::to_string(number));
    }
    return texts;
}

std::string line_of(const std::string& axis, const Values& values, const std::string& comment)
{
    constexpr std::size_t column = 37;  // of comments
    std::string line = fmt::format("{} = [{}]", axis, fmt::join(values, ", "));
    if (!comment.empty()) {
        line += std::string(line.size() < column - 3 ? column - line.size() : 3, ' ') + "# " + comment;
    }
    return line + "\n";
}

/// Powers of two up to `most` that pass.
template <class Passes>
std::vector<int> powers_of_two(int most, Passes passes)
{
    std::vector<int> values;
    for (int value = 1; value <= most; value *= 2) {
        if (passes(value)) {
            values.push_back(value);
        }
    }
    return values;
}

/// Ways of sharing a sequence that is long for one GPU: Llama 3 shared 131,072 tokens among
/// 16 (arXiv 2407.21783, table 4).
std::vector<int> context_choices(int sequence, int gpus)
{
    constexpr int longest_of_one = 32767;
    constexpr int tokens_of_one = 8192;
    return sequence <= longest_of_one
               ? std::vector<int>{}
               : powers_of_two(std::min(gpus, std::clamp(sequence / tokens_of_one, 8, 64)),
                               [&](int value) { return value == 1 || sequence % (2 * value) == 0; });
}

/// Stages of a pipeline; with a factor of the GPUs that does not divide the batch, so that
/// replicas can be as many as do.
std::vector<int> stage_choices(const StarterSpace& of, int most)
{
    std::vector<int> stages = powers_of_two(most, [](int) { return true; });
    const int odd = odd_factor(of.units.gpus);
    if (of.choice.global_batch % odd != 0) {
        for (int value = odd; value <= most; value *= 2) {
            stages.push_back(value);
        }
        std::sort(stages.begin(), stages.end());
    }
    return stages;
}

/// Tables are held once, over all GPUs; the rest is replicated.
std::string space_of_tables(const StarterSpace& of)
{
    const std::vector<int> gpus = gpu_choices(of.units, of.choice.global_batch);
    std::vector<int> microbatches;
    for (auto count = gpus.rbegin(); count != gpus.rend(); ++count) {
        for (const int divisor : {2, 1}) {
            const int share = of.choice.global_batch / *count / divisor;
            if (share > 0 && of.choice.global_batch % (*count * divisor) == 0 &&
                std::find(microbatches.begin(), microbatches.end(), share) == microbatches.end()) {
                microbatches.push_back(share);
            }
        }
    }
    return "[space]\n" + line_of("gpus", texts_of(gpus), "GPUs of the job") +
           line_of("ep", texts_of(gpus), "GPUs that share the embedding tables: all of the job's") +
           line_of("microbatch", texts_of(microbatches), "samples per microbatch and GPU") +
           line_of("sharding", {"\"zero1\""}, "none, zero1, zero2, zero3");
}

/// A value of a list as TOML has it: a name, a number, or a set of names.
std::string text_of(const Value& value)
{
    constexpr Range any{"number", 0, std::numeric_limits<int>::max(), "1"};
    if (value.is_text()) {
        return fmt::format("\"{}\"", value.text("\"...\""));
    }
    if (!value.is_list()) {
        return std::to_string(value.count(any));
    }
    Values names;
    for (const Value& name : value.is_empty_list() ? std::vector<Value>{} : value.list("[\"attn\"]")) {
        names.push_back(text_of(name));
    }
    return fmt::format("[{}]", fmt::join(names, ", "));
}

/// What the catalog's software offers on its axes, as far as it applies to the network and its machine.
class Levers {
public:
    Levers(const StarterSpace& of, const Catalog& catalog)
        : of_(of), table_(lever_values(of.software, catalog))
    {
    }

    /// Nothing where the software has no list for the axis.
    std::optional<Values> on(const std::string& axis)
    {
        const auto list = table_ ? table_->find(axis) : std::nullopt;
        if (!list) {
            return std::nullopt;
        }
        Values values;
        for (const Value& value : list->list("[...]")) {
            const std::string text = text_of(value);
            if (applies(text)) {
                values.push_back(text);
            }
        }
        return values;
    }
    /// Whether the software has this kind of parallelism: no list, or one with degrees above one.
    bool divides(const std::string& axis)
    {
        const auto values = on(axis);
        return !values || *values != Values{"1"};
    }

private:
    bool applies(const std::string& value) const
    {
        if (value == in_quotes(name(ExpertOverlap::shared_experts))) {
            return has_shared_experts(of_.workload);
        }
        if (value == in_quotes(name(Dispatch::deepep))) {
            return of_.units.unit <= most_deepep_gpus;
        }
        if (value == in_quotes(name(Dispatch::hybridep))) {
            return of_.units.unit > most_deepep_gpus;
        }
        return of_.offloads || value != in_quotes(name(Offload::optimizer));
    }

    const StarterSpace& of_;
    std::optional<Table> table_;
};

std::string names_beside(const Values& listed)
{
    Values others;
    for (const std::string& schedule : enum_names<Schedule>()) {
        if (std::find(listed.begin(), listed.end(), in_quotes(schedule)) == listed.end()) {
            others.push_back(schedule);
        }
    }
    return fmt::format("also: {}", fmt::join(others, ", "));
}

std::string pipeline_lines(Levers& levers, bool moe, bool vocabulary)
{
    std::string text = line_of("v", {"1", "2", "4"}, "model chunks per pipeline rank, for interleaved");
    const Values schedules = levers.on("schedule").value_or(Values{"\"1f1b\"", "\"interleaved\""});
    text += line_of("schedule", schedules, names_beside(schedules));
    const Values both{"\"tp-dp-pp\"", "\"tp-pp-dp\""};
    text += moe ? line_of("order", {"\"tp-dp-pp\""},
                          "the only one that trainers run with expert groups over replicas")
                : line_of("order", levers.on("order").value_or(both),
                          "order of the parallel dimensions over the GPUs, innermost first");
    return text + (vocabulary ? line_of("split", {"\"layers\"", "\"slots\""},
                                        "slots: embedding and loss head count as a layer each")
                              : "");
}

/// Ways to recompute, with the sets of modules that the trainer's selective recomputation covers.
std::string recompute_lines(const StarterSpace& of, Values recompute)
{
    const auto sets = recomputed_sets(of.trainer, of.workload);
    const std::string selective = in_quotes(name(Recompute::selective));
    if (!of.trainer.empty() && sets.empty()) {
        std::erase(recompute, selective);
    }
    std::string text = line_of("recompute", recompute, "");
    if (!sets.empty() && std::find(recompute.begin(), recompute.end(), selective) != recompute.end()) {
        text += fmt::format("recompute_modules = {}   # modules that {} can recompute\n", toml_text(sets),
                            of.software);
    }
    return text;
}

/// Lines of axes that only some software has, where their values can make a difference and the export to the
/// trainer that was asked for has settings for them.
std::string lever_lines(const StarterSpace& of, Levers& levers, bool tensor_groups)
{
    const bool moe = of.workload.is_moe();
    std::string text;
    const auto add = [&](const char* axis, bool matters, const char* comment) {
        auto values = matters ? levers.on(axis) : std::nullopt;
        if (values) {
            std::erase_if(*values, [&](const std::string& value) {
                return !is_exported(of.choice.trainer, axis, value);
            });
        }
        text += values && values->size() > 1 ? line_of(axis, *values, comment) : "";
    };
    add("tp_overlap", tensor_groups, "whether collectives of tensor parallelism run beside products");
    add("expert_overlap", moe, "what runs beside the exchange of tokens with experts");
    add("dispatch", moe, "how tokens are sent to experts");
    add("cuda_graphs", moe, "modules that no longer wait for the host");
    add("offload", true, "what is kept in host memory");
    return text;
}

}  // namespace

std::string starter_space(const StarterSpace& of, const Catalog& catalog)
{
    const Workload& workload = of.workload;
    if (workload.find<TablesBlock>() != nullptr) {
        return space_of_tables(of);
    }
    Levers levers(of, catalog);
    const int gpus = of.units.gpus;
    const int node = of.units.unit;
    const bool asks = !of.choice.question.empty();
    std::string text =
        "[space]\n" + line_of("gpus",
                              texts_of(asks ? asked_gpu_choices(of.units, of.choice.global_batch)
                                            : gpu_choices(of.units, of.choice.global_batch)),
                              "GPUs of the job");
    text += of.spares.empty()
                ? ""
                : line_of("spares", texts_of(of.spares), "waiting nodes that replace failed ones");
    const auto divides_node = [&](int value) { return node % value == 0 && workload.splits_by(value); };
    const std::vector<int> tp =
        levers.divides("tp") ? powers_of_two(std::min({8, node, gpus}), divides_node) : std::vector<int>{1};
    text += line_of("tp", texts_of(tp), "tensor-parallel degrees");
    if (const auto cp = context_choices(of.choice.sequence, gpus); !cp.empty() && levers.divides("cp")) {
        text += line_of("cp", texts_of(cp), "context-parallel degrees: GPUs that share a sequence");
        const auto heads = levers.on("ulysses");
        text +=
            heads && *heads != Values{"1"}
                ? line_of("ulysses", *heads, "of these GPUs, those that exchange heads by all-to-all; 0: all")
                : "";
    }
    // their connections do not cross stages
    const bool skips = workload.find<ResidualConvolutionBlock>() != nullptr;
    const bool one_stage = skips || !levers.divides("pp");
    text +=
        line_of("pp", texts_of(stage_choices(of, one_stage ? 1 : std::min({workload.layers(), gpus, 64}))),
                "pipeline stages; data-parallel replicas follow: dp = gpus / (tp*cp*pp)");
    if (workload.is_moe() && levers.divides("ep")) {
        constexpr int most_experts = 512;  // of the catalog's networks
        text += line_of("ep",
                        texts_of(powers_of_two(std::min(most_experts, gpus),
                                               [&](int value) { return workload.experts_divide(value); })),
                        "expert-parallel degrees");
    }
    text += line_of("microbatch", {"1", "2", "4"}, of.sample + "s per microbatch");
    text +=
        recompute_lines(of, levers.on("recompute").value_or(Values{"\"none\"", "\"selective\"", "\"full\""}));
    text +=
        line_of("sharding", levers.on("sharding").value_or(Values{"\"zero1\""}), "none, zero1, zero2, zero3");
    text += one_stage ? "" : pipeline_lines(levers, workload.is_moe(), workload.vocabulary > 0);
    return text + lever_lines(of, levers, tp.size() > 1);
}

}  // namespace prismopt
