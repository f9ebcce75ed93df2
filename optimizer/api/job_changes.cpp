#include "optimizer/api/job_changes.hpp"

#include "io/authoring/jobs/job_edit.hpp"
#include "io/base/input_error.hpp"
#include "io/base/unified_diff.hpp"
#include "io/export/launch.hpp"
#include "io/trainers/megatron_rules.hpp"
#include "io/trainers/trainer_settings.hpp"
#include "model/plan_rules.hpp"
#include "model/predictor.hpp"
#include "optimizer/api/exports.hpp"
#include "optimizer/improve/axis_changes.hpp"
#include "optimizer/study/study_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
    const TrainerSettings& (*settings)();
    Exported (*make)(const Launch&);
    // its arguments pass validate_args(), which asserts needed_settings() and device_connections()
    bool validates = false;
};
constexpr auto written_formats =
    std::to_array<WrittenFormat>({{"Megatron-LM", megatron_settings, megatron_arguments, true},
                                  {"Megatron-Bridge", bridge_settings, bridge_overrides},
                                  {"torchtitan", torchtitan_settings, torchtitan_config}});

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

/// Keys to write: those of the changed axes; their families as well; all of the plan and the batch.
std::vector<std::set<std::string>> widening_keys(const ParallelPlan& from, const ParallelPlan& to)
{
    std::set<std::string> changed;
    for (const std::string& value : changed_values(from, to)) {
        changed.insert(value.substr(0, value.find_first_of("= ")));
    }
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

/// How the trainer spells a setting, as in a command or as in a file.
std::string setting_text(const std::string& setting, const std::string& value)
{
    const bool dashes = setting.find('.') == std::string::npos;
    const std::string name = dashes ? "--" + setting : setting;
    return value.empty() ? name : name + (dashes ? " " : " = ") + value;
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
        const bool as_read = own == read.end() ? setting.usual : own->value == setting.value;
        if (keys.contains(setting.key) && !as_read) {
            texts.push_back(setting_text(setting.name, setting.value));
        }
    }
    for (const ImportedValue& value : read) {
        const bool kept = std::any_of(wanted.begin(), wanted.end(), [&](const WantedSetting& setting) {
            return same_name(value, setting);
        });
        if (keys.contains(value.key) && !kept) {
            texts.push_back("without " + setting_text(value.name, ""));
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

/// Files that the user did not give, and in which the import found settings with these keys.
std::vector<std::string> files_not_given(const ImportRequest& request, const std::vector<ImportedValue>& read,
                                         const std::set<std::string>& keys)
{
    std::set<std::string> paths;
    for (const ImportedValue& value : read) {
        const bool given =
            std::any_of(request.files.begin(), request.files.end(),
                        [&value](const JobFile& file) { return file.path == value.place.file; });
        if (keys.contains(value.key) && !given && value.place.line > 0) {
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

/// Settings that the job's own files state, with the values of another plan: numbers of axes,
/// recompute switched off, and passes whose gradients are added up for the same batch. What else
/// gives a changed axis is removed.
std::vector<WantedSetting> own_settings(const JobImport& job, const ParallelPlan& from,
                                        const ParallelPlan& to)
{
    std::vector<WantedSetting> wanted;
    std::vector<std::pair<std::string, int>> numbers;
    for_each_axis([&](const auto& axis) {
        if constexpr (std::is_same_v<std::decay_t<decltype(from.*(axis.choice))>, int>) {
            if (from.*(axis.choice) != to.*(axis.choice)) {
                numbers.emplace_back(axis.name, to.*(axis.choice));
            }
        }
    });
    for (const ImportedValue& value : job.job.report.read) {
        const auto number = std::find_if(numbers.begin(), numbers.end(),
                                         [&](const auto& each) { return each.first == value.key; });
        const bool accumulates = value.name.find("gradient_accumulation") != std::string::npos;
        if (number != numbers.end() && is_count(value.value)) {
            wanted.push_back({value.name, std::to_string(number->second), value.key});
        } else if (value.key == "phase.global_batch" && accumulates && is_count(value.value)) {
            const int passes = std::stoi(value.value) * from.microbatch * from.dp / (to.microbatch * to.dp);
            wanted.push_back({value.name, std::to_string(std::max(1, passes)), value.key});
        } else if (value.key == "phase.global_batch") {
            wanted.push_back({value.name, value.value, value.key});
        } else if (value.key == "recompute" && to.recompute == Recompute::none &&
                   (value.value == "true" || value.value == "True")) {
            wanted.push_back({value.name, value.value == "true" ? "false" : "False", value.key});
        }
    }
    return wanted;
}

}  // namespace

JobChange changed_job(const ImportRequest& request, const JobImport& job, const ChosenPlan& today,
                      const ParallelPlan& plan, const std::vector<std::string>& catalogs)
{
    JobChange change;
    const WrittenFormat* format = format_of(job.job.format);
    const std::optional<Launch> before =
        format == nullptr ? std::nullopt : launch_without_limit(today, today.plan);
    const std::optional<Launch> after = format == nullptr ? std::nullopt : launch_without_limit(today, plan);
    const std::vector<std::set<std::string>> keys = widening_keys(today.plan, plan);
    auto [exported, refused] = exported_settings(format, after);
    const bool validates = format != nullptr && format->validates && before && after;
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
    std::set<std::string> own_keys = keys.front();
    own_keys.insert("phase.global_batch");
    if (apply_settings(own_settings(job, today.plan, plan), own_keys)) {
        return change;
    }
    change.settings =
        exported.empty() ? changed_values(today.plan, plan) : setting_texts(exported, read, keys[1]);
    change.refused = std::move(refused);
    change.not_given = files_not_given(request, read, keys[1]);
    return change;
}

bool is_written_back(std::string_view job_format) { return format_of(job_format) != nullptr; }

}  // namespace prismopt
