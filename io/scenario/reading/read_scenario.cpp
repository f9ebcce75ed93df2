#include "io/scenario/reading/read_scenario.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/scenario/files/captured_network.hpp"
#include "io/scenario/files/own_catalog.hpp"
#include "io/scenario/reading/energy_of_work.hpp"
#include "io/scenario/reading/nesting.hpp"
#include "io/scenario/reading/scaled_cluster.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/scenario/variants.hpp"
#include "io/toml/toml.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/network/network.hpp"
#include "model/objective.hpp"
#include "model/plan_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

namespace prismopt {

namespace {

constexpr std::uintmax_t longest_file = 4u << 20;  // bytes; anything longer was not written by hand
constexpr Range seed_range{"the seed of all random numbers", 0, 9.2e18, "1"};
constexpr Range headroom_range{"share of the GPU memory that is reserved: not for training", 0, 1, "0.05",
                               Range::Ends::open_high};
constexpr Range fit_range{
    "probability with which plans must fit into memory, given the error of predicted peaks; those of 20 % or "
    "more "
    "are listed apart",
    0.2, 1, "0.9", Range::Ends::open_high};

void add_warning(const std::string& text, std::string& all)
{
    all += (all.empty() || text.empty() ? "" : "; ") + text;
}

/// The search minimises what the question does; without objectives of its own, that and the promised time.
void apply_question(Scenario& scenario)
{
    scenario.promise = {scenario.question->probability, scenario.question->model_error};
    std::vector<std::string> asked{objective_of(scenario.question->minimise)};
    if (scenario.objectives.empty()) {
        asked.emplace_back(objective_of(QuestionAim::time));
    }
    for (const std::string& objective : asked) {
        if (std::find(scenario.objectives.begin(), scenario.objectives.end(), objective) ==
            scenario.objectives.end()) {
            scenario.objectives.push_back(objective);
        }
    }
}

/// Quantiles that predictions need for the objectives.
std::vector<int> percents_of(const std::vector<std::string>& objectives)
{
    std::set<int> percents;
    for (const std::string& name : objectives) {
        if (const int percent = find_objective(name)->percent) {
            percents.insert(percent);
        }
    }
    return {percents.begin(), percents.end()};
}

const Fields<MemoryLimit>& memory_fields()
{
    static const auto fields = Fields<MemoryLimit>("[memory]", "when plans fit into memory")
                                   .number("probability", &MemoryLimit::probability, fit_range)
                                   .number("headroom", &MemoryLimit::headroom, headroom_range);
    return fields;
}

/// Nothing without the key.
Learned read_learned(Table cluster_table, const Cluster& cluster)
{
    const auto value = cluster_table.find("learned");
    if (!value) {
        return {};
    }
    const std::string text = value->document("learned.toml");
    if (!is_learned_text(text)) {
        value->fail({"is the name of a file", "only the scenario's own file may name others",
                     "read the scenario from its file"});
    }
    Learned learned = parse_learned(text, "[cluster] learned");
    if (const std::string why = not_of(learned, cluster); !why.empty()) {
        throw InputError(
            fmt::format("[cluster] learned is of another cluster: {}; give what was learned on this cluster, "
                        "or remove the "
                        "key",
                        why));
    }
    return learned;
}

/// Times are those of a network: with several networks, only constants are known of each.
void apply_learned(Scenario& scenario)
{
    if (scenario.learned.empty()) {
        return;
    }
    const FittedModel fitted = fitted_model();
    std::vector<LearnedConstant> constants;
    for (const LearnedFactor& of : scenario.learned.constants) {
        const auto found =
            std::find_if(fitted.constants.begin(), fitted.constants.end(),
                         [&of](const FittedConstant& constant) { return name_of(constant) == of.name; });
        constants.push_back({found->key, found->entries, of.factor});
    }
    const double time = scenario.workloads.empty() ? scenario.learned.time_of(scenario.workload.name) : 1.0;
    scenario.cluster = with_learned(std::move(scenario.cluster), constants, time);
}

/// Networks of [[workloads]] have their phases, and no others exist.
void refuse_beside_served(Table& top, const Value& served)
{
    const auto space = top.find("space");
    const auto chosen = space && space->is_table() ? space->table("").find("workload") : std::nullopt;
    for (const auto& other : {top.find("workload"), top.find("networks"), top.find("phase"), chosen}) {
        if (other) {
            other->fail({fmt::format("cannot be combined with [[workloads]] in line {}", served.line()),
                         "those networks have phases of their own, and every machine serves all of them",
                         "move its keys into an element of [[workloads]], or remove it"});
        }
    }
    for (const char* key : {"learning", "numerics", "local_updates", "question"}) {
        if (const auto section = top.find(key)) {
            section->fail({"belongs to one network", "[[workloads]] judges each machine by several",
                           "search the networks separately, or remove the section"});
        }
    }
}

/// The network is that of [workload], one of those that [space] chooses from, or all of [[workloads]].
void refuse_unclear_network(Table& top)
{
    if (const auto served = top.find("workloads")) {
        refuse_beside_served(top, *served);
        return;
    }
    const auto space = top.find("space");
    const auto chosen = space && space->is_table() ? space->table("").find("workload") : std::nullopt;
    const auto one = top.find("workload");
    const auto several = top.find("networks");
    if (chosen && one) {
        chosen->fail(
            {fmt::format("cannot be combined with [workload] in line {}", one->line()),
             "a study uses one of the two",
             "move the keys of [workload] to [networks.NAME] and list NAME, or remove one of the two"});
    }
    if (several && !chosen) {
        const std::vector<std::string> names = several->table("[networks.NAME]").keys();
        several->fail({"are not used", "[space] does not choose among them",
                       fmt::format("write workload = [\"{}\"] in [space]", fmt::join(names, "\", \""))});
    }
    if (!chosen) {
        top.at("workload", R"([workload] with model = "llama3-8b")");
    }
    top.at("phase", "[[phase]] with " + phase_fields().keys().front().line());
}

/// The key from which a network has its precision: `precision`, else the entry of the catalog.
Value precision_key(Table& top, const Workload& network)
{
    const auto one = top.find("workload");
    const auto several = top.find("networks");
    auto described = one;
    if (!one && several) {
        described = several->table("").find(network.name);
    }
    if (const auto served = top.find("workloads")) {
        for (const Value& element : served->list("")) {
            Table of_one = element.table("");
            const auto named = of_one.find("name") ? of_one.find("name") : of_one.find("model");
            if (named && named->text("") == network.name) {
                described = element;
            }
        }
    }
    if (!described) {
        return *top.find("space")->table("").find("workload");  // of the catalog
    }
    Table table = described->table("");
    for (const char* key : {"precision", "model"}) {
        if (const auto value = table.find(key)) {
            return *value;
        }
    }
    return *described;
}

/// A cluster whose accelerator has no peak rate in the precision; null if all have one.
const Cluster* cluster_without(const Scenario& scenario, Precision precision)
{
    for (const Cluster* cluster : clusters(scenario)) {
        if (cluster->accelerator.peak(precision).si <= 0.0) {
            return cluster;
        }
    }
    return nullptr;
}

void refuse_missing_precision(const Scenario& scenario, Table& top)
{
    for (const Workload* network : networks(scenario)) {
        if (const Cluster* without = cluster_without(scenario, network->precision)) {
            precision_key(top, *network)
                .fail(
                    {"needs a precision that the accelerator does not support",
                     fmt::format("{} is trained in {}, and {} has no peak rate for it", network->name,
                                 name(network->precision), without->accelerator.name),
                     "choose another precision, or give the peak rate in accelerator_override in [cluster]"});
        }
    }
}

/// What varies is the load beyond the mean.
void refuse_idle_imbalance(const Scenario& scenario, Table& top)
{
    const auto distribution = top.find("variability")->table("").find("expert_imbalance");
    bool uneven = false;
    for (const Workload* network : networks(scenario)) {
        network->for_blocks([&uneven](const BlockDescription& block) {
            const auto* experts = std::get_if<ExpertsBlock>(&block);
            uneven = uneven || (experts != nullptr && experts->routing().kept() > 1.0);
        });
    }
    if (const auto correlation = top.find("variability")->table("").find("expert_imbalance_correlation");
        correlation && !distribution) {
        correlation->fail(
            {"has no effect", "expert_imbalance is not given", "add expert_imbalance, or remove it"});
    }
    if (distribution && !uneven) {
        distribution->fail(
            {"has no effect",
             "it varies the load of experts beyond the mean, and no experts block has an imbalance above 1",
             "give an experts block an imbalance, as in imbalance = 1.2"});
    }
}

/// The longest that anybody would train: at a hundredth of the peak, on the fewest GPUs of the space.
double slowest_run_s(const Scenario& scenario)
{
    constexpr double share_of_peak = 0.01;
    const int fewest = *std::min_element(scenario.space.gpus.begin(), scenario.space.gpus.end());
    double longest = 0.0;
    const std::vector<const Workload*> all = networks(scenario);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Workload* trained = all[i];
        double peak = std::numeric_limits<double>::infinity();
        for (const Cluster* cluster : clusters(scenario)) {
            peak = std::min(peak, share_of_peak * cluster->accelerator.peak(trained->precision).si);
        }
        const Network network = network_of(*trained);
        double seconds = 0.0;
        for (const Phase& phase : phases_for(scenario, i)) {
            const double sequences = phase.tokens / phase.tokens_of_sequence();
            const int gpus = phase.own.gpus > 0 ? phase.own.gpus : fewest;
            seconds += sequences * model_flops_per_sequence(network, phase.sequence) / (peak * gpus);
        }
        longest = std::max(longest, seconds);
    }
    return longest;
}

/// A batch without a price would be a free choice.
void refuse_free_batches(const Scenario& scenario, Table& top)
{
    if (!scenario.space.global_batch.empty() && !scenario.learning) {
        top.find("space")
            ->table("")
            .find("global_batch")
            ->fail(
                {"needs [learning]",
                 "a larger batch needs more tokens to the same loss, which a search would otherwise ignore",
                 "add [learning] with reference_batch and a critical batch (docs/learning.md)"});
    }
}

/// The same for replicas that use local updates.
void refuse_free_local_updates(const Scenario& scenario, Table& top)
{
    const SpaceSettings& space = scenario.space;
    if (std::all_of(space.local_steps.begin(), space.local_steps.end(),
                    [](int local) { return local == 1; })) {
        return;
    }
    const Value axis = *top.find("space")->table("").find("local_steps");
    if (std::find(space.crossing.begin(), space.crossing.end(), Crossing::dp) == space.crossing.end() ||
        most_buildings(scenario) == 1) {
        axis.fail({"has no effect",
                   most_buildings(scenario) == 1 ? "all jobs of the space fit into one building"
                                                 : "no replicas cross buildings",
                   "add crossing = [\"dp\"] and numbers of GPUs that need several buildings, or remove it"});
    }
    if (!top.find("local_updates")) {
        axis.fail({"needs [local_updates]",
                   "replicas that exchange less often learn less from a token, which a search would "
                   "otherwise ignore",
                   "add [local_updates] with loss_gap or more_tokens (docs/learning.md)"});
    }
}

/// The first key of [space] whose choices change how many tokens reach the loss, or nullptr.
const char* key_that_changes_tokens(const Scenario& scenario)
{
    const SpaceSettings& space = scenario.space;
    if (!space.global_batch.empty()) {
        return "global_batch";
    }
    if (!scenario.numerics.loss_gap.empty()) {
        return "precision";
    }
    const bool local_updates =
        std::any_of(space.local_steps.begin(), space.local_steps.end(), [](int local) { return local > 1; });
    return local_updates ? "local_steps" : nullptr;
}

/// Choices that change how many tokens reach the loss need an objective that counts them.
void refuse_objectives_of_steps(const Scenario& scenario, Table& top)
{
    const char* chosen = key_that_changes_tokens(scenario);
    const bool counted = std::any_of(scenario.objectives.begin(), scenario.objectives.end(),
                                     [](const std::string& objective) { return follows_tokens(objective); });
    if (chosen != nullptr && !counted) {
        top.at("objectives", "an objective of the whole run")
            .fail({"do not count tokens",
                   fmt::format("{} in [space] changes how many reach the loss, which a search would ignore",
                               chosen),
                   "add an objective of the whole run, such as training_time_p99 or cost"});
    }
}

/// A cluster that is part of a node has the node's tiers, but not its other GPUs.
void refuse_other_gpus_of_a_node(const Scenario& scenario, Table& top)
{
    const Value clusters = *top.find("cluster");
    int given = 0;
    for (const Value& cluster : clusters.is_list() ? clusters.list("") : std::vector{clusters}) {
        given =
            std::max(given, cluster.table("").at("gpus", "").count({"GPUs of the cluster", 1, 1e7, "16384"}));
    }
    const int most = *std::max_element(scenario.space.gpus.begin(), scenario.space.gpus.end());
    if (most > given) {
        top.find("space")
            ->table("")
            .at("gpus", "")
            .fail({"exceeds the cluster",
                   fmt::format("[cluster] has {} GPUs of a node of {}", given, scenario.cluster.gpus),
                   fmt::format("write {} or less", given)});
    }
}

/// A precision without an effect on learning would be a free choice, too.
void set_precisions(Scenario& scenario, Table& top)
{
    const std::vector<PrecisionChoice>& choices = scenario.space.precision;
    if (choices.empty()) {
        return;
    }
    const Value list = *top.find("space")->table("").find("precision");
    if (!scenario.numerics.judged()) {
        list.fail(
            {"needs [numerics]",
             "fewer bits are faster, and a search would otherwise ignore what they do to learning",
             "add [numerics] with loss_gap, max_deviation or accept_numerics = true (docs/learning.md)"});
    }
    for (const PrecisionChoice& choice : choices) {
        if (const Cluster* without = cluster_without(scenario, choice.precision)) {
            list.fail({fmt::format("has {}, which the accelerator does not support", name(choice.precision)),
                       fmt::format("{} has no peak rate for it", without->accelerator.name),
                       "remove it, or give the peak rate in accelerator_override in [cluster]"});
        }
    }
    StudyChoice choice{.name = "precision"};
    for (const PrecisionChoice& precision : choices) {
        choice.values.emplace_back(ChosenPrecision{choice.values.size()});
        choice.labels.push_back(precision.name);
    }
    scenario.choices.push_back(std::move(choice));
}

/// The same for attention kernels, of which no loss gap is published.
void set_attention_kernels(Scenario& scenario, Table& top)
{
    const std::vector<AttentionKernel>& choices = scenario.space.attention_kernel;
    if (choices.empty()) {
        return;
    }
    const Value list = *top.find("space")->table("").find("attention_kernel");
    for (const Workload* network : networks(scenario)) {
        if (network->captured || !network->has_attention()) {
            list.fail({"has no effect",
                       network->captured ? fmt::format("the operators of {} are as captured", network->name)
                                         : fmt::format("{} has no attention", network->name),
                       "remove it"});
        }
    }
    if (!scenario.numerics.judges_kernels()) {
        list.fail(
            {"needs [numerics] with max_deviation or accept_numerics",
             "kernels round differently, and a search would otherwise ignore what that does to learning",
             "add one of the two (docs/learning.md)"});
    }
    StudyChoice choice{.name = "attention_kernel"};
    for (const AttentionKernel kernel : choices) {
        choice.values.emplace_back(kernel);
        choice.labels.emplace_back(name(kernel));
    }
    scenario.choices.push_back(std::move(choice));
}

/// What goes on without a restart needs the time of a switch; nothing else has one.
void check_switch_time(const Scenario& scenario, Table reliability)
{
    const std::vector<Recovery>& choices = scenario.space.recovery;
    const bool switches = choices.empty()
                              ? scenario.reliability.recovery != Recovery::restart
                              : std::any_of(choices.begin(), choices.end(),
                                            [](Recovery recovery) { return recovery != Recovery::restart; });
    if (switches) {
        reliability.at("switch_time", "switch_time = \"2 min\"");
    } else if (const auto switching = reliability.find("switch_time")) {
        switching->fail({"applies to hot spares and fewer replicas only",
                         "without them a failure costs a restart",
                         "remove it, or write recovery = \"hot_spares\""});
    }
}

void set_recoveries(Scenario& scenario, Table& top)
{
    if (const auto reliability = top.find("reliability")) {
        check_switch_time(scenario, reliability->table(""));
    }
    if (scenario.space.recovery.empty()) {
        return;
    }
    StudyChoice choice{.name = "recovery"};
    for (const Recovery recovery : scenario.space.recovery) {
        choice.values.emplace_back(recovery);
        choice.labels.emplace_back(name(recovery));
    }
    scenario.choices.push_back(std::move(choice));
}

/// A run that is shorter than the interval writes no checkpoint; that no run could ever write one is a slip,
/// and so is a checkpoint that is still being written when the next is due.
void refuse_odd_intervals(const Scenario& scenario, Table& top)
{
    const Reliability& reliability = scenario.reliability;
    const double longest = slowest_run_s(scenario);
    const auto check = [longest, &reliability](const Value& interval, Seconds given) {
        if (given.si > longest) {
            interval.fail({"is longer than any run",
                           fmt::format("at 1 % of the peak on the fewest GPUs the training takes {:.4g} days",
                                       longest / 86400.0),
                           "give a shorter one, or \"0 s\" for Young's formula"});
        }
        if (reliability.write == CheckpointWrite::asynchronous && given.si > 0.0 &&
            given < reliability.checkpoint_write) {
            interval.fail({"is shorter than a checkpoint write",
                           "checkpoints are written one after the other",
                           fmt::format("write \"{:g} s\" or more", reliability.checkpoint_write.si)});
        }
    };
    if (reliability.checkpoint_interval.si > 0.0) {
        check(*top.find("reliability")->table("").find("checkpoint_interval"),
              reliability.checkpoint_interval);
    }
    if (const auto axis = top.find("space")->table("").find("checkpoint_interval")) {
        for (const Value& interval : axis->list("")) {
            check(interval, interval.quantity<Seconds>("10 min"));
        }
    }
}

/// A limit that leaves nothing out, or everything, is a slip.
void refuse_idle_price_limit(const Scenario& scenario, Table& top)
{
    if (scenario.search.gpu_price_limit.si == 0.0) {
        return;
    }
    const Value limit = *top.find("search")->table("").find("gpu_price_limit");
    if (scenario.choices.empty()) {
        limit.fail({"has no effect", "it excludes hardware variants by price, and there is no [[knob]]",
                    "add a [[knob]] with a price, or remove the limit"});
    }
    if (scenario.machines.empty() && !has_priced_hardware(scenario)) {
        limit.fail(
            {"has no effect", "no [[knob]] has a price, so that all hardware variants cost the same",
             R"(give a [[knob]] a price, as in price = { per = "100 GB/s", cost = "0.10 USD/h" }, or remove the limit)"});
    }
}

/// Why the network cannot train in the phase, if it cannot.
std::optional<Complaint> phase_problem(const Phase& phase, const Workload& network, const Cluster& cluster)
{
    const std::string sequences = fmt::format("has a phase with sequences of {} tokens", phase.sequence);
    if (network.captured && phase.sequence != network.captured_tokens) {
        return Complaint{sequences,
                         fmt::format("{} was captured with {} tokens per sample", network.name,
                                     network.captured_tokens),
                         fmt::format("write sequence_length = {}, or capture the network with other inputs",
                                     network.captured_tokens)};
    }
    if (network.captured && phase.lengths) {
        return Complaint{"has samples of different lengths",
                         fmt::format("{} was captured with samples of one length", network.name),
                         "remove lengths from [data], or describe the network in [workload]"};
    }
    if (!network.trains() && network.vocabulary > 0 && phase.sequence == 1) {
        return Complaint{sequences.substr(0, sequences.rfind(" tokens")) + " token",
                         "that is generation token by token, whose key/value cache is not modelled",
                         "give whole sequences, such as prompts or documents"};
    }
    if (network.positions > 0 && phase.sequence > network.positions) {
        return Complaint{
            sequences, fmt::format("{} has {} learned positions", network.name, network.positions),
            fmt::format("write positions = {} in [workload], or a shorter sequence_length", phase.sequence)};
    }
    for (const LayerDescription& layer : network.kinds) {
        if (layer.second_stream > 0 && layer.second_stream >= layer.tokens * phase.sequence) {
            return Complaint{sequences,
                             fmt::format("layer \"{}\" has a second stream of {} of them", layer.name,
                                         layer.second_stream),
                             "count the tokens of both streams in sequence_length, or lower second_stream"};
        }
    }
    if (phase.own.tp > 0) {
        if (const auto wrong = value_problem(ParallelPlan{.tp = phase.own.tp},
                                             Job{.workload = network, .cluster = cluster})) {
            return Complaint{fmt::format("has a phase with tp = {}", phase.own.tp), infeasible_text(*wrong),
                             remedy_text(*wrong)};
        }
    }
    return std::nullopt;
}

/// `networks`: those that train in these phases.
void refuse_phases(const Scenario& scenario, const std::vector<Phase>& given,
                   const std::vector<const Workload*>& networks, const Value& phases)
{
    for (const Phase& phase : given) {
        std::optional<Complaint> first;
        bool possible = false;
        for (const Cluster* cluster : clusters(scenario)) {
            if (phase.own.gpus > cluster->gpus) {
                phases.fail({fmt::format("has a phase on {} GPUs", phase.own.gpus),
                             fmt::format("[cluster] has {} GPUs", cluster->gpus),
                             "give that phase fewer GPUs"});
            }
            for (const Workload* network : networks) {
                const auto problem = phase_problem(phase, *network, *cluster);
                possible = possible || !problem;
                if (!first) {
                    first = problem;
                }
            }
        }
        if (!possible) {
            phases.fail(*first);
        }
    }
}

void refuse_phases(const Scenario& scenario, Table& top)
{
    if (scenario.served.empty()) {
        refuse_phases(scenario, scenario.phases, networks(scenario), *top.find("phase"));
        return;
    }
    const std::vector<Value> served = top.find("workloads")->list("");
    for (std::size_t i = 0; i < served.size(); ++i) {
        refuse_phases(scenario, scenario.served.phases[i], {&scenario.workloads[i]},
                      *served[i].table("").find("phase"));
    }
}

KeyInfo networks_key()
{
    return {"networks",
            networks_table().help(),
            R"({ small = { model = "llama3-8b" } })",
            {{.kind = ValueShape::Kind::section, .section = networks_table, .by_name = true}}};
}

KeyInfo catalog_key()
{
    return {"catalog",
            "files with accelerators, links, stacks, networks and other entries beside those of the program, "
            "as paths relative "
            "to the "
            "scenario (docs/catalog.md)",
            R"(["site.toml"])",
            {{.kind = ValueShape::Kind::text, .list = true}}};
}

/// One cluster, or several to choose from.
KeyInfo clusters_key()
{
    const SectionTable& section = cluster_table();
    const ValueShape one{.kind = ValueShape::Kind::section, .section = cluster_table};
    ValueShape several = one;
    several.list = true;
    return {"cluster",
            section.help() + "; several [[cluster]], each with its name, are alternatives",
            section.title() + " with " + section.keys().front().line(),
            {one, several},
            Need::required};
}

void refuse_unclear_machine(Table& table, const std::vector<std::string>& known)
{
    constexpr std::string_view example = "name = \"four-racks\"";
    const Value value = table.at("name", example);
    const std::string name = value.text("four-racks");
    if (!is_word(name)) {
        value.fail({"is more than a word", "reports and --design need names of one word",
                    "choose a name without spaces or ="});
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) {
        value.fail({"is listed twice", "each cluster has a name of its own", "choose another name"});
    }
    for (const char* key : {"learned", "slow_nodes", "unlisted_nodes"}) {
        if (const auto of_one = table.find(key)) {
            of_one->fail({"belongs to one cluster",
                          "it is known of its nodes, and this study compares several",
                          "search the clusters separately"});
        }
    }
}

void add_warnings_of(const Table& table, const Cluster& cluster, Scenario& scenario)
{
    add_warning(older_cluster_text(table), scenario.older_keys);
    add_warning(memory_units_text(cluster.accelerator), scenario.units);
}

void read_clusters(const Value& value, Keys keys, Scenario& scenario)
{
    if (value.is_list()) {
        StudyChoice choice{.name = "cluster"};
        for (const Value& element : value.list("[[cluster]]")) {
            Table table = element.table("[[cluster]]");
            refuse_unclear_machine(table, choice.labels);
            scenario.machines.push_back(
                read_cluster(table, keys, scenario.software, *networks(scenario).front()));
            add_warnings_of(table, scenario.machines.back(), scenario);
            choice.values.emplace_back(ChosenCluster{choice.values.size()});
            choice.labels.push_back(scenario.machines.back().name);
        }
        scenario.cluster = scenario.machines.front();
        scenario.choices.push_back(std::move(choice));
        return;
    }
    const Table table = value.table("a section");
    scenario.cluster = read_cluster(table, keys, scenario.software, *networks(scenario).front());
    add_warnings_of(table, scenario.cluster, scenario);
    scenario.learned = read_learned(table, scenario.cluster);
}

/// Per-step factors are of the tiers of one cluster.
std::vector<Distribution> tier_variability_of(const Value& cluster)
{
    if (!cluster.is_list()) {
        return read_tier_variability(cluster.table(""));
    }
    for (const Value& element : cluster.list("")) {
        for (const Value& tier : element.table("").find("tier")->list("")) {
            if (const auto distribution = tier.table("").find("variability")) {
                distribution->fail({"belongs to one cluster", "the tiers of several clusters differ",
                                    "search them separately"});
            }
        }
    }
    return {};
}

KeyInfo section_key(std::string key, const SectionTable& (*table)(), Need need, bool list = false)
{
    const SectionTable& section = table();
    ValueShape shape{.kind = ValueShape::Kind::section, .section = table, .list = list};
    return {std::move(key),
            section.help(),
            section.title() + " with " + section.keys().front().line(),
            {std::move(shape)},
            need};
}

template <class T, const Fields<T>& (*fields)()>
const SectionTable& table_of()
{
    return fields();
}

void refuse_several_clusters(const Value& list, std::string_view section, const Scenario& scenario)
{
    if (!scenario.machines.empty()) {
        list.list(section).front().table(section).fail(
            {"changes one cluster", "this study chooses from several",
             fmt::format("search each cluster with its {} separately", section)});
    }
}

/// Sections are read in this order: later ones depend on earlier ones.
Fields<Scenario> made_scenario_fields()
{
    const auto in = [](const Value& value) { return value.table("a section"); };
    Fields<Scenario> all("The file", "all inputs of a study");
    all.text("name", &Scenario::name, "my-study", "name of the study").of_study();
    all.integer("seed", &Scenario::seed, seed_range);
    all.date("start", &Scenario::start, "2027-01-15", "start date of the training, for dates in reports");
    all.custom(catalog_key(), [](const Value&, Scenario&, Keys) {});  // names refer to it: parsed()
    all.custom(section_key("workload", workload_table, Need::optional),
               [in](const Value& value, Scenario& s, Keys) {
                   s.workload = read_workload(in(value));
                   add_warning(older_keys_text(in(value)), s.older_keys);
               });
    all.custom(networks_key(),
               [in](const Value& value, Scenario& s, Keys) { s.workloads = read_networks(in(value)); });
    all.custom(section_key("data", data_table, Need::optional),
               [in](const Value& value, Scenario& s, Keys) { s.data = read_data(in(value)); });
    all.custom(section_key("workloads", served_table, Need::optional, true),
               [](const Value& value, Scenario& s, Keys keys) { read_served_networks(value, keys, s); });
    all.custom(section_key("phase", table_of<Phase, phase_fields>, Need::optional, true),
               [](const Value& value, Scenario& s, Keys keys) {
                   s.phases = read_phases(value, s.data, keys);
               });
    all.custom(section_key("software", table_of<SoftwareChoice, software_choice_fields>, Need::optional),
               [in](const Value& value, Scenario& s, Keys) { s.software = read_software_choice(in(value)); });
    all.custom(clusters_key(),
               [](const Value& value, Scenario& s, Keys keys) { read_clusters(value, keys, s); });
    all.nested(
        "memory", [](Scenario& s) -> MemoryLimit& { return s.memory_limit; }, memory_fields);
    all.custom(section_key("variability", table_of<Variability, variability_fields>, Need::study),
               [in](const Value& value, Scenario& s, Keys) { s.variability = read_variability(in(value)); });
    all.custom(section_key("reliability", reliability_table, Need::study),
               [in](const Value& value, Scenario& s, Keys) {
                   s.reliability = read_reliability(in(value), s.cluster, networks(s).front()->task);
               });
    all.custom(section_key("power", table_of<Power, power_fields>, Need::optional),
               [in](const Value& value, Scenario& s, Keys) {
                   Table table = in(value);
                   power_fields().read_whole(table, Keys::all, s.power);
               });
    all.custom(section_key("space", space_table, Need::study),
               [in](const Value& value, Scenario& s, Keys) { read_space(in(value), s); });
    all.custom(section_key("numerics", numerics_table, Need::optional),
               [in](const Value& value, Scenario& s, Keys) { read_numerics(in(value), s); });
    all.custom(section_key("local_updates", local_updates_table, Need::optional),
               [in](const Value& value, Scenario& s, Keys) { read_local_updates(in(value), s); });
    all.custom(section_key("learning", learning_table, Need::optional),
               [in](const Value& value, Scenario& s, Keys) { read_learning(in(value), s); });
    all.custom(section_key("objectives", objectives_table, Need::optional),
               [in](const Value& value, Scenario& s, Keys) {
                   s.objectives = read_objectives(in(value), s.deadline);
               });
    all.custom(section_key("question", table_of<Question, question_fields>, Need::optional),
               [in](const Value& value, Scenario& s, Keys) {
                   Table table = in(value);
                   question_fields().read_whole(table, Keys::all, s.question.emplace());
                   check_start(table, *s.question, s.start);
                   apply_question(s);
               });
    all.custom(section_key("search", table_of<SearchSettings, search_fields>, Need::optional),
               [in](const Value& value, Scenario& s, Keys) {
                   Table table = in(value);
                   search_fields().read_whole(table, Keys::all, s.search);
               });
    all.custom(section_key("knob", hardware_parameter_table, Need::optional, true),
               [](const Value& value, Scenario& s, Keys) {
                   refuse_several_clusters(value, "[[knob]]", s);
                   read_hardware_parameters(value, {s.cluster, s.reliability}, s.choices);
                   add_warning(memory_units_text(s.choices, s.cluster), s.units);
               });
    all.custom(section_key("bundle", bundle_table, Need::optional, true),
               [](const Value& value, Scenario& s, Keys) {
                   refuse_several_clusters(value, "[[bundle]]", s);
                   read_bundles(value, {s.cluster, s.reliability}, s.choices);
               });
    return all;
}

const Fields<Scenario>& scenario_fields()
{
    static const auto fields = made_scenario_fields();
    return fields;
}

}  // namespace

const SectionTable& scenario_table() { return scenario_fields(); }

namespace {

TomlNode* child_of(TomlNode& node, const std::string& key)
{
    const auto found = std::find_if(node.children.begin(), node.children.end(),
                                    [&key](const TomlNode& child) { return child.key == key; });
    return found == node.children.end() ? nullptr : &*found;
}

/// A list of one value, of the same key.
TomlNode list_of(const TomlNode& value)
{
    TomlNode list;
    list.kind = TomlNode::Kind::list;
    list.line = value.line;
    list.key = value.key;
    list.shown = value.shown;
    list.children = {value};
    return list;
}

/// Completes [space] by the number of GPUs of [cluster], of the first of
/// several, on which a measured job ran.
void add_space_of_job(TomlNode& file)
{
    TomlNode* cluster = child_of(file, "cluster");
    if (cluster != nullptr && cluster->kind == TomlNode::Kind::list && !cluster->children.empty()) {
        cluster = &cluster->children.front();
    }
    const TomlNode* gpus = cluster == nullptr ? nullptr : child_of(*cluster, "gpus");
    const TomlNode* space = child_of(file, "space");
    if (gpus == nullptr || (space != nullptr && space->kind != TomlNode::Kind::table)) {
        return;  // refused where they are read
    }
    const TomlNode choices = list_of(*gpus);
    if (space == nullptr) {
        TomlNode& added = file.children.emplace_back();
        added.line = choices.line;
        added.key = "space";
    }
    TomlNode& complete = *child_of(file, "space");
    if (child_of(complete, "gpus") == nullptr) {
        complete.children.push_back(choices);
    }
}

/// Choices and sections of a study that do not belong together.
void refuse_unclear_study(const Scenario& scenario, Table& top)
{
    refuse_idle_imbalance(scenario, top);
    refuse_free_batches(scenario, top);
    refuse_free_local_updates(scenario, top);
    refuse_objectives_of_steps(scenario, top);
    refuse_odd_intervals(scenario, top);
    if (!scenario.served.empty()) {
        refuse_unclear_served(scenario, top);
    }
    refuse_unnested_values(scenario, top);
    refuse_idle_price_limit(scenario, top);
}

Scenario parsed(const WrittenOut& written, const std::string& path, ScenarioUse use)
{
    TomlFile file = parse_toml(written.text, path, written.lines_before);
    if (use == ScenarioUse::measured_steps) {
        add_space_of_job(file.root);
    }
    Table top(file.root, file);
    file.catalog = written_catalog(top);
    Scenario scenario;
    scenario.path = path;
    scenario.text = written.text;
    scenario.catalog = file.catalog;
    scenario.power = catalog_power(usual_power);
    if (scenario.catalog) {
        refuse_wrong_entries(*scenario.catalog);
    }
    refuse_unclear_network(top);
    scenario_fields().read_whole(top, use == ScenarioUse::study ? Keys::all : Keys::some, scenario);
    if (use == ScenarioUse::study && scenario.objectives.empty()) {
        top.at("objectives", R"([question] or [objectives] with minimise = ["training_time_p99", "cost"])");
    }
    scenario.percents = percents_of(scenario.objectives);
    yield_to_exports(scenario);
    apply_learned(scenario);
    scenario.memory_limit =
        with_error(scenario.memory_limit, scenario.cluster.stack.name, scenario.learned.memory);
    scenario.variability.tier = tier_variability_of(*top.find("cluster"));
    refuse_missing_precision(scenario, top);
    set_precisions(scenario, top);
    set_attention_kernels(scenario, top);
    set_recoveries(scenario, top);
    refuse_phases(scenario, top);
    if (scenario.space.spares == std::vector{as_configured}) {
        scenario.space.spares = {scenario.reliability.spares};
    }
    refuse_other_gpus_of_a_node(scenario, top);
    settle_energy_of_work(scenario);
    if (use == ScenarioUse::study) {
        refuse_unclear_study(scenario, top);
    }
    find_variants(scenario);
    return scenario;
}

}  // namespace

Scenario parse_scenario(const std::string& text, const std::string& path)
{
    return parsed({text}, path, ScenarioUse::study);
}

Scenario read_scenario(const std::string& path, const std::vector<std::string>& catalogs, ScenarioUse use)
{
    const auto refuse = [&](const std::string& why) {
        throw InputError(fmt::format(
            "{}: cannot be read ({}); give the path of a scenario file, such as jobs/scenarios/small.toml",
            path, why));
    };
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        refuse(error ? error.message() : "no such file");
    }
    if (!std::filesystem::is_regular_file(status)) {
        refuse(std::filesystem::is_directory(status) ? "it is a directory" : "it is not a regular file");
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        refuse(std::strerror(errno));
    }
    if (const auto bytes = std::filesystem::file_size(path, error); error || bytes > longest_file) {
        refuse(error ? error.message()
                     : fmt::format("it has {} bytes; the limit is {}", bytes, longest_file));
    }
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (stream.bad()) {
        refuse("read error");
    }
    const std::string alone = with_captured_network(with_learned_file(text, path), path);
    return parsed(with_catalog_files(alone, path, catalogs), path, use);
}

}  // namespace prismopt
