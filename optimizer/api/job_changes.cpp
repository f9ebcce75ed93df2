#include "optimizer/api/job_changes.hpp"

#include "io/authoring/jobs/job_edit.hpp"
#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/base/unified_diff.hpp"
#include "io/export/launch.hpp"
#include "io/trainers/megatron_rules.hpp"
#include "io/trainers/trainer.hpp"
#include "io/trainers/trainer_settings.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"
#include "model/predictor.hpp"
#include "optimizer/api/exports.hpp"
#include "optimizer/improve/axis_changes.hpp"
#include "optimizer/study/study_model.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace prismopt {

namespace {

/// A format of job files that an export writes.
struct WrittenFormat {
    std::string_view format;
    std::string_view trainer;  // of trainers()
    const TrainerSettings& (*settings)();
    Exported (*make)(const Launch&);
    // its arguments pass validate_args(), which asserts needed_settings() and device_connections()
    bool validates = false;
};
constexpr auto written_formats =
    std::to_array<WrittenFormat>({{"Megatron-LM", "megatron", megatron_settings, megatron_arguments, true},
                                  {"Megatron-Bridge", "bridge", bridge_settings, bridge_overrides},
                                  {"torchtitan", "torchtitan", torchtitan_settings, torchtitan_config}});

const WrittenFormat* format_of(std::string_view format)
{
    const auto* found =
        std::find_if(written_formats.begin(), written_formats.end(),
                     [&format](const WrittenFormat& known) { return format.starts_with(known.format); });
    return found == written_formats.end() ? nullptr : found;
}

/// Settings whose values depend on each other.
using Family = std::vector<std::string_view>;
const std::vector<Family>& families()
{
    static const std::vector<Family> all{{"tp", "sequence_parallel", "tp_overlap"},
                                         {"cp", "context_exchange", "ulysses"},
                                         {"pp", "v", "group", "layout", "split", "schedule", "order"},
                                         {"ep", "etp", "dispatch", "expert_overlap"},
                                         {"sharding", "shard_gpus", "dp_overlap"},
                                         {"recompute", "recompute_modules", "recomputed_layers"}};
    return all;
}

/// The axes whose settings depend on that of one axis, itself among them.
std::set<std::string> family_of(std::string_view axis)
{
    for (const Family& family : families()) {
        if (std::find(family.begin(), family.end(), axis) != family.end()) {
            return {family.begin(), family.end()};
        }
    }
    return {std::string(axis)};
}

std::set<std::string> changed_axes(const ParallelPlan& from, const ParallelPlan& to)
{
    std::set<std::string> changed;
    for (const std::string& value : changed_values(from, to)) {
        changed.insert(value.substr(0, value.find_first_of("= ")));
    }
    return changed;
}

/// Keys to write: those of the changed axes; their families as well; all of the plan and the batch.
std::vector<std::set<std::string>> widening_keys(const ParallelPlan& from, const ParallelPlan& to)
{
    std::set<std::string> changed = changed_axes(from, to);
    if (changed.contains("schedule") || changed.contains("pp")) {
        changed.insert("layout");
    }
    if (changed.contains("recompute")) {  // no half of it may stay
        changed.insert({"recompute_modules", "recomputed_layers"});
    }
    if (changed.contains("tp") && to.tp == 1) {  // Megatron asserts that nothing overlaps then
        changed.insert("tp_overlap");
    }
    std::set<std::string> related = changed;
    for (const Family& family : families()) {
        const bool touched = std::any_of(family.begin(), family.end(), [&changed](std::string_view key) {
            return changed.contains(std::string(key));
        });
        for (const std::string_view key : touched ? family : Family{}) {
            related.emplace(key);
        }
    }
    std::set<std::string> with_batch = related;
    with_batch.insert("phase.global_batch");
    std::set<std::string> all = with_batch;
    all.insert("layout");
    for_each_axis([&all](const auto& axis) { all.emplace(axis.name); });
    return {changed, related, with_batch, all};
}

/// What an export needs of a plan; nothing: it is infeasible, also without a limit on memory.
std::optional<Launch> launch_without_limit(ChosenPlan chosen, const ParallelPlan& plan)
{
    chosen.plan = plan;
    auto made = launch_of(chosen, {.needs_memory = false});
    return std::holds_alternative<Launch>(made) ? std::optional(std::get<Launch>(std::move(made)))
                                                : std::nullopt;
}

/// The settings of an exported file that give axes of a plan or the batch.
std::vector<WantedSetting> settings_in(const std::string& text, const TrainerSettings& table)
{
    std::vector<WantedSetting> settings;
    std::istringstream lines(text);
    std::string section;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() == '#') {
            continue;
        }
        if (line.front() == '[') {
            section = line.substr(1, line.find(']') - 1) + ".";
            continue;
        }
        const bool dashes = line.starts_with("--");
        const std::size_t end = std::min(line.find_first_of(dashes ? " " : " ="), line.size());
        WantedSetting setting;
        setting.name = dashes ? line.substr(2, end - 2) : section + line.substr(0, end);
        const std::size_t value = line.find_first_not_of(" =", end);
        setting.value = value == std::string::npos ? "" : line.substr(value);
        if (const KnownSetting known = known_setting(table, setting.name); known.row != nullptr) {
            setting.key = known.row->key;
            setting.usual = !setting.value.empty() && setting.value == known.row->usual;
            settings.push_back(std::move(setting));
        }
    }
    return settings;
}

/// Whether an imported plan is the one that was wanted: the same degrees, and the same time and memory,
/// whatever it is called where values change nothing.
bool is_plan(const JobImport& got, const JobImport& job, const ParallelPlan& wanted, const ChosenPlan& today)
{
    const ParallelPlan& plan = got.job.plan;
    const auto main = [](const ParallelPlan& p) {
        return std::array{p.tp,
                          p.cp,
                          p.pp,
                          p.dp,
                          p.ep,
                          p.chunks,
                          p.microbatch,
                          static_cast<int>(p.schedule),
                          static_cast<int>(p.recompute),
                          static_cast<int>(p.sharding),
                          static_cast<int>(p.offload)};
    };
    if (main(plan) != main(wanted) || got.job.global_batch != job.job.global_batch ||
        got.job.sequence != job.job.sequence) {
        return false;
    }
    StudyModel model(today.scenario, tables_of(today.scenario, {wanted}));
    model.problem.memory_limit = without_limit(model.problem.memory_limit);
    if (structural_problem(plan, model.problem)) {
        return false;
    }
    Predictor predictor(model.problem);
    const auto one = predictor.bound(plan);
    const auto other = predictor.bound(wanted);
    const auto* a = std::get_if<NoiseFree>(&one);
    const auto* b = std::get_if<NoiseFree>(&other);
    return a != nullptr && b != nullptr && a->step_s == b->step_s && a->memory_bytes == b->memory_bytes;
}

bool is_given(const ImportRequest& request, const std::string& path)
{
    return std::any_of(request.files.begin(), request.files.end(),
                       [&path](const JobFile& file) { return file.path == path; });
}

std::optional<JobImport> imported(ImportRequest request, const std::vector<JobFile>& files,
                                  const std::vector<std::string>& catalogs)
{
    request.files = files;
    try {
        return import_job(request, catalogs);
    } catch (const InputError&) {
        return std::nullopt;  // the proposal is no job
    }
}

/// How the trainer spells a setting: as in a command, or as in the file of this name.
std::string setting_text(const std::string& setting, const std::string& value, const std::string& file)
{
    const bool colon = file.ends_with(".yaml") || file.ends_with(".yml") || file.ends_with(".json");
    const bool dashes = setting.find('.') == std::string::npos && !colon;
    const std::string name = dashes ? "--" + setting : setting;
    const std::string assigns = colon ? ": " : " = ";
    return value.empty() ? name : name + (dashes ? " " : assigns) + value;
}

/// What a user must change for the settings of these keys to be the wanted ones.
std::vector<std::string> setting_texts(const std::vector<WantedSetting>& wanted,
                                       const std::vector<ImportedValue>& read,
                                       const std::set<std::string>& keys)
{
    std::vector<std::string> texts;
    const auto same_name = [](const ImportedValue& value, const WantedSetting& setting) {
        return value.name == setting.name;
    };
    for (const WantedSetting& setting : wanted) {
        const auto own = std::find_if(read.begin(), read.end(),
                                      [&](const ImportedValue& value) { return same_name(value, setting); });
        const bool is_new = own == read.end();
        const bool as_read = is_new ? setting.usual : own->value == setting.value;
        if (keys.contains(setting.key) && !as_read) {
            const std::string beside = read.empty() ? "" : read.back().place.file;
            texts.push_back(setting_text(setting.name, setting.value, is_new ? beside : own->place.file));
        }
    }
    for (const ImportedValue& value : read) {
        const bool kept = std::any_of(wanted.begin(), wanted.end(), [&](const WantedSetting& setting) {
            return same_name(value, setting);
        });
        if (keys.contains(value.key) && !kept) {
            texts.push_back("without " + setting_text(value.name, "", value.place.file));
        }
    }
    return texts;
}

/// Gives settings that an axis needs the key of that axis.
void add_keys_of_needed(std::vector<WantedSetting>& settings)
{
    for (const NeededSetting& needed : needed_settings()) {
        for (WantedSetting& setting : settings) {
            if (setting.name == needed.name) {
                setting.key = needed.axis;
            }
        }
    }
}

/// What a job has of the settings that an axis needs, with the key of that axis: those that the plan needs as
/// well, and those that are refused without what needs them.
std::vector<ImportedValue> needed_in(const ImportReport& report, const std::vector<WantedSetting>& wanted)
{
    std::vector<ImportedValue> found;
    for (const NeededSetting& needed : needed_settings()) {
        const bool stays = std::any_of(wanted.begin(), wanted.end(), [&needed](const WantedSetting& setting) {
            return setting.name == needed.name;
        });
        for (const auto* values : {&report.read, &report.irrelevant, &report.unused}) {
            for (ImportedValue value : *values) {
                const bool leaves = needed.exclusive && value.value == needed.value;
                if (value.name == needed.name && (stays || leaves)) {
                    value.key = needed.axis;
                    found.push_back(std::move(value));
                }
            }
        }
    }
    return found;
}

/// Files of a job in which a variable of the environment is as a plan needs it.
struct JobEnvironment {
    std::vector<JobFile> files;
    std::vector<std::string> missing;  // what no file states
};
JobEnvironment with_environment(std::vector<JobFile> files, const PlannedPhase& from, const PlannedPhase& to)
{
    const DeviceConnections wanted = device_connections(to);
    if (wanted == device_connections(from) || wanted == DeviceConnections::any) {
        return {std::move(files), {}};
    }
    std::vector<VariableValue> places = variable_values(files, device_connections_variable);
    if (places.empty()) {
        return {std::move(files), {words_of(wanted)}};
    }
    std::erase_if(places, [wanted](const VariableValue& place) { return fulfils(place.value, wanted); });
    return {with_variable(std::move(files), places, std::string(value_of(wanted))), {}};
}

/// The settings of the plan as exports write it; none: no export writes this format, or the plan.
struct ExportedSettings {
    std::vector<WantedSetting> settings;
    Refusals refused;
    std::set<std::string> unwritten{};  // axes that stay as the files have them, which no export can write
};
ExportedSettings exported_settings(const WrittenFormat* format, const std::optional<Launch>& launch)
{
    const Exported exported = launch ? format->make(*launch) : Exported(Refusals{});
    if (const auto* refused = std::get_if<Refusals>(&exported)) {
        return {.settings = {}, .refused = *refused};
    }
    const auto& written = std::get<std::vector<ExportFile>>(exported);
    if (written.size() > 1) {
        return {.settings = {},
                .refused = {"its schedule is a table of actions beside the configuration, which an import "
                            "does not read"}};
    }
    std::vector<WantedSetting> settings = settings_in(written.front().text, format->settings());
    if (format->validates) {
        add_keys_of_needed(settings);
    }
    return {.settings = std::move(settings), .refused = {}};
}

/// The same, where the export cannot write some value that the plan has in common with today's: without the
/// settings of that axis and of those that depend on it.
ExportedSettings writable_settings(const WrittenFormat* format, const ChosenPlan& today,
                                   const ParallelPlan& plan)
{
    const std::optional<Launch> whole = format == nullptr ? std::nullopt : launch_without_limit(today, plan);
    ExportedSettings exported = exported_settings(format, whole);
    if (!whole || exported.refused.empty()) {
        return exported;
    }
    std::set<std::string> unwritten;
    for (const TrainerRule& rule : trainer_rules(format->trainer)) {
        if (!rule.why(trained(*whole)).empty()) {
            unwritten.merge(family_of(rule.axis));
        }
    }
    const std::set<std::string> changed = changed_axes(today.plan, plan);
    const bool touched = std::any_of(changed.begin(), changed.end(), [&unwritten](const std::string& axis) {
        return unwritten.contains(axis);
    });
    if (touched) {
        return exported;
    }
    ParallelPlan usual = plan;
    for_each_axis([&](const auto& axis) {
        const bool is_degree =
            axis.name == "tp" || axis.name == "cp" || axis.name == "pp" || axis.name == "ep";
        if (unwritten.contains(std::string(axis.name)) && !is_degree) {
            usual.*(axis.choice) = ParallelPlan{}.*(axis.choice);
        }
    });
    ExportedSettings others = exported_settings(format, launch_without_limit(today, usual));
    if (!others.refused.empty()) {
        return exported;
    }
    others.unwritten = std::move(unwritten);
    return others;
}

/// Files that the user did not give, and in which the import found settings with these keys.
std::vector<std::string> files_not_given(const ImportRequest& request, const std::vector<ImportedValue>& read,
                                         const std::set<std::string>& keys)
{
    std::set<std::string> paths;
    for (const ImportedValue& value : read) {
        if (keys.contains(value.key) && !is_given(request, value.place.file) && value.place.line > 0) {
            paths.insert(value.place.file);
        }
    }
    return {paths.begin(), paths.end()};
}

/// Whether a text is a whole number.
bool is_count(const std::string& text)
{
    return !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
}

/// What a job's own settings are to give.
struct OwnChange {
    const ParallelPlan& from;
    const ParallelPlan& to;
    std::set<std::string> axes;          // that change
    std::map<std::string, int> numbers;  // new values of the axes that are counts, and of the replicas
};

OwnChange own_change(const ParallelPlan& from, const ParallelPlan& to)
{
    OwnChange change{from, to, changed_axes(from, to), {}};
    for_each_axis([&](const auto& axis) {
        if constexpr (std::is_same_v<std::decay_t<decltype(from.*(axis.choice))>, int>) {
            if (from.*(axis.choice) != to.*(axis.choice)) {
                change.numbers.emplace(axis.name, to.*(axis.choice));
            }
        }
    });
    if (from.dp != to.dp) {
        change.axes.insert("dp");
        change.numbers.emplace("dp", to.dp);
    }
    return change;
}

/// Passes whose gradients are added up for the same batch.
std::string passes_after(int passes, const OwnChange& change)
{
    const std::int64_t before = std::int64_t{passes} * change.from.microbatch * change.from.dp;
    const std::int64_t samples = std::int64_t{change.to.microbatch} * change.to.dp;
    return std::to_string(std::max(std::int64_t{1}, before / samples));
}

/// "True" for "False", and for a flag of YAML "true" for "false".
std::string negated(const std::string& value)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> spellings{
        {{"true", "false"}, {"True", "False"}}};
    for (const auto& [on, off] : spellings) {
        if (value == on || value == off) {
            return std::string(value == on ? off : on);
        }
    }
    return "";
}

/// Recomputation of whole layers is switched on or off, which is all that most trainers have.
bool switches_recompute(const OwnChange& change)
{
    const auto is_switch = [](Recompute value) { return value != Recompute::selective; };
    return change.from.recompute != change.to.recompute && is_switch(change.from.recompute) &&
           is_switch(change.to.recompute);
}

/// The value of a setting that the files state with the other plan; nothing: it is to be removed.
std::optional<std::string> own_value(const ImportedValue& value, const OwnChange& change)
{
    // transformers/integrations/deepspeed.py, HfTrainerDeepSpeedConfig: "auto" is what the arguments say
    const bool follows = value.value == "auto" && value.name.starts_with("deepspeed_json.");
    if (follows || value.value.empty()) {
        return follows ? std::optional(value.value) : std::nullopt;
    }
    const auto number = change.numbers.find(value.key);
    if (number != change.numbers.end()) {
        return is_count(value.value) ? std::optional(std::to_string(number->second)) : std::nullopt;
    }
    const bool accumulates = value.name.find("accumulation") != std::string::npos;
    if (value.key == "phase.global_batch" && accumulates && is_count(value.value)) {
        return passes_after(std::stoi(value.value), change);
    }
    if (value.key == "recompute" && switches_recompute(change)) {
        const std::string other = negated(value.value);
        return other.empty() ? std::nullopt : std::optional(other);
    }
    if (value.key == "sharding" && change.axes.contains("sharding")) {
        const bool is_stage = value.name.ends_with("stage") && is_count(value.value);
        return is_stage ? std::to_string(static_cast<int>(change.to.sharding)) : value.value;
    }
    const bool is_device = value.value == "cpu" || value.value == "nvme";
    if (value.key == "offload" && change.to.offload == Offload::none && is_device) {
        return "none";
    }
    return change.axes.contains(value.key) ? std::nullopt : std::optional(value.value);
}

/// Settings of the trainer that the files leave at defaults which do not give the plan.
void add_defaults_that_change(const JobImport& job, const OwnChange& change,
                              std::vector<WantedSetting>& wanted)
{
    const TrainerSettings* table = settings_of(job.job.format);
    const auto has = [table](std::string_view name) {
        return table != nullptr && known_setting(*table, name).row != nullptr;
    };
    const auto is_stated = [&wanted](std::string_view key, std::string_view mark) {
        return std::any_of(wanted.begin(), wanted.end(), [&](const WantedSetting& setting) {
            return setting.key == key && setting.value != "auto" &&
                   setting.name.find(mark) != std::string::npos;
        });
    };
    constexpr std::string_view checkpointing = "gradient_checkpointing";
    if (has(checkpointing) && switches_recompute(change) && !is_stated("recompute", "checkpointing")) {
        const bool wanted_on = change.to.recompute == Recompute::full;
        const bool is_on = usual_value(*table, checkpointing) == "true";
        const auto inverse =
            std::find_if(table->dialect.begin(), table->dialect.end(), [](const SettingDialect& spelling) {
                return spelling.of == checkpointing && spelling.inverse;
            });
        const bool is_inverse = inverse != table->dialect.end();
        const std::string name(is_inverse ? inverse->name : checkpointing);
        if (wanted_on != is_on) {
            wanted.push_back({name, wanted_on != is_inverse ? "true" : "false", "recompute"});
        }
    }
    constexpr std::string_view accumulation = "gradient_accumulation_steps";
    const std::string passes = passes_after(1, change);
    if (has(accumulation) && !is_stated("phase.global_batch", "") && passes != "1") {
        wanted.push_back({std::string(accumulation), passes, "phase.global_batch"});
    }
}

/// Settings of the job's own files, with the values of another plan: numbers of axes and of replicas,
/// stages of ZeRO, recomputation switched on or off, and passes whose gradients are added up for the same
/// batch. What else gives a changed axis is removed.
std::vector<WantedSetting> own_settings(const JobImport& job, const OwnChange& change,
                                        const std::set<std::string>& keys)
{
    std::vector<WantedSetting> wanted;
    for (const ImportedValue& value : job.job.report.read) {
        const auto own = keys.contains(value.key) ? own_value(value, change) : std::nullopt;
        if (own) {
            wanted.push_back({value.name, *own, value.key});
        } else if (value.value.empty() && !change.axes.contains(value.key)) {
            wanted.push_back({value.name, "", value.key});
        }
    }
    add_defaults_that_change(job, change, wanted);
    return wanted;
}

/// Whether a number of DeepSpeed's file is to change that an argument of the trainer states, too: both must
/// agree (transformers/integrations/deepspeed.py, trainer_config_finalize), and the import reads one of them.
bool changes_one_of_two(const JobImport& job, const std::vector<WantedSetting>& wanted)
{
    const std::vector<ImportedValue>& read = job.job.report.read;
    const bool changes = std::any_of(wanted.begin(), wanted.end(), [&read](const WantedSetting& setting) {
        const auto own = std::find_if(read.begin(), read.end(), [&setting](const ImportedValue& value) {
            return value.name == setting.name;
        });
        return setting.name.starts_with("deepspeed_json.") && is_count(setting.value) && own != read.end() &&
               own->value != setting.value;
    });
    const std::vector<ImportedValue>& unused = job.job.report.unused;
    return changes && std::any_of(unused.begin(), unused.end(), [](const ImportedValue& value) {
               return value.name.find("batch_size") != std::string::npos ||
                      value.name.find("accumulation") != std::string::npos;
           });
}

/// What to change by hand in files that no export writes: settings as far as they are known, else the axis.
std::vector<std::string> own_texts(const JobImport& job, const OwnChange& change,
                                   const std::vector<WantedSetting>& wanted,
                                   const std::set<std::string>& keys)
{
    std::vector<ImportedValue> read;  // of those that "auto" follows, and without what is removed
    for (const ImportedValue& value : job.job.report.read) {
        const bool kept = std::any_of(wanted.begin(), wanted.end(), [&value](const WantedSetting& setting) {
            return setting.name == value.name;
        });
        if (kept) {
            read.push_back(value);
        }
    }
    std::vector<std::string> texts = setting_texts(wanted, read, keys);
    for (const std::string& value : changed_values(change.from, change.to)) {
        const std::string axis = value.substr(0, value.find_first_of("= "));
        const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const WantedSetting& setting) {
            const auto own = std::find_if(read.begin(), read.end(), [&setting](const ImportedValue& each) {
                return each.name == setting.name;
            });
            return setting.key == axis && (own == read.end() || own->value != setting.value);
        });
        if (!known) {
            texts.push_back(value);
        }
    }
    return texts;
}

}  // namespace

JobChange changed_job(const ImportRequest& request, const JobImport& job, const ChosenPlan& today,
                      const ParallelPlan& plan, const std::vector<std::string>& catalogs)
{
    JobChange change;
    const WrittenFormat* format = format_of(job.job.format);
    std::vector<std::set<std::string>> keys = widening_keys(today.plan, plan);
    const ExportedSettings written = writable_settings(format, today, plan);
    std::vector<WantedSetting> exported = written.settings;
    for (std::set<std::string>& of : keys) {
        std::erase_if(of, [&written](const std::string& key) { return written.unwritten.contains(key); });
    }
    const bool asserts = format != nullptr && format->validates;
    const std::optional<Launch> before = asserts ? launch_without_limit(today, today.plan) : std::nullopt;
    const std::optional<Launch> after = asserts ? launch_without_limit(today, plan) : std::nullopt;
    const bool validates = before && after;
    std::vector<ImportedValue> read = job.job.report.read;
    if (validates) {
        const std::vector<ImportedValue> needed = needed_in(job.job.report, exported);
        read.insert(read.begin(), needed.begin(), needed.end());  // others are written behind the last
    }
    const JobEnvironment ready = validates
                                     ? with_environment(request.files, trained(*before), trained(*after))
                                     : JobEnvironment{request.files, {}};
    change.environment = ready.missing;
    const auto apply_settings = [&](const std::vector<WantedSetting>& wanted,
                                    const std::set<std::string>& of) {
        auto files = with_settings(ready.files, read, wanted, of);
        const auto got = files ? imported(request, *files, catalogs) : std::nullopt;
        if (!got || !is_plan(*got, job, plan, today)) {
            return false;
        }
        for (std::size_t i = 0; i < files->size(); ++i) {
            const std::string& path = (*files)[i].path;
            change.diff += unified_diff(request.files[i].text, (*files)[i].text, path, path);
        }
        change.files = std::move(*files);
        return true;
    };
    for (const std::set<std::string>& of : exported.empty() ? std::vector<std::set<std::string>>{} : keys) {
        if (apply_settings(exported, of)) {
            return change;
        }
    }
    const OwnChange own = own_change(today.plan, plan);
    std::set<std::string> own_keys = keys.front();
    own_keys.insert({"phase.global_batch", "dp"});
    const std::vector<WantedSetting> own_wanted = own_settings(job, own, own_keys);
    if (!changes_one_of_two(job, own_wanted) && apply_settings(own_wanted, own_keys)) {
        return change;
    }
    std::set<std::string> listed = keys[1];
    if (today.plan.dp != plan.dp) {  // some trainers state over how many GPUs they shard
        listed.insert({"sharding", "shard_gpus"});
    }
    change.settings =
        exported.empty() ? own_texts(job, own, own_wanted, own_keys) : setting_texts(exported, read, listed);
    change.refused = written.refused;
    change.not_given = files_not_given(request, read, keys[1]);
    return change;
}

ImportRequest with_found_files(const ImportRequest& request, const JobImport& job,
                               const std::vector<std::string>& catalogs)
{
    constexpr std::uintmax_t most_bytes = 1U << 20U;
    if (request.files.empty()) {
        return request;
    }
    ImportRequest all = request;
    const auto normal = [](const std::string& path) {
        return std::filesystem::path(path).lexically_normal();
    };
    const std::filesystem::path folder = normal(request.files.front().path).parent_path();
    const auto add = [&](const std::filesystem::path& path) {
        const bool known = std::any_of(all.files.begin(), all.files.end(), [&](const JobFile& file) {
            return normal(file.path) == path.lexically_normal();
        });
        const std::filesystem::path below = path.lexically_normal().lexically_relative(folder);
        const bool beside = folder.empty() ? path.is_relative() && *path.lexically_normal().begin() != ".."
                                           : !below.empty() && *below.begin() != "..";
        std::error_code none;
        const std::uintmax_t bytes = std::filesystem::file_size(path, none);
        if (!known && beside && !none && bytes <= most_bytes && ::access(path.c_str(), R_OK) == 0) {
            all.files.push_back({path.string(), read_text(path.string())});
        }
    };
    const ImportReport& report = job.job.report;
    for (const auto* values :
         {&report.read, &report.no_key, &report.irrelevant, &report.unused, &report.unknown}) {
        for (const ImportedValue& value : *values) {
            if (value.place.line > 0) {
                add(value.place.file);
            }
        }
    }
    for (const std::string& path : job.job.scripts) {
        add(path);
    }
    if (all.files.size() == request.files.size()) {
        return request;
    }
    const auto got = imported(all, all.files, catalogs);
    return got && got->text == job.text ? all : request;
}

bool is_written_back(std::string_view job_format) { return format_of(job_format) != nullptr; }

const TrainerSettings* settings_of(std::string_view job_format)
{
    for (const auto table :
         {megatron_settings, megatron_deepspeed_settings, slime_settings, bridge_settings, nemo1_settings,
          primus_settings, torchtitan_settings, transformers_settings, trl_settings, llama_factory_settings,
          swift_settings, axolotl_settings, maxtext_settings, nanotron_settings, verl_settings}) {
        if (job_format == table().program) {
            return &table();
        }
    }
    return nullptr;
}

}  // namespace prismopt
