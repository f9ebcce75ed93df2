#include "io/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

constexpr Range group_range{"GPUs that the tier joins", 1, 10'000'000, "72"};
constexpr Range levels_range{"values of the range that the discrete search tries", 2, 1000, "3"};
constexpr std::size_t most_variants = 10'000;

/// A value of this knob in its unit, to SI.
double si_of(KnobTarget target, const Value& value)
{
    switch (target) {
        case KnobTarget::bandwidth:
        case KnobTarget::memory_bandwidth: return value.quantity<BytesPerSecond>("900 GB/s").si;
        case KnobTarget::latency: return value.quantity<Seconds>("10 us").si;
        case KnobTarget::aggregate: return value.quantity<BytesPerSecond>("25.6 Tb/s").si;
        case KnobTarget::group: return value.count(group_range);
        case KnobTarget::memory: return value.quantity<Bytes>("192 GB").si;
        case KnobTarget::compute: return value.quantity<FlopsPerSecond>("989 TFLOP/s").si;
        case KnobTarget::power: return value.quantity<Watts>("700 W").si;
    }
    return 0.0;
}

KnobTarget read_target(const Value& value)
{
    std::vector<std::string> names;
    for (const KnobTarget target : {KnobTarget::bandwidth, KnobTarget::latency, KnobTarget::aggregate, KnobTarget::group,
                                    KnobTarget::memory, KnobTarget::memory_bandwidth, KnobTarget::compute, KnobTarget::power}) {
        names.emplace_back(name(target));
    }
    return *parse_knob_target(value.choice(names, "numbers of a cluster that can be turned"));
}

void read_tier(Table& table, const Cluster& cluster, Knob& knob)
{
    constexpr std::array of_a_tier{KnobTarget::bandwidth, KnobTarget::latency, KnobTarget::aggregate, KnobTarget::group};
    if (std::find(of_a_tier.begin(), of_a_tier.end(), knob.target) == of_a_tier.end()) {
        return;
    }
    std::vector<std::string> tiers;
    for (const NetworkTier& tier : cluster.tiers) {
        tiers.push_back(tier.name);
    }
    const Value value = table.at("tier", fmt::format("tier = \"{}\"", tiers.front()));
    const std::string chosen = value.choice(tiers, "tiers of [cluster]");
    knob.tier = static_cast<std::size_t>(std::find(tiers.begin(), tiers.end(), chosen) - tiers.begin());
    if (knob.target == KnobTarget::group && knob.tier + 1 == tiers.size()) {
        value.fail({"always joins the whole cluster", "the last tier has no group to turn", "name an inner tier"});
    }
    if (knob.target == KnobTarget::aggregate && !cluster.tiers[knob.tier].circuit()) {
        value.fail({"has no circuit to turn", "no `aggregate` says that this tier's groups share one",
                    "give the tier an aggregate, or turn its bandwidth"});
    }
    knob.name = chosen + "." + knob.name;
}

void read_levels(Table& table, Knob& knob)
{
    constexpr std::string_view example = R"(values = ["450 GB/s", "900 GB/s"], or range = ["450 GB/s", "1800 GB/s"])";
    if (const auto range = table.find("range")) {
        const std::vector<Value> ends = range->list(R"(["450 GB/s", "1800 GB/s"])");
        if (knob.target == KnobTarget::group) {
            range->fail({"cannot be tuned", "GPUs of a tier are whole and must nest", "list the choices: values = [8, 72]"});
        }
        if (ends.size() != 2 || !(si_of(knob.target, ends[0]) < si_of(knob.target, ends[1]))) {
            range->fail({"is not a range", "needs the lowest and the highest value", R"(write ["450 GB/s", "1800 GB/s"])"});
        }
        const auto count = table.find("levels");
        const int levels = count ? count->count(levels_range) : 3;
        const double low = si_of(knob.target, ends[0]);
        const double high = si_of(knob.target, ends[1]);
        for (int i = 0; i < levels; ++i) {
            knob.levels.push_back(low + (high - low) * i / (levels - 1));
        }
        knob.continuous = true;
        return;
    }
    for (const Value& value : table.at("values", example).list(example)) {
        knob.levels.push_back(si_of(knob.target, value));
        if (std::count(knob.levels.begin(), knob.levels.end(), knob.levels.back()) > 1) {
            value.fail({"is listed twice", "each choice is one hardware", "remove one of the two"});
        }
    }
    std::sort(knob.levels.begin(), knob.levels.end());
}

DollarsPerSecond read_price(Table table, KnobTarget target)
{
    const double per = si_of(target, table.at("per", R"(per = "100 GB/s")"));
    const auto cost = table.at("cost", R"(cost = "0.10 USD/h")").quantity<DollarsPerSecond>("0.10 USD/h", Sign::zero_or_more);
    table.refuse_unknown_keys();
    return DollarsPerSecond{cost.si / per};
}

}  // namespace

std::vector<Knob> read_knobs(const Value& list, const Cluster& cluster)
{
    std::vector<Knob> knobs;
    std::size_t variants = 1;
    for (const Value& element : list.list("[[knob]] with of and values")) {
        Table table = element.table("[[knob]] with of and values");
        const Value target = table.at("of", "of = \"bandwidth\"");
        Knob knob;
        knob.target = read_target(target);
        knob.name = name(knob.target);
        read_tier(table, cluster, knob);
        read_levels(table, knob);
        const auto price = table.find("price");
        knob.price_per_unit =
            price ? read_price(price->table(R"({ per = "100 GB/s", cost = "0.10 USD/h" })"), knob.target) : DollarsPerSecond{0.0};
        table.refuse_unknown_keys();
        const auto same = [&](const Knob& other) { return other.name == knob.name; };
        if (std::any_of(knobs.begin(), knobs.end(), same)) {
            target.fail({"is turned twice", fmt::format("there is a knob for {} already", knob.name), "remove one of the two"});
        }
        variants *= knob.levels.size();
        if (variants > most_variants) {
            element.table("").fail({fmt::format("makes more than {} kinds of hardware", most_variants),
                                    "each is judged with every plan", "give fewer values or levels"});
        }
        knobs.push_back(std::move(knob));
    }
    return knobs;
}

}  // namespace prismopt
