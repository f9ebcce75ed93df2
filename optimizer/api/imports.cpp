#include "optimizer/api/imports.hpp"

#include "io/authoring/jobs/job_scenario.hpp"
#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/files/own_catalog.hpp"
#include "io/scenario/layout_text.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/toml/toml.hpp"
#include "io/trainers/trainer.hpp"
#include "io/trainers/trainer_settings.hpp"
#include "model/network/network.hpp"
#include "model/plan/layout.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan_axes.hpp"
#include "optimizer/api/job_changes.hpp"
#include "optimizer/improve/plans_space.hpp"
#include "optimizer/space/design_map.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/measured_plans.hpp"
#include "optimizer/study/study_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace prismopt {

namespace {

std::string plain(const std::string& text) { return printable(escape_controls(text), 100); }

/// "train.sh:12  --tensor-model-parallel-size = 4 -> tp"
std::string line_of(const ImportedValue& value)
{
    const std::string place =
        value.place.file.empty() ? "" : fmt::format("   ({})", plain(value.place.text()));
    return fmt::format("  {}{}{}{}\n", plain(value.name),
                       value.value.empty() ? "" : " = " + plain(value.value),
                       value.key.empty() ? "" : "   -> " + value.key, place);
}

std::string names_of_values(const std::vector<ImportedValue>& values)
{
    std::vector<std::string> names;
    for (const ImportedValue& value : values) {
        names.push_back(plain(value.name));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string section(const std::string& heading, const std::vector<ImportedValue>& values)
{
    std::string text = values.empty() ? "" : heading + "\n";
    for (const ImportedValue& value : values) {
        text += line_of(value);
    }
    return text;
}

/// A list of many names in lines of readable length.
std::string short_section(const std::string& heading, const std::vector<ImportedValue>& values)
{
    return values.empty() ? "" : fmt::format("{}: {}\n", heading, names_of_values(values));
}

nlohmann::json values_json(const std::vector<ImportedValue>& values)
{
    nlohmann::json list = nlohmann::json::array();
    for (const ImportedValue& value : values) {
        list.push_back({{"name", value.name},
                        {"value", value.value},
                        {"key", value.key},
                        {"place", value.place.text()}});
    }
    return list;
}

/// A value that a user may give, as a text: valid UTF-8 whatever the files hold.
std::string dumped(const nlohmann::json& json)
{
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json axis_json(int value) { return value; }
nlohmann::json axis_json(Seconds value) { return value.si; }
nlohmann::json axis_json(const ModuleSet& value) { return text_of(value); }
template <Nameable Enum>
nlohmann::json axis_json(Enum value)
{
    return name(value);
}

/// The layers of each chunk, as exports write them; empty: the plan has no division of the layers.
std::string layers_of_chunks(const JobImport& of)
{
    const Workload& w = of.scenario.workload;
    const auto chunks = layout(w.layers(), of.job.plan, w.layouts);
    const auto* known = std::get_if<std::vector<Chunk>>(&chunks);
    return known == nullptr ? "" : layout_text(*known, w.predictions);
}

nlohmann::json plan_values(const JobImport& of)
{
    const ParallelPlan& plan = of.job.plan;
    nlohmann::json json{{"gpus", plan.gpus()},
                        {"dp", plan.dp},
                        {"microbatches", plan.microbatches(of.job.global_batch)},
                        {"layout", layers_of_chunks(of)}};
    for_each_axis([&](const auto& axis) { json[std::string(axis.name)] = axis_json(plan.*(axis.choice)); });
    return json;
}

nlohmann::json network_values(const JobImport& of)
{
    const Workload& w = of.scenario.workload;
    const Network network = network_of(w);
    nlohmann::json json{
        {"catalog", of.job.model},
        {"layers", w.layers()},
        {"hidden", w.hidden},
        {"heads", w.heads()},
        {"vocabulary", w.vocabulary},
        {"positions", w.positions},
        {"tied_embedding", w.tied_embedding},
        {"normalisation", name(w.normalisation)},
        {"dropout", w.dropout},
        {"precision", name(w.precision)},
        {"adapter_rank", w.adapter_rank},
        {"parameters", parameters_of(network) - (w.adapter_rank > 0 ? trained_parameters_of(network) : 0.0)},
        {"adapter_parameters", of.job.adapter_parameters},
        {"active_parameters", active_parameters_of(network)},
        {"trainable", trained_parameters_of(network)}};
    if (const auto* attention = w.find<AttentionBlock>()) {
        json["kv_heads"] = attention->key_heads();
        json["head"] = attention->head > 0 ? attention->head : w.hidden / attention->heads;
        json["bias"] = name(attention->bias);
        json["query_key_norm"] = name(attention->query_key_norm);
    }
    if (const auto* mlp = w.find<MlpBlock>()) {
        json["feed_forward"] = mlp->inner;
        json["activation"] = name(mlp->activation);
    }
    if (const auto* experts = w.find<ExpertsBlock>()) {
        json["experts"] = experts->count;
        json["active"] = experts->active;
        json["expert_inner"] = experts->inner;
        json["shared"] = experts->shared;
    }
    return json;
}

void refuse_wrong_request(const ImportRequest& request)
{
    if (request.files.empty() && request.command.empty()) {
        throw InputError("give the files that start the training, or --command; see --help");
    }
    for (const auto& [option, count] :
         {std::pair{"gpus", request.gpus}, std::pair{"gpus-per-node", request.node_gpus}}) {
        if (count < 0) {
            throw InputError(fmt::format(
                "--{} {} is not positive; give a positive number or leave the option out", option, count));
        }
    }
    if (!request.accelerator.empty() && !request.instance.empty()) {
        throw InputError("--instance and --accelerator both name the accelerator; remove one of the two");
    }
    if (!request.workload.empty() && request.model_config) {
        throw InputError("--workload and --model-config both name the network; remove one of the two");
    }
}

/// Reads the text of a job's scenario.
Scenario scenario_of(const std::string& text, const std::string& path,
                     const std::vector<std::string>& catalogs)
{
    try {
        return parse_scenario(with_catalog_files(text, path, catalogs).text, path);
    } catch (const InputError& error) {
        throw InputError(fmt::format("the job gives no valid scenario: {}", error.what()));
    }
}

/// Whether a rule of the trainer refuses whatever plan a job has.
bool refuses_job(const std::string& trainer, int gpus, const Problem& problem)
{
    const std::vector<TrainerRule>& rules = trainer_rules(trainer);
    return std::any_of(rules.begin(), rules.end(),
                       [&](const TrainerRule& rule) { return is_on_job(rule, gpus, problem); });
}

/// How a search is limited to the trainer of a job.
struct SearchLimit {
    std::string trainer;           // empty: none writes files like these, or none writes any plan of the job
    std::set<std::string> too;     // "cuda_graphs=attn": values of the job's plan that no export writes
    std::vector<std::string> why;  // the export does not write these
};
SearchLimit search_limit(const JobImport& of)
{
    SearchLimit limit;
    const std::string& trainer = of.scenario.cluster.software.trainer;
    if (!is_written_back(of.job.format) || trainer.empty()) {
        return limit;
    }
    const StudyModel model(of.scenario, tables_of(of.scenario, {of.job.plan}));
    const Problem& problem = model.problem;
    std::set<std::string> why;
    for (const Phase& phase : problem.phases) {
        for (const TrainerRule& rule : trainer_rules(trainer)) {
            const std::string reason = rule.why({plan_in_phase(of.job.plan, phase), phase, problem});
            if (!reason.empty()) {
                limit.too.insert(axis_text(rule.axis, of.job.plan));
                why.insert(reason);
            }
        }
    }
    limit.why = {why.begin(), why.end()};
    limit.trainer = !why.empty() && refuses_job(trainer, of.job.plan.gpus(), problem) ? "" : trainer;
    return limit;
}

/// Values of an axis that the settings of a trainer without an export can give, where the axis has more.
struct OfferedValues {
    std::string_view format;
    std::string_view axis;
    std::string_view values;  // as [space] has them
};
constexpr auto offered_values = std::to_array<OfferedValues>({
    // src/nanotron/helpers.py, init_optimizer_and_grad_accumulator(): any zero_stage above 0 shards states
    {"nanotron", "sharding", R"(["none", "zero1"])"},
    // src/nanotron/config/parallelism_config.py, recompute_layer
    {"nanotron", "recompute", R"(["none", "full"])"},
    // src/nanotron/config/utils_config.py, cast_str_to_pipeline_engine()
    {"nanotron", "schedule", R"(["1f1b", "gpipe"])"},
});

/// Whether a setting of the trainer gives this axis, or one from which it follows.
bool gives(const TrainerSettings& table, std::string_view axis)
{
    std::set<std::string_view> keys{axis};
    if (axis == "etp") {
        keys.insert("tp");
    } else if (axis == "schedule") {
        keys.insert("v");
    }
    return std::any_of(table.rows.begin(), table.rows.end(), [&keys](const TrainerSetting& row) {
        return row.effect == SettingEffect::read && keys.contains(row.key);
    });
}

/// The text of a scenario whose axes have only values that the trainer of the job has settings for. An axis
/// without such a setting has the value of the job. Adds the names of these axes to `limited`.
std::string with_offered_values(const JobImport& of, const std::string& path, std::set<std::string>& limited)
{
    std::string text = of.text;
    const TrainerSettings* table = settings_of(of.job.format);
    if (table == nullptr || is_written_back(of.job.format)) {
        return text;
    }
    for_each_axis([&](const auto& axis) {
        const auto offered =
            std::find_if(offered_values.begin(), offered_values.end(), [&](const OfferedValues& values) {
                return of.job.format.starts_with(values.format) && axis.name == values.axis;
            });
        const bool known = offered != offered_values.end();
        if (!known && gives(*table, axis.name)) {
            return;
        }
        limited.emplace(axis.name);
        const std::string own = space_list(axis.name, {&of.job.plan, 1});
        if (known || (of.scenario.space.*(axis.values)).size() > 1) {
            text = with_value(text, path, fmt::format("space.{}", axis.name),
                              known ? std::string(offered->values) : own);
        }
    });
    return text;
}

/// Whatever the software of the scenario offers, these axes have the values of its space.
void hold_levers(Scenario& scenario, const std::set<std::string>& limited)
{
    for_each_axis([&](const auto& axis) {
        if (limited.contains(std::string(axis.name))) {
            scenario.levers.*(axis.values) = scenario.space.*(axis.values);
        }
    });
}

}  // namespace

JobImport import_job(const ImportRequest& request, const std::vector<std::string>& catalogs)
{
    refuse_wrong_request(request);
    const auto own = catalog_with(catalogs);
    const Catalog& catalog = own ? *own : Catalog::built_in();
    JobImport of;
    of.job = imported_job(request, catalog);
    of.text = job_scenario(of.job, request, catalog);
    const std::string path = request.name + ".toml";
    of.scenario = scenario_of(of.text, path, catalogs);
    const SearchLimit limit = search_limit(of);
    if (!limit.trainer.empty()) {
        of.text = job_scenario(of.job, request, catalog, limit.trainer);
        if (!limit.too.empty()) {
            of.text = with_value(of.text, path, "search.runs_too", nlohmann::json(limit.too).dump());
        }
        of.scenario = scenario_of(of.text, path, catalogs);
    }
    if (!limit.why.empty()) {
        of.job.report.assumed.push_back(fmt::format(
            "{}, since the export cannot write the job's own: {}",
            limit.trainer.empty()
                ? "plans of any trainer are searched (no runnable_by)"
                : fmt::format("plans with {} are searched as well (runs_too)", fmt::join(limit.too, ", ")),
            fmt::join(limit.why, "; ")));
    }
    std::set<std::string> limited;
    if (const std::string text = with_offered_values(of, path, limited); text != of.text) {
        of.text = text;
        of.scenario = scenario_of(of.text, path, catalogs);
    }
    hold_levers(of.scenario, limited);
    of.design = design_text(of.job.plan, of.scenario.space);
    return of;
}

std::string import_text(const JobImport& of, bool all)
{
    const ImportReport& report = of.job.report;
    std::string text = section("Read:", report.read);
    text += section(fmt::format("Not in the files, so {}'s defaults:", of.job.format), report.defaults);
    text += report.assumed.empty() ? "" : "Assumed:\n";
    for (const std::string& assumption : report.assumed) {
        text += fmt::format("  {}\n", printable(escape_controls(assumption), 400));
    }
    text += section("Changes time or memory, but no key states it:", report.no_key);
    text +=
        section("Unknown, and not read (correct the name, or check that it changes neither time nor memory):",
                report.unknown);
    text += all ? section("No effect beside the other settings:", report.unused) +
                      section("Changes neither time nor memory:", report.irrelevant)
                : short_section("No effect beside the other settings", report.unused) +
                      short_section("Changes neither time nor memory", report.irrelevant);
    return text;
}

std::vector<std::string> import_doubts(const JobImport& of)
{
    const ImportReport& report = of.job.report;
    std::vector<std::string> doubts;
    const auto add = [&doubts](const char* what, const std::vector<ImportedValue>& values) {
        std::vector<std::string> words;
        for (const ImportedValue& value : values) {
            const std::string place =
                value.place.file.empty() ? "" : fmt::format(" ({})", plain(value.place.text()));
            words.push_back(fmt::format("{}{}{}", plain(value.name),
                                        value.value.empty() ? "" : " = " + plain(value.value), place));
        }
        if (!words.empty()) {
            doubts.push_back(fmt::format("{}: {}", what, fmt::join(words, ", ")));
        }
    };
    add("settings that are unknown, and not read", report.unknown);
    add("settings that change time or memory, but no key states", report.no_key);
    if (!report.assumed.empty()) {
        std::vector<std::string> words;
        for (const std::string& assumption : report.assumed) {
            words.push_back(printable(escape_controls(assumption), 400));
        }
        doubts.push_back(fmt::format("assumed of the job: {}", fmt::join(words, "; ")));
    }
    return doubts;
}

std::string import_json(const JobImport& of)
{
    const ImportReport& report = of.job.report;
    return dumped({{"format", of.job.format},
                   {"design", of.design},
                   {"scenario", of.text},
                   {"plan", plan_values(of)},
                   {"phase",
                    {{"sequence_length", of.job.sequence},
                     {"global_batch", of.job.global_batch},
                     {"steps", of.job.steps}}},
                   {"network", network_values(of)},
                   {"software", of.scenario.cluster.software.text()},
                   {"stack", of.scenario.cluster.stack.name},
                   {"accelerator", of.scenario.cluster.accelerator.name},
                   {"gpus_per_node", of.scenario.cluster.gpus_per_node()},
                   {"read", values_json(report.read)},
                   {"defaults", values_json(report.defaults)},
                   {"assumed", report.assumed},
                   {"no_key", values_json(report.no_key)},
                   {"unknown", values_json(report.unknown)},
                   {"unused", values_json(report.unused)},
                   {"irrelevant", values_json(report.irrelevant)}});
}

}  // namespace prismopt
