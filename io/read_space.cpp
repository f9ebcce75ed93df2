#include "io/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr Range gpus_range{"GPUs to use", 1, 10'000'000, "2048"};
constexpr Range pp_range{"pipeline stages", 1, 10'000, "8"};
constexpr Range v_range{"model chunks per pipeline rank", 1, 10'000, "2"};
constexpr Range group_range{"microbatches of a chunk in a row", 1, 65'535, "8"};
constexpr Range microbatch_range{"sequences in a microbatch", 1, 1'000'000, "1"};
constexpr Range cp_range{"GPUs that share a sequence", 1, 10'000, "2"};
constexpr Range ep_range{"GPUs that share the experts of a layer", 1, 100'000, "8"};
constexpr Range etp_range{"GPUs that share an expert", 1, 10'000, "1"};
constexpr Range recomputed_range{"layers that recompute (0: all)", 0, 1'000'000, "8"};
constexpr int most_steps = 100'000;  // of a from-to-step axis

/// One value of an axis, and the place it was read from.
template <class T>
struct Choice {
    T value;
    Value place;
};

template <class T>
std::vector<T> without_repeats(const std::vector<Choice<T>>& choices)
{
    std::vector<T> values;
    for (const Choice<T>& choice : choices) {
        if (std::find(values.begin(), values.end(), choice.value) != values.end()) {
            choice.place.fail({"is listed twice", "each choice is one design", "remove one of the two"});
        }
        values.push_back(choice.value);
    }
    return values;
}

std::vector<Choice<int>> integers(const Value& axis, const Range& range, std::string_view example)
{
    std::vector<Choice<int>> choices;
    for (const Value& element : axis.list(example)) {
        choices.push_back({element.count(range), element});
    }
    return choices;
}

/// Ascending, so that neighbours in the list are neighbours in meaning.
std::vector<int> ordered_axis(const std::vector<Choice<int>>& choices)
{
    std::vector<int> values = without_repeats(choices);
    std::sort(values.begin(), values.end());
    return values;
}

template <class Enum>
std::vector<Enum> named_axis(const Value& axis)
{
    const std::string names = choices<Enum>();
    const std::string first = names.substr(0, names.find(','));
    std::vector<Choice<Enum>> list;
    for (const Value& element : axis.list(fmt::format("[\"{}\"]", first))) {
        const auto parsed = parse<Enum>(element.text(first));
        if (!parsed) {
            element.fail({fmt::format("is not one of {}", names), "choices of this axis", "write one or more of these"});
        }
        list.push_back({*parsed, element});
    }
    return without_repeats(list);
}

/// { from = , to = , step = }, both ends included.
std::vector<int> stepped_gpus(Table table)
{
    const int from = table.at("from", "from = 2048").count(gpus_range);
    const Value to_value = table.at("to", "to = 16384");
    const int to = to_value.count(gpus_range);
    const Value step_value = table.at("step", "step = 2048");
    const int step = step_value.count(gpus_range);
    table.refuse_unknown_keys();
    if (to < from || (to - from) % step != 0) {
        const int below = to < from ? from : from + (to - from) / step * step;
        to_value.fail({"is not reached", fmt::format("steps of {} from {} must end at it", step, from),
                       fmt::format("write {} or {}", below, below + step)});
    }
    if ((to - from) / step >= most_steps) {
        step_value.fail({"is too small", fmt::format("it makes {} choices", (to - from) / step + 1),
                         fmt::format("write {} or more", (to - from) / most_steps + 1)});
    }
    std::vector<int> values;
    for (int gpus = from; gpus <= to; gpus += step) {
        values.push_back(gpus);
    }
    return values;
}

std::vector<int> read_gpus(const Value& axis, const Cluster& cluster)
{
    const auto refuse_beyond = [&](int gpus, const Value& place) {
        if (gpus > cluster.gpus) {
            place.fail({"is more than there are", fmt::format("[cluster] has {} GPUs", cluster.gpus),
                        fmt::format("write {} or less", cluster.gpus)});
        }
    };
    if (axis.is_table()) {
        std::vector<int> values = stepped_gpus(axis.table(""));
        refuse_beyond(values.back(), axis.table("").at("to", ""));
        return values;
    }
    const auto choices = integers(axis, gpus_range, "[2048, 4096], or { from = 2048, to = 16384, step = 2048 }");
    for (const Choice<int>& choice : choices) {
        refuse_beyond(choice.value, choice.place);
    }
    return ordered_axis(choices);
}

std::vector<int> read_tp(const Value& axis, const Workload& workload)
{
    const Range range{"GPUs of a tensor parallel group", 1, 10'000, "8"};
    const auto choices = integers(axis, range, "[1, 2, 4, 8]");
    for (const Choice<int>& choice : choices) {
        if (workload.heads_divide(choice.value)) {
            continue;
        }
        int below = std::min(choice.value, workload.heads);
        while (!workload.heads_divide(below)) {
            --below;
        }
        int above = choice.value;
        while (above <= workload.heads && !workload.heads_divide(above)) {
            ++above;
        }
        const std::string also = above <= workload.heads ? fmt::format(" or {}", above) : "";
        if (workload.heads % choice.value != 0) {
            choice.place.fail({fmt::format("does not divide {} attention heads", workload.heads), "each GPU computes whole heads",
                               fmt::format("try {}{}", below, also)});
        }
        choice.place.fail({fmt::format("does not fit {} key and value heads", workload.kv_heads),
                           "one must be a multiple of the other", fmt::format("try {}{}", below, also)});
    }
    return ordered_axis(choices);
}

void read_expert_axes(Table& table, const Workload& workload, SpaceSettings& space)
{
    const auto read = [&](const char* key, const Range& range, int largest, const char* what, std::vector<int>& axis) {
        const auto value = table.find(key);
        if (!value) {
            return;
        }
        const auto choices = integers(*value, range, "[1, 8]");
        for (const Choice<int>& choice : choices) {
            if (choice.value > 1 && !workload.mixture()) {
                choice.place.fail({"needs experts", "the workload is dense", "write 1, or leave the axis out"});
            }
            if (choice.value > 1 && largest % choice.value != 0) {
                choice.place.fail({fmt::format("does not divide the {} {}", largest, what), "each GPU holds whole shares",
                                   fmt::format("write a divisor of {}", largest)});
            }
        }
        axis = ordered_axis(choices);
    };
    read("ep", ep_range, workload.experts.count, "experts", space.ep);
    read("etp", etp_range, workload.experts.feed_forward, "columns of an expert", space.etp);
}

std::vector<Seconds> read_checkpoint_intervals(const Value& axis)
{
    std::vector<Choice<Seconds>> choices;
    for (const Value& element : axis.list(R"(["10 min", "1 h"])")) {
        choices.push_back({element.quantity<Seconds>("10 min"), element});
    }
    std::vector<Seconds> values = without_repeats(choices);
    std::sort(values.begin(), values.end());
    return values;
}

std::vector<int> read_spares(const Value& axis, const Cluster& cluster)
{
    std::vector<Choice<int>> choices;
    for (const Value& element : axis.list("[8, 16]")) {
        choices.push_back({read_spare_nodes(element, cluster), element});
    }
    return ordered_axis(choices);
}

std::vector<int> read_recomputed_layers(const Value& axis, const Workload& workload)
{
    const auto choices = integers(axis, recomputed_range, "[0, 8]");
    for (const Choice<int>& choice : choices) {
        if (choice.value >= workload.layers) {
            choice.place.fail({"is no part of the layers", fmt::format("the workload has {}", workload.layers),
                               "write 0 for all of them, or fewer"});
        }
    }
    return ordered_axis(choices);
}

}  // namespace

SpaceSettings read_space(Table table, const Workload& workload, const Cluster& cluster)
{
    SpaceSettings space;
    space.gpus = read_gpus(table.at("gpus", "gpus = [2048, 4096]"), cluster);
    if (const auto axis = table.find("tp")) {
        space.tp = read_tp(*axis, workload);
    }
    if (const auto axis = table.find("cp")) {
        space.cp = ordered_axis(integers(*axis, cp_range, "[1, 2]"));
    }
    read_expert_axes(table, workload, space);
    if (const auto axis = table.find("pp")) {
        space.pp = ordered_axis(integers(*axis, pp_range, "[1, 2, 4, 8]"));
    }
    if (const auto axis = table.find("v")) {
        space.v = ordered_axis(integers(*axis, v_range, "[1, 2]"));
    }
    if (const auto axis = table.find("group")) {
        space.group = ordered_axis(integers(*axis, group_range, "[8, 16]"));
    }
    if (const auto axis = table.find("microbatch")) {
        space.microbatch = ordered_axis(integers(*axis, microbatch_range, "[1, 2]"));
    }
    if (const auto axis = table.find("schedule")) {
        space.schedule = named_axis<Schedule>(*axis);
    }
    if (const auto axis = table.find("recompute")) {
        space.recompute = named_axis<Recompute>(*axis);
    }
    if (const auto axis = table.find("sharding")) {
        space.sharding = named_axis<Sharding>(*axis);
    }
    if (const auto axis = table.find("split")) {
        space.split = named_axis<LayerSplit>(*axis);
    }
    if (const auto axis = table.find("dp_overlap")) {
        space.dp_overlap = named_axis<DataParallelOverlap>(*axis);
    }
    if (const auto axis = table.find("post_validation")) {
        space.post_validation = named_axis<PostValidation>(*axis);
    }
    if (const auto axis = table.find("recomputed_layers")) {
        space.recomputed_layers = read_recomputed_layers(*axis, workload);
    }
    if (const auto axis = table.find("tp_overlap")) {
        space.tp_overlap = named_axis<TensorParallelOverlap>(*axis);
    }
    if (const auto axis = table.find("context_exchange")) {
        space.context_exchange = named_axis<ContextExchange>(*axis);
    }
    if (const auto axis = table.find("offload")) {
        space.offload = named_axis<Offload>(*axis);
        const bool used = std::any_of(space.offload.begin(), space.offload.end(), [](Offload o) { return o != Offload::none; });
        if (used && (cluster.accelerator.host_link.si <= 0.0 || cluster.accelerator.host_memory_bandwidth.si <= 0.0)) {
            axis->fail({"has nowhere to go",
                        fmt::format("{} names no host_link and host_memory_bandwidth", cluster.accelerator.name),
                        "give both in accelerator_override, or write [\"none\"]"});
        }
    }
    if (const auto axis = table.find("order")) {
        space.order = named_axis<PlacementOrder>(*axis);
    }
    if (const auto axis = table.find("checkpoint_interval")) {
        space.checkpoint_interval = read_checkpoint_intervals(*axis);
    }
    if (const auto axis = table.find("spares")) {
        space.spares = read_spares(*axis, cluster);
    }
    if (const auto axis = table.find("crossing")) {
        space.crossing = named_axis<Crossing>(*axis);
        const bool used =
            std::any_of(space.crossing.begin(), space.crossing.end(), [](Crossing c) { return c != Crossing::by_order; });
        if (used && cluster.building_gpus() == 0) {
            axis->fail({"has nothing to cross", "no tier of the cluster has an `aggregate`, so it is one building",
                        "give the tier that joins buildings an aggregate, or leave the axis out"});
        }
    }
    if (const auto axis = table.find("node_order")) {
        space.node_order = named_axis<NodeOrder>(*axis);
        if (!cluster.nodes_known()) {
            axis->fail({"says nothing", "no node of the cluster is known to be slow",
                        "give slow_nodes = [{ node = 3, factor = 1.2 }] in [cluster], or leave the axis out"});
        }
    }
    table.refuse_unknown_keys();
    return space;
}

}  // namespace prismopt
