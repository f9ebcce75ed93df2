#include "optimizer/space/design_text.hpp"

#include "io/base/input_error.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/toml/quantity.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <vector>

namespace prismopt {

namespace {

int parse_value(const std::string& key, const std::string& value, int)
{
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    int least = 1;
    for_each_axis([&](const auto& axis) {
        if (axis.name == key) {
            least = axis.low;
        }
    });
    if (key == "group") {  // the default, as design_text() writes it
        least = 0;
    }
    if (error != std::errc{} || end != value.data() + value.size() || number < least) {
        throw InputError(
            fmt::format("plan: {0}={1} is not a whole number from {2} to {3}; write for example {0}=8", key,
                        value, least, std::numeric_limits<int>::max()));
    }
    return number;
}

Seconds parse_value(const std::string& key, const std::string& value, Seconds)
{
    const auto parsed = parse_quantity<Seconds>(value, "300 s");
    const auto* time = std::get_if<Seconds>(&parsed);
    if (time == nullptr || !(time->si >= 0.0)) {
        throw InputError("plan: " + key + "=" + value + " is not a time; write for example " + key + "=300s");
    }
    return *time;
}

ModuleSet parse_value(const std::string& key, const std::string& value, ModuleSet)
{
    std::span<const Module> choices;
    for_each_axis([&](const auto& axis) {
        if (axis.name == key) {
            choices = axis.modules;
        }
    });
    if (const auto parsed = parse_modules(value, choices)) {
        return *parsed;
    }
    throw InputError(
        "plan: " + key + "=" + value +
        " is not \"default\" or a set such as layernorm+moe_act; choose from: " + names_of_modules(choices));
}

template <class Enum>
Enum parse_value(const std::string& key, const std::string& value, Enum)
{
    if (const auto parsed = parse<Enum>(value)) {
        return *parsed;
    }
    throw InputError("plan: " + key + "=" + value + " is unknown; choose from: " + choices<Enum>());
}

/// Each axis keeps the default of the plan if the space has it, and else takes the space's first value. Where
/// the default is what [reliability] has, it stays unless there is one value.
void set_usual_values(ParallelPlan& plan, const SpaceSettings& space)
{
    for_each_axis([&](const auto& axis) {
        const auto& values = space.*(axis.values);
        auto& choice = plan.*(axis.choice);
        const bool of_reliability = axis.changes.run;
        const bool listed = std::find(values.begin(), values.end(), choice) != values.end();
        if (values.size() == 1 || (!listed && !of_reliability)) {
            choice = values.front();
        }
    });
}

/// Sets the axis of that name. False if there is none.
bool set_named(const std::string& key, const std::string& value, ParallelPlan& plan,
               const SpaceSettings& space)
{
    bool found = false;
    for_axes(plan, space, [&](std::string_view axis, auto& choice, const auto&) {
        if (key == axis) {
            choice = parse_value(key, value, choice);
            found = true;
        }
    });
    return found;
}

/// Names that are not axes of plans: the number of GPUs, and the degree that follows from others.
constexpr std::array<std::string_view, 2> other_names{"gpus", "dp"};

bool is_name(const std::string& word, const SpaceSettings& space)
{
    bool found = std::find(other_names.begin(), other_names.end(), word) != other_names.end();
    ParallelPlan any;
    for_axes(any, space, [&](std::string_view axis, auto&, const auto&) { found = found || word == axis; });
    return found;
}

std::vector<std::string> names_of_plan(const SpaceSettings& space)
{
    std::vector<std::string> names{"gpus"};
    ParallelPlan any;
    for_axes(any, space, [&names](std::string_view axis, auto&, const auto&) { names.emplace_back(axis); });
    names.emplace_back("dp");
    return names;
}

template <class T>
bool is_value(const std::string& word, const T&)
{
    if constexpr (std::is_enum_v<T>) {
        return parse<T>(word).has_value();
    } else {
        return false;
    }
}

/// Axes with a value of this name.
std::vector<std::string> axes_with(const std::string& word, const SpaceSettings& space)
{
    std::vector<std::string> axes;
    ParallelPlan any;
    for_axes(any, space, [&](std::string_view axis, const auto& choice, const auto&) {
        if (is_value(word, choice)) {
            axes.emplace_back(axis);
        }
    });
    return axes;
}

bool is_hardware(const std::string& name)
{
    return name.find('.') != std::string::npos || parse<HardwareTarget>(name);
}

struct NamedValue {
    std::string name;
    std::string value;
};

/// The words of a design as names and values: "tp=4", "tp 4", or the value alone if only
/// one axis has it ("interleaved").
std::vector<NamedValue> named_values(const std::string& text, const SpaceSettings& space)
{
    std::vector<NamedValue> all;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        const std::string name = axis_of_word(word.substr(0, equals));
        NamedValue& named = all.emplace_back();
        named.name = name;
        if (equals != std::string::npos) {
            named.value = word.substr(equals + 1);
        } else if (is_name(name, space)) {
            words >> named.value;
        } else if (const auto axes = axes_with(word, space); axes.size() == 1) {
            named = {axes.front(), word};
        } else if (!axes.empty()) {
            throw InputError("plan: " + word + " is a value of several axes; write for example " +
                             axes.front() + "=" + word);
        }
        if (!is_name(named.name, space)) {
            if (is_hardware(named.name)) {  // as [[knob]] names them
                throw InputError("plan: " + named.name +
                                 " is a hardware parameter, not part of a plan; set its value in [cluster] "
                                 "of the scenario, " +
                                 "remove its [[knob]], and leave it out here");
            }
            throw InputError("plan: unknown name '" + named.name + "'; names are " +
                             fmt::format("{}", fmt::join(names_of_plan(space), " ")));
        }
        if (std::count_if(all.begin(), all.end(),
                          [&](const NamedValue& other) { return other.name == named.name; }) > 1) {
            throw InputError("plan: " + named.name + " is given twice; remove one of the two");
        }
    }
    return all;
}

/// Resets choices that have no effect on the plan, unless they are named.
void drop_idle_choices(ParallelPlan& plan, const std::set<std::string>& named)
{
    if (!facts_of(plan.schedule).groups && !named.contains("group")) {
        plan.group = 0;
    }
    if (!can_validate_later(plan) && !named.contains("post_validation")) {
        plan.post_validation = PostValidation::off;
    }
}

struct GpuCount {
    int gpus = 0;
    bool named = false;
    int cluster = 0;
};

[[noreturn]] void refuse_degrees(Conflict conflict, Facts facts)
{
    throw DegreesDoNotFit(Infeasible{conflict, std::move(facts)});
}

/// Number of data-parallel replicas: `asked`, or, if that is 0, as many as fit on the GPUs.
int replicas_of(const ParallelPlan& plan, int asked, const GpuCount& count)
{
    if (count.gpus > count.cluster) {
        refuse_degrees(Conflict::gpus_and_cluster,
                       {{FactKey::gpus, count.gpus}, {FactKey::cluster_gpus, count.cluster}});
    }
    const int most = count.named || asked == 0 ? count.gpus : count.cluster;
    for (const auto& [key, degree] : {std::pair{"tp", plan.tp},
                                      {"pp", plan.pp},
                                      {"cp", plan.cp},
                                      {"ep", plan.ep},
                                      {"etp", plan.etp},
                                      {"dp", asked}}) {
        if (degree > most) {
            refuse_degrees(Conflict::degree_and_gpus, {{FactKey::axis, std::string(key)},
                                                       {FactKey::degree, degree},
                                                       {FactKey::gpus, most}});
        }
    }
    const std::int64_t expert_gpus = static_cast<std::int64_t>(plan.ep) * plan.etp;
    if (expert_gpus > std::numeric_limits<int>::max()) {
        refuse_degrees(Conflict::expert_degrees_and_gpus,
                       {{FactKey::expert_gpus, expert_gpus}, {FactKey::gpus, most}});
    }
    const double replica = static_cast<double>(plan.tp) * plan.pp * plan.cp;
    const Fact product(FactKey::product, std::string(plan.cp > 1 ? "tp*pp*cp" : "tp*pp"));
    const Fact replica_gpus(FactKey::replica_gpus, replica);
    if (asked == 0) {
        if (std::fmod(count.gpus, replica) != 0.0) {
            refuse_degrees(Conflict::replica_and_given_gpus,
                           {product, replica_gpus, {FactKey::gpus, count.gpus}});
        }
        return static_cast<int>(count.gpus / replica);
    }
    const Facts needs{{FactKey::dp, asked}, product, replica_gpus, {FactKey::needed_gpus, asked * replica}};
    const auto against = [&needs](FactKey key, int gpus) {
        Facts facts = needs;
        facts.emplace_back(key, gpus);
        return facts;
    };
    if (count.named && asked * replica != count.gpus) {
        refuse_degrees(Conflict::replicas_and_given_gpus, against(FactKey::gpus, count.gpus));
    }
    if (asked * replica > count.cluster) {
        refuse_degrees(Conflict::replicas_and_cluster, against(FactKey::cluster_gpus, count.cluster));
    }
    return asked;
}

/// The largest number of GPUs that the cluster has; one of several clusters may
/// be too small for some of them.
int most_gpus(const std::vector<int>& choices, int cluster)
{
    int most = 0;
    for (const int gpus : choices) {
        if (gpus <= cluster) {
            most = std::max(most, gpus);
        }
    }
    return most > 0 ? most : cluster;
}

}  // namespace

DegreesDoNotFit::DegreesDoNotFit(Infeasible why) : InputError(detail_text(why)), why_(std::move(why)) {}

ParallelPlan parse_design(const std::string& text, const Scenario& scenario)
{
    const SpaceSettings& s = scenario.space;
    int gpu_count = most_gpus(s.gpus, scenario.cluster.gpus);
    int replicas = 0;  // 0: as many as the GPUs hold
    ParallelPlan plan;
    set_usual_values(plan, s);
    std::set<std::string> named;
    for (const auto& [key, value] : named_values(text, s)) {
        named.insert(key);
        if (key == "gpus") {
            gpu_count = parse_value(key, value, gpu_count);
        } else if (key == "dp") {
            replicas = parse_value(key, value, replicas);
        } else {
            set_named(key, value, plan, s);
        }
    }
    plan.dp = replicas_of(plan, replicas, {gpu_count, named.contains("gpus"), scenario.cluster.gpus});
    drop_idle_choices(plan, named);
    return plan;
}

bool states_axis(const std::string& text, const std::string& axis, const Scenario& scenario)
{
    const std::vector<NamedValue> all = named_values(text, scenario.space);
    return std::any_of(all.begin(), all.end(),
                       [&axis](const NamedValue& value) { return value.name == axis; });
}

std::vector<std::string> axis_names(const Scenario& scenario)
{
    std::vector<std::string> names = names_of_plan(scenario.space);
    for (const StudyChoice& choice : scenario.choices) {
        names.push_back(choice.name);
    }
    return names;
}

std::string seconds_text(Seconds time)
{
    std::ostringstream text;
    text.precision(15);
    text << time.si << 's';
    return text.str();
}

namespace {

std::string value_text(int value) { return std::to_string(value); }
std::string value_text(Seconds value) { return seconds_text(value); }
std::string value_text(const ModuleSet& value) { return text_of(value); }
template <class Enum>
std::string value_text(Enum value)
{
    return std::string(name(value));
}

struct AxisText {
    std::string name;
    std::string value;
    std::string otherwise;  // value that parse_design() takes if the axis is not named
};

/// As for_axes() visits them.
std::vector<AxisText> axis_texts(const ParallelPlan& of, const SpaceSettings& space)
{
    std::vector<AxisText> all;
    ParallelPlan plan = of;
    for_axes(plan, space, [&](std::string_view axis, const auto& choice, const auto&) {
        all.push_back({std::string(axis), value_text(choice), ""});
    });
    ParallelPlan unnamed;
    set_usual_values(unnamed, space);
    unnamed.pp = of.pp;
    unnamed.schedule = of.schedule;
    drop_idle_choices(unnamed, {});
    std::size_t at = 0;
    for_axes(unnamed, space, [&](std::string_view, const auto& choice, const auto&) {
        all[at++].otherwise = value_text(choice);
    });
    return all;
}

}  // namespace

std::string design_text(const ParallelPlan& plan, const SpaceSettings& space)
{
    constexpr std::array<std::string_view, 10> always{
        "tp", "pp", "v", "microbatch", "schedule", "recompute", "sharding", "split", "dp_overlap", "order"};
    // Degrees that do not divide the GPUs leave a plan without replicas.
    std::string text = plan.dp > 0 ? fmt::format("gpus={}", plan.gpus()) : "";
    const std::vector<AxisText> axes = axis_texts(plan, space);
    for (const std::string_view name : always) {
        const auto axis =
            std::find_if(axes.begin(), axes.end(), [name](const AxisText& a) { return a.name == name; });
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis->name, axis->value);
    }
    for (const AxisText& axis : axes) {
        const bool shown = std::find(always.begin(), always.end(), axis.name) != always.end();
        const bool matters =
            axis.value != axis.otherwise || (axis.name == "context_exchange" && plan.ring_gpus() > 1);
        if (!shown && matters && !(axis.name == "spares" && plan.spares == as_configured)) {
            text += fmt::format(" {}={}", axis.name, axis.value);
        }
    }
    return text;
}

std::string axis_text(std::string_view axis, const ParallelPlan& plan)
{
    const bool of_reliability = (axis == "spares" && plan.spares == as_configured) ||
                                (axis == "checkpoint_interval" && plan.checkpoint_interval.si == 0.0);
    if (of_reliability) {
        return fmt::format("{} as in [reliability]", axis);
    }
    if (axis == gpus_axis.name) {
        return fmt::format("{}={}", axis, plan.gpus());
    }
    std::string text;
    for_each_axis([&](const auto& row) {
        if (row.name == axis) {
            text = fmt::format("{}={}", axis, value_text(plan.*(row.choice)));
        }
    });
    return text;
}

}  // namespace prismopt
