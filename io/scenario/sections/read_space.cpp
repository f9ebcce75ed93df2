#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"
#include "io/scenario/sections/software.hpp"

#include "io/scenario/layout_text.hpp"
#include "io/trainers/trainer.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"
#include "model/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace prismopt {

namespace {

constexpr int most_steps = 100'000;  // of an axis from ... to ...

/// One value of an axis, and the place it was read from.
template <class T>
struct Choice {
    T value;
    Value place;
    bool stepped = false;  // between the ends of from ... to ..., which is the place

    [[noreturn]] void fail(Complaint complaint) const
    {
        if constexpr (std::is_same_v<T, int>) {
            if (stepped) {
                complaint.problem = fmt::format("reaches {}, which {}", value, complaint.problem);
            }
        }
        place.fail(complaint);
    }
};

template <class T>
std::vector<T> without_repeats(const std::vector<Choice<T>>& choices)
{
    std::vector<T> values;
    for (const Choice<T>& choice : choices) {
        if (std::find(values.begin(), values.end(), choice.value) != values.end()) {
            choice.place.fail({"is listed twice", "each value counts once", "remove one of the two"});
        }
        values.push_back(choice.value);
    }
    return values;
}

Range range_of(const PlanAxis<int>& axis)
{
    return {axis.help, static_cast<double>(axis.low), static_cast<double>(axis.high), axis.example};
}

std::string list_example(std::string_view example, bool quoted)
{
    return quoted ? fmt::format("[\"{}\"]", example) : fmt::format("[{}]", example);
}

struct Steps {
    int from = 0;
    int to = 0;
    int step = 0;    // added
    int factor = 0;  // multiplied
};

/// An axis from one value to another, both included.
const Fields<Steps>& steps_fields()
{
    static const auto fields =
        Fields<Steps>("values from ... to ...", "a range of values instead of a list, both ends included")
            .integer("from", &Steps::from, {"first value", 0, 10'000'000, "2048"})
            .required()
            .integer("to", &Steps::to, {"last value", 0, 10'000'000, "16384"})
            .required()
            .integer("step", &Steps::step, {"difference between consecutive values", 1, 10'000'000, "2048"})
            .integer("factor", &Steps::factor,
                     {"ratio of consecutive values, instead of step", 2, 10'000'000, "2"})
            .check([](Table& table, const Steps& steps) {
                const auto step = table.find("step");
                const auto factor = table.find("factor");
                if (!step == !factor) {
                    table.find("to")->fail({"needs a step or a factor", "exactly one of the two is required",
                                            "add step = 1, or factor = 2, or list the values: [1, 2, 4, 8]"});
                }
                if (factor && steps.from == 0) {
                    table.find("from")->fail({"cannot be zero with a factor", "the factor multiplies it",
                                              "start from 1, or give a step"});
                }
            });
    return fields;
}

std::vector<Choice<int>> stepped(const Value& place, const Range& range)
{
    Table table = place.table(steps_fields().example());
    Steps steps;
    steps_fields().read_whole(table, Keys::all, steps);
    std::vector<Choice<int>> choices;
    const Value end = *table.find("to");
    std::int64_t last = steps.from;
    for (std::int64_t value = steps.from; value <= steps.to;
         value = steps.step > 0 ? value + steps.step : value * steps.factor) {
        if (choices.size() > most_steps) {
            table.find("step")->fail(
                {"is too small", fmt::format("it gives more than {} values", most_steps),
                 fmt::format("write {} or more", (steps.to - steps.from) / most_steps + 1)});
        }
        if (!range.contains(static_cast<double>(value))) {
            end.fail({fmt::format("reaches {}, which is not in {}", value, range.interval()),
                      std::string(range.meaning), fmt::format("write values such as {}", range.example)});
        }
        choices.push_back({static_cast<int>(value), end, value != steps.to});
        last = value;
    }
    if (last != steps.to || choices.empty()) {
        const std::int64_t next = steps.step > 0 ? last + steps.step : last * steps.factor;
        end.fail({"is not reached",
                  fmt::format("{} {} from {} must end at it", steps.step > 0 ? "steps of" : "multiplying by",
                              std::max(steps.step, steps.factor), steps.from),
                  fmt::format("write {} or {}", last, next)});
    }
    return choices;
}

std::vector<Choice<int>> read_choices(const Value& value, const PlanAxis<int>& axis)
{
    if (value.is_table()) {
        return stepped(value, range_of(axis));
    }
    std::vector<Choice<int>> choices;
    for (const Value& element : value.list(list_example(axis.example, false))) {
        choices.push_back({element.count(range_of(axis)), element});
    }
    return choices;
}

std::vector<Choice<Seconds>> read_choices(const Value& value, const PlanAxis<Seconds>& axis)
{
    std::vector<Choice<Seconds>> choices;
    for (const Value& element : value.list(list_example(axis.example, true))) {
        choices.push_back({element.quantity<Seconds>(axis.example), element});
    }
    return choices;
}

std::vector<std::string> names_in(std::span<const Module> modules)
{
    std::vector<std::string> names;
    for (const Module module : modules) {
        names.emplace_back(name(module));
    }
    return names;
}

std::vector<Choice<ModuleSet>> read_choices(const Value& value, const PlanAxis<ModuleSet>& axis)
{
    const std::vector<std::string> names = names_in(axis.modules);
    std::vector<Choice<ModuleSet>> choices;
    for (const Value& element : value.list(list_example(axis.example, false))) {
        ModuleSet set;
        if (element.is_empty_list()) {
            choices.push_back({set, element});  // the default
            continue;
        }
        for (const Value& module : element.list(axis.example)) {
            const Module named = *parse<Module>(module.choice(names, "modules"));
            if (set.has(named)) {
                module.fail({"is listed twice", "each module counts once", "remove one of the two"});
            }
            set |= ModuleSet{named};
        }
        choices.push_back({set, element});
    }
    return choices;
}

template <Nameable Enum>
std::vector<Choice<Enum>> read_choices(const Value& value, const PlanAxis<Enum>& axis)
{
    std::vector<Choice<Enum>> choices;
    for (const Value& element : value.list(list_example(axis.example, true))) {
        choices.push_back({*parse<Enum>(element.choice(enum_names<Enum>(), axis.help)), element});
    }
    return choices;
}

/// Numbers ascend, so that neighbours in the list are neighbours in meaning;
/// names and sets stay in their order.
template <class T>
std::vector<T> values_of(const std::vector<Choice<T>>& choices)
{
    std::vector<T> values = without_repeats(choices);
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, Seconds>) {
        std::sort(values.begin(), values.end());
    }
    return values;
}

/// The networks and the clusters that a study chooses from, or the only ones.
struct Alternatives {
    std::vector<const Workload*> networks;
    std::vector<const Cluster*> clusters;
};

/// Refuses a value that fits no plan of any of the networks on any of the clusters.
template <class T>
void refuse_value(const Choice<T>& choice, const PlanAxis<T>& axis, const Alternatives& alternatives)
{
    if (axis.choice == nullptr) {
        return;  // not an axis of plans
    }
    ParallelPlan plan;
    plan.*(axis.choice) = choice.value;
    std::optional<Infeasible> first;
    for (const Cluster* cluster : alternatives.clusters) {
        for (const Workload* network : alternatives.networks) {
            auto problem = value_problem(plan, Job{.workload = *network, .cluster = *cluster});
            if (!problem) {
                return;
            }
            if (!first) {
                first = std::move(problem);
            }
        }
    }
    choice.fail({"is infeasible", infeasible_text(*first), remedy_text(*first)});
}

template <class T>
void read_axis(const Value& value, const PlanAxis<T>& axis, const Alternatives& alternatives,
               SpaceSettings& space)
{
    const std::vector<Choice<T>> choices = read_choices(value, axis);
    for (const Choice<T>& choice : choices) {
        refuse_value(choice, axis, alternatives);
    }
    space.*(axis.values) = values_of(choices);
}

/// The GPUs of the plans, on the largest cluster.
void read_gpus(const Value& value, const Scenario& scenario, SpaceSettings& space)
{
    int most = 0;
    for (const Cluster* cluster : clusters(scenario)) {
        most = std::max(most, cluster->gpus);
    }
    const std::vector<Choice<int>> choices = read_choices(value, gpus_axis);
    for (const Choice<int>& gpus : choices) {
        if (gpus.value > most) {
            gpus.fail({"exceeds the cluster", fmt::format("[cluster] has {} GPUs", most),
                       fmt::format("write {} or less", most)});
        }
    }
    space.gpus = values_of(choices);
}

// What the schema says of an axis.
std::vector<ValueShape> shapes_of(const PlanAxis<int>& axis)
{
    return {{.kind = ValueShape::Kind::integer, .range = range_of(axis), .list = true},
            {.kind = ValueShape::Kind::section,
             .section = []() -> const SectionTable& { return steps_fields(); }}};
}
std::vector<ValueShape> shapes_of(const PlanAxis<Seconds>&)
{
    return {{.kind = ValueShape::Kind::quantity, .dimension = Dimension::time, .list = true}};
}
std::vector<ValueShape> shapes_of(const PlanAxis<ModuleSet>& axis)
{
    return {{.kind = ValueShape::Kind::choice,
             .names = [modules = axis.modules] { return names_in(modules); },
             .list = true,
             .sets = true}};
}
template <Nameable Enum>
std::vector<ValueShape> shapes_of(const PlanAxis<Enum>&)
{
    ValueShape shape = choice_shape(enum_names<Enum>);
    shape.list = true;
    return {shape};
}

template <class T>
std::string usual_of(const PlanAxis<T>& axis)
{
    const T usual = (SpaceSettings{}.*(axis.values)).front();
    if constexpr (std::is_enum_v<T>) {
        return list_example(name(usual), true);
    } else if constexpr (std::is_same_v<T, int>) {
        return usual > 0 ? list_example(std::to_string(usual), false) : "";
    } else {
        return "";
    }
}

template <class T>
KeyInfo key_of(const PlanAxis<T>& axis)
{
    const bool quoted = std::is_enum_v<T> || std::is_same_v<T, Seconds>;
    return {std::string(axis.name), std::string(axis.help), list_example(axis.example, quoted),
            shapes_of(axis),        Need::optional,         {}};
}

constexpr std::string_view layout_example = R"(["Et*4|t*5|t*5|t*4L"])";

KeyInfo layout_key()
{
    return {"layout",
            "for split = \"given\": the layers of each chunk in the notation of Megatron Core's "
            "--pipeline-model-parallel-layout "
            "(E embedding, t layer, m multi-token prediction module, L loss head, | next chunk, *N repeats); "
            "one string per "
            "number pp*v "
            "of chunks",
            std::string(layout_example),
            {{.kind = ValueShape::Kind::text, .list = true}},
            Need::optional,
            {}};
}

constexpr std::string_view networks_example = R"(["llama3-8b", "nemotron-h-8b"])";

KeyInfo workload_key()
{
    return {"workload",
            "networks of equal quality to choose from, defined in [networks] or in the catalog; replaces "
            "[workload]",
            std::string(networks_example),
            {{.kind = ValueShape::Kind::text, .list = true}},
            Need::optional,
            {}};
}

/// The network of that name: one of the file's, or of the catalog.
Workload network_named(const Value& value, const std::vector<Workload>& own)
{
    const std::string name = value.text("llama3-8b");
    const auto found = std::find_if(own.begin(), own.end(),
                                    [&name](const Workload& network) { return network.name == name; });
    if (found != own.end()) {
        return *found;
    }
    std::vector<std::string> names = value.catalog().names(workloads_kind);
    for (const Workload& network : own) {
        names.push_back(network.name);
    }
    Workload workload = catalog_workload(value.choice(names, "networks"), value.catalog());
    workload.name = name;
    return workload;
}

/// What a step's batch counts of a network.
struct Samples {
    std::string_view of;
    int tokens = 0;        // of each; 0: any number
    std::string target{};  // what is learned of them; empty: whatever

    bool fit(const Samples& other) const
    {
        return of == other.of && (tokens == 0 || other.tokens == 0 || tokens == other.tokens) &&
               (target.empty() || other.target.empty() || target == other.target);
    }
    std::string text() const
    {
        const std::string samples = tokens > 0 ? fmt::format("{} of {} tokens", of, tokens) : std::string(of);
        return target.empty() ? samples : fmt::format("{} for {}", samples, target);
    }
};

/// By its attention: decoders predict the next token, encoders what is masked, both together another text.
std::string_view kind_of_text(const Workload& network)
{
    bool causal = false;
    bool full = false;
    bool crosses = false;
    network.for_blocks([&](const BlockDescription& block) {
        if (const auto* attention = std::get_if<AttentionBlock>(&block)) {
            crosses = crosses || attention->context > 0;
            causal = causal || attention->causal;
            full = full || !attention->causal;
        }
    });
    if (crosses) {
        return "pairs of texts";
    }
    return full && !causal ? "texts with masked tokens" : "text";
}

Samples samples_of(const Workload& network, const Catalog& catalog)
{
    if (network.vocabulary > 0) {
        return {kind_of_text(network)};
    }
    if (network.find<TablesBlock>() != nullptr) {
        return {"rows of tables"};
    }
    const bool known = catalog.has(workloads_kind, network.name);
    const UsualSample usual = known ? usual_sample(network.name, catalog) : UsualSample{.tokens = 0};
    return {"images, videos or sounds", usual.tokens, usual.target};
}

/// Networks of a study are trained on the same samples, whatever else differs.
void refuse_other_samples(const Value& value, const Workload& network, const Workload& first)
{
    const Samples own = samples_of(network, value.catalog());
    const Samples others = samples_of(first, value.catalog());
    if (!own.fit(others)) {
        value.fail({fmt::format("is trained on {}, \"{}\" on {}", own.text(), first.name, others.text()),
                    "the networks of a study are alternatives for one job: tokens and sequence_length of "
                    "each [[phase]] hold for all",
                    "search them separately"});
    }
}

/// Reads the networks to choose from.
void read_networks(Table& table, Scenario& scenario)
{
    if (!scenario.served.empty()) {
        return;
    }
    const std::vector<Workload> own = std::exchange(scenario.workloads, {});
    const auto list = table.find("workload");
    if (!list) {
        return;
    }
    StudyChoice choice{.name = "workload"};
    for (const Value& value : list->list(networks_example)) {
        scenario.workloads.push_back(network_named(value, own));
        const std::string& name = scenario.workloads.back().name;
        if (scenario.workloads.back().task != scenario.workloads.front().task) {
            value.fail({"has another task than the first", "training and inference cannot be compared",
                        "search them separately"});
        }
        refuse_other_samples(value, scenario.workloads.back(), scenario.workloads.front());
        if (std::find(choice.labels.begin(), choice.labels.end(), name) != choice.labels.end()) {
            value.fail({"is listed twice", "each choice is one network", "remove one of the two"});
        }
        choice.values.emplace_back(TrainedNetwork{choice.values.size()});
        choice.labels.push_back(name);
    }
    for (const Workload& network : own) {
        if (std::find(choice.labels.begin(), choice.labels.end(), network.name) == choice.labels.end()) {
            list->fail({fmt::format("omits \"{}\"", network.name), "[networks] defines it",
                        "list it, or remove its definition"});
        }
    }
    scenario.workload = scenario.workloads.front();
    scenario.choices.push_back(std::move(choice));
}

/// Read like the axes of plans.
constexpr PlanAxis<int> batch_axis{
    "global_batch",
    nullptr,
    &SpaceSettings::global_batch,
    "global batches of a phase in sequences, whose price [learning] gives; default: that of the phase",
    "2048",
    stages_and_memory,
    1,
    100'000'000};

constexpr PlanAxis<AttentionKernel> kernel_axis{
    "attention_kernel",
    nullptr,
    &SpaceSettings::attention_kernel,
    "kernels of all attention blocks, whose deviation [numerics] limits: plain "
    "writes the score matrix to memory, flash never does; "
    "default: those of the workload",
    "flash",
    stages_and_memory};

constexpr PlanAxis<Recovery> recovery_axis{
    "recovery",
    nullptr,
    &SpaceSettings::recovery,
    "what the job does when a node fails; default: as in [reliability]",
    "hot_spares",
    stages_and_memory};

/// Numbers of chunks that plans of the space have.
std::set<std::size_t> chunk_counts(const SpaceSettings& space)
{
    std::set<std::size_t> counts;
    for (const Schedule schedule : space.schedule) {
        for (const int pp : space.pp) {
            for (const int v : space.v) {
                counts.insert(static_cast<std::size_t>(network_chunks(schedule, pp, v)));
            }
        }
    }
    return counts;
}

std::string joined(const std::set<std::size_t>& counts) { return fmt::format("{}", fmt::join(counts, ", ")); }

/// One of the layouts, which must fit the network and some plan of the space.
std::vector<Chunk> read_layout(const Value& value, const SpaceSettings& space, const Workload& workload)
{
    const auto parsed = parse_layout(value.text("Et*4|t*5|t*5|t*4L"), workload.predictions);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
        value.fail({"is not a layout", *wrong, fmt::format("write for example layout = {}", layout_example)});
    }
    const auto& chunks = std::get<std::vector<Chunk>>(parsed);
    if (const int layers = chunks.back().first_layer + chunks.back().layers; layers != workload.layers()) {
        value.fail({fmt::format("has {} layers", layers),
                    fmt::format("the workload has {}", workload.layers()), "write one t per layer"});
    }
    if (const std::set<std::size_t> counts = chunk_counts(space); !counts.contains(chunks.size())) {
        value.fail({fmt::format("has {} chunks", chunks.size()),
                    fmt::format("the plans of the space have pp*v = {}", joined(counts)),
                    "give a layout with one of these numbers of chunks"});
    }
    return chunks;
}

void read_layouts(Table& table, const SpaceSettings& space, Scenario& scenario)
{
    Workload& workload = scenario.workload;
    const bool given =
        std::find(space.split.begin(), space.split.end(), LayerSplit::given) != space.split.end();
    const auto list = table.find("layout");
    if (given && !list) {
        table.at("split", "")
            .fail({"needs a layout", "split = \"given\" divides the layers as in `layout`",
                   fmt::format("add layout = {}, one per number pp*v of chunks", layout_example)});
    }
    if (!list) {
        return;
    }
    if (!given) {
        list->fail({"applies to split = \"given\" only", "no plan of the space uses that split",
                    "add it to split, or remove layout"});
    }
    if (!scenario.workloads.empty()) {
        list->fail({"cannot be combined with several networks",
                    "workload in [space] lists several, each with its own layers",
                    "search one of them, or remove split = \"given\""});
    }
    for (const Value& value : list->list(layout_example)) {
        std::vector<Chunk> chunks = read_layout(value, space, workload);
        if (given_layout(chunks.size(), workload.layouts) != nullptr) {
            value.fail({fmt::format("is the second layout with {} chunks", chunks.size()),
                        "a plan uses the layout with pp*v chunks", "remove one of them"});
        }
        workload.layouts.push_back(std::move(chunks));
    }
}

}  // namespace

const SectionTable& space_table()
{
    static const SectionTable table = [] {
        SectionTable space("[space]", "the axes of the search: each plan takes one value of each");
        KeyInfo gpus = key_of(gpus_axis);
        gpus.need = Need::required;
        space.add(std::move(gpus));
        for_each_axis([&space](const auto& axis) {
            KeyInfo key = key_of(axis);
            key.usual = usual_of(axis);
            space.add(std::move(key));
        });
        space.add(layout_key());
        space.add(workload_key());
        space.add(key_of(batch_axis));
        space.add(precision_key());
        space.add(key_of(kernel_axis));
        space.add(key_of(recovery_axis));
        return space;
    }();
    return table;
}

namespace {

/// The software that all clusters have; nothing where they have different software.
const Software* common_software(const std::vector<const Cluster*>& clusters)
{
    const Software& first = clusters.front()->software;
    const bool same = std::all_of(clusters.begin(), clusters.end(), [&](const Cluster* cluster) {
        return cluster->software.name == first.name;
    });
    return same ? &first : nullptr;
}

SpaceSettings no_values()
{
    SpaceSettings values;
    for_each_axis([&](const auto& axis) { values.*(axis.values) = {}; });
    return values;
}

}  // namespace

SpaceSettings read_axes(Table table)
{
    SpaceSettings values = no_values();
    for_each_axis([&](const auto& axis) {
        if (const auto value = table.find(axis.name)) {
            values.*(axis.values) = values_of(read_choices(*value, axis));
        }
    });
    table.refuse_unknown_keys();
    return values;
}

void read_space(Table table, Scenario& scenario)
{
    read_networks(table, scenario);
    const Alternatives alternatives{networks(scenario), clusters(scenario)};
    SpaceSettings& space = scenario.space;
    read_gpus(table.at(gpus_axis.name, "gpus = [2048, 4096]"), scenario, space);
    const Software* software = common_software(alternatives.clusters);
    std::optional<Table> defaults =
        software != nullptr ? plan_defaults(*software, table.catalog()) : std::nullopt;
    const auto levers = software != nullptr ? lever_values(software->name, table.catalog()) : std::nullopt;
    scenario.levers = levers ? read_axes(*levers) : no_values();
    for_each_axis([&](const auto& axis) {
        const auto usual = defaults ? defaults->find(axis.name) : std::nullopt;
        if (const auto value = table.find(axis.name)) {
            read_axis(*value, axis, alternatives, space);
        } else if (usual) {
            read_axis(*usual, axis, alternatives, space);
            scenario.axes_of_software.emplace_back(axis.name);
        }
    });
    if (defaults) {
        defaults->refuse_unknown_keys();
    }
    scenario.gives_order = table.find("order").has_value();
    if (const auto value = table.find(batch_axis.name)) {
        read_axis(*value, batch_axis, alternatives, space);
    }
    if (const auto value = table.find("precision")) {
        space.precision = read_precisions(*value, alternatives.networks);
    }
    if (const auto value = table.find(kernel_axis.name)) {
        read_axis(*value, kernel_axis, alternatives, space);
    }
    if (const auto value = table.find(recovery_axis.name)) {
        read_axis(*value, recovery_axis, alternatives, space);
    }
    read_layouts(table, space, scenario);
    table.refuse_unknown_keys();
}

void yield_to_exports(Scenario& scenario)
{
    std::erase_if(scenario.axes_of_software, [&](const std::string& name) {
        const bool refused = is_limited_by_export(scenario.search.runnable_by, name);
        for_each_axis([&](const auto& axis) {
            if (refused && axis.name == name) {
                scenario.space.*(axis.values) = SpaceSettings{}.*(axis.values);
            }
        });
        return refused;
    });
}

}  // namespace prismopt
