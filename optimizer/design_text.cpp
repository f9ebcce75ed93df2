#include "optimizer/design_text.hpp"

#include "io/quantity.hpp"
#include "optimizer/plan_axes.hpp"
#include "optimizer/plan_rules.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>

namespace prismopt {

namespace {

int parse_value(const std::string& key, const std::string& value, int)
{
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const int least = key == "recomputed_layers" || key == "spares" ? 0 : 1;
    if (error != std::errc{} || end != value.data() + value.size() || number < least) {
        throw InputError("--design: " + key + "=" + value + " is not a whole number from " + std::to_string(least) +
                         "; write for example " + key + "=8");
    }
    return number;
}

Seconds parse_value(const std::string& key, const std::string& value, Seconds)
{
    const auto parsed = parse_quantity<Seconds>(value, "300 s");
    const auto* time = std::get_if<Seconds>(&parsed);
    if (time == nullptr || !(time->si > 0.0)) {
        throw InputError("--design: " + key + "=" + value + " is not a time above zero; write for example " + key + "=300s");
    }
    return *time;
}

template <class Enum>
Enum parse_value(const std::string& key, const std::string& value, Enum)
{
    if (const auto parsed = parse<Enum>(value)) {
        return *parsed;
    }
    throw InputError("--design: " + key + "=" + value + " is unknown; choose from: " + choices<Enum>());
}

/// The only choice of an axis, or the plan's own default.
template <class T>
void take_single(T& target, const std::vector<T>& values)
{
    if (values.size() == 1) {
        target = values.front();
    }
}

/// Whether there is an axis of that name; the plan then has the value.
bool take_named(const std::string& key, const std::string& value, ParallelPlan& plan, const SpaceSettings& space)
{
    bool found = false;
    for_axes(plan, space, [&](const char* axis, auto& choice, const auto&) {
        if (key == axis) {
            choice = parse_value(key, value, choice);
            found = true;
        }
    });
    return found;
}

std::string axis_names(const SpaceSettings& space)
{
    std::string names = "gpus";
    ParallelPlan any;
    for_axes(any, space, [&names](const char* axis, auto&, const auto&) { names += std::string(" ") + axis; });
    return names + " shard_gpus";
}

}  // namespace

ParallelPlan parse_design(const std::string& text, const Scenario& scenario)
{
    const SpaceSettings& s = scenario.space;
    int gpu_count = *std::max_element(s.gpus.begin(), s.gpus.end());
    ParallelPlan plan;
    for_axes(plan, s, [](const char*, auto& choice, const auto& values) { take_single(choice, values); });
    std::istringstream words(text);
    std::set<std::string> named;
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (!named.insert(key).second) {
            throw InputError("--design: " + key + " is given twice; remove one of the two");
        }
        if (key == "gpus") {
            gpu_count = parse_value(key, value, gpu_count);
        } else if (key == "shard_gpus") {
            plan.shard_gpus = parse_value(key, value, plan.shard_gpus);
        } else if (!take_named(key, value, plan, s)) {
            if (key.find('.') != std::string::npos || parse_knob_target(key)) {  // as [[knob]] names them
                throw InputError("--design: " + key +
                                 " is hardware, not part of a plan; write its value into [cluster] of the scenario, " +
                                 "without the [[knob]], and leave it out here");
            }
            throw InputError("--design: unknown name '" + key + "'; names are " + axis_names(s));
        }
    }
    if (gpu_count > scenario.cluster.gpus) {
        throw InputError("--design: gpus=" + std::to_string(gpu_count) + " is more than the cluster's " +
                         std::to_string(scenario.cluster.gpus) + "; name at most that many");
    }
    for (const auto& [key, degree] :
         {std::pair{"tp", plan.tp}, {"pp", plan.pp}, {"cp", plan.cp}, {"ep", plan.ep}, {"etp", plan.etp}}) {
        if (degree > gpu_count) {
            throw InputError("--design: " + std::string(key) + "=" + std::to_string(degree) +
                             " is more than gpus=" + std::to_string(gpu_count) + "; name at most that many");
        }
    }
    if (static_cast<std::int64_t>(plan.ep) * plan.etp > std::numeric_limits<int>::max()) {
        throw InputError("--design: ep*etp = " + std::to_string(static_cast<std::int64_t>(plan.ep) * plan.etp) +
                         " is more than gpus=" + std::to_string(gpu_count) + "; lower one of them");
    }
    const std::int64_t replica = static_cast<std::int64_t>(plan.tp) * plan.pp * plan.cp;
    if (gpu_count % replica != 0) {
        throw InputError(std::string("--design: tp*pp") + (plan.cp > 1 ? "*cp" : "") + " = " + std::to_string(replica) +
                         " does not divide gpus=" + std::to_string(gpu_count) + "; change one of them");
    }
    plan.dp = static_cast<int>(gpu_count / replica);
    if (plan.schedule != Schedule::interleaved && !named.contains("group")) {
        plan.group = 0;
    }
    if (!can_validate_later(plan) && !named.contains("post_validation")) {
        plan.post_validation = PostValidation::off;
    }
    return plan;
}

std::string seconds_text(Seconds time)
{
    std::ostringstream text;
    text.precision(15);
    text << time.si << 's';
    return text.str();
}

std::string design_text(const ParallelPlan& plan)
{
    std::ostringstream text;
    text << "gpus=" << plan.gpus() << " tp=" << plan.tp << " pp=" << plan.pp << " v=" << plan.chunks
         << " microbatch=" << plan.microbatch << " schedule=" << name(plan.schedule) << " recompute=" << name(plan.recompute)
         << " sharding=" << name(plan.sharding) << " split=" << name(plan.split) << " dp_overlap=" << name(plan.dp_overlap)
         << " order=" << name(plan.order);
    const auto number = [&text](const char* key, int value, int usual) {
        if (value != usual) {
            text << ' ' << key << '=' << value;
        }
    };
    number("group", plan.group, 0);
    if (plan.post_validation != PostValidation::off) {
        text << " post_validation=" << name(plan.post_validation);
    }
    number("cp", plan.cp, 1);
    number("ep", plan.ep, 1);
    number("etp", plan.etp, 1);
    number("shard_gpus", plan.shard_gpus, 0);
    number("recomputed_layers", plan.recomputed_layers, 0);
    if (plan.checkpoint_interval.si > 0.0) {
        text << " checkpoint_interval=" << seconds_text(plan.checkpoint_interval);
    }
    number("spares", plan.spares, as_configured);
    if (plan.tp_overlap != TensorParallelOverlap::off) {
        text << " tp_overlap=" << name(plan.tp_overlap);
    }
    if (plan.crossing != Crossing::by_order) {
        text << " crossing=" << name(plan.crossing);
    }
    if (plan.node_order != NodeOrder::as_listed) {
        text << " node_order=" << name(plan.node_order);
    }
    if (plan.offload != Offload::none) {
        text << " offload=" << name(plan.offload);
    }
    if (plan.cp > 1) {
        text << " context_exchange=" << name(plan.context_exchange);
    }
    return text.str();
}

}  // namespace prismopt
