#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

constexpr Range group_range{"GPUs per group of the tier", 1, 10'000'000, "72"};
constexpr Range oversubscription_range{"oversubscription ratio: downlink over uplink bandwidth of the tier below", 1, 10'000,
                                       "2"};
constexpr Range levels_range{"number of values in the range that the discrete search tries", 2, 1000, "3"};
constexpr std::size_t most_variants = 10'000;

/// A value of this knob in its unit, to SI.
double si_of(KnobTarget target, const Value& value)
{
    switch (target) {
        case KnobTarget::bandwidth:
        case KnobTarget::memory_bandwidth: return value.quantity<BytesPerSecond>("900 GB/s").si;
        case KnobTarget::latency: return value.quantity<Seconds>("10 us").si;
        case KnobTarget::oversubscription: return value.number(oversubscription_range);
        case KnobTarget::aggregate: return value.quantity<BytesPerSecond>("25.6 Tb/s").si;
        case KnobTarget::group: return value.count(group_range);
        case KnobTarget::memory: return value.quantity<Bytes>("192 GB").si;
        case KnobTarget::compute: return value.quantity<FlopsPerSecond>("989 TFLOP/s").si;
        case KnobTarget::power: return value.quantity<Watts>("700 W").si;
        case KnobTarget::workload: break;  // is no [[knob]]
    }
    return 0.0;
}

void read_tier(Table& table, const Cluster& cluster, Knob& knob)
{
    constexpr std::array of_a_tier{KnobTarget::bandwidth, KnobTarget::latency, KnobTarget::oversubscription,
                                   KnobTarget::aggregate, KnobTarget::group};
    if (std::find(of_a_tier.begin(), of_a_tier.end(), knob.target) == of_a_tier.end()) {
        return;
    }
    std::vector<std::string> tiers;
    for (const NetworkTier& tier : cluster.tiers) {
        tiers.push_back(tier.name);
    }
    const Value value = table.at("tier", fmt::format("tier = \"{}\"", tiers.front()));
    const std::string chosen = value.choice(tiers, "tiers in [cluster]");
    knob.tier = static_cast<std::size_t>(std::find(tiers.begin(), tiers.end(), chosen) - tiers.begin());
    if (knob.target == KnobTarget::group && knob.tier + 1 == tiers.size()) {
        value.fail({"always spans the whole cluster", "the last tier has no group size to vary", "name an inner tier"});
    }
    if (knob.target == KnobTarget::group && cluster.tiers[knob.tier].topology == Topology::torus) {
        value.fail({"is a torus", "its group is the product of its shape", "vary another parameter, or compare two scenarios"});
    }
    if (knob.target == KnobTarget::aggregate && !cluster.tiers[knob.tier].circuit()) {
        value.fail(
            {"has no shared circuit", "this tier has no `aggregate`", "give the tier an aggregate, or vary its bandwidth"});
    }
    knob.name = chosen + "." + knob.name;
}

void read_levels(Table& table, Knob& knob)
{
    constexpr std::string_view example = R"(values = ["450 GB/s", "900 GB/s"], or range = ["450 GB/s", "1800 GB/s"])";
    if (const auto range = table.find("range")) {
        const std::vector<Value> ends = range->list(R"(["450 GB/s", "1800 GB/s"])");
        if (knob.target == KnobTarget::group) {
            range->fail({"cannot be a range", "group sizes are integers and must nest", "list the values: values = [8, 72]"});
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
            value.fail({"is listed twice", "each value is one hardware variant", "remove one of the two"});
        }
    }
    std::sort(knob.levels.begin(), knob.levels.end());
}

/// Where less is better, less is what costs.
double dearer_direction(KnobTarget target)
{
    return target == KnobTarget::latency || target == KnobTarget::oversubscription ? -1.0 : 1.0;
}

/// The shape of a value depends on what the knob turns.
std::vector<ValueShape> value_shapes(bool list)
{
    return {{.kind = ValueShape::Kind::quantity, .dimension = Dimension::bandwidth, .list = list},
            {.kind = ValueShape::Kind::number, .range = {"GPUs, or a factor", 0, 1e7, "72"}, .list = list}};
}

struct KnobPrice {
    KnobTarget target = KnobTarget::bandwidth;
    double per = 0.0;  // SI
    DollarsPerSecond cost{};
};

const Fields<KnobPrice>& price_fields()
{
    static const auto fields =
        Fields<KnobPrice>("price", "what an improvement costs")
            .custom({"per", "size of the improvement over [cluster], in the unit of the parameter", in_quotes("100 GB/s"),
                     value_shapes(false)},
                    [](const Value& value, KnobPrice& price, Keys) { price.per = si_of(price.target, value); })
            .required()
            .quantity("cost", &KnobPrice::cost, "0.10 USD/h", "increase of gpu_price for that improvement", Sign::zero_or_more)
            .required();
    return fields;
}

const Fields<Knob>& knob_fields()
{
    const auto later = [](const Value&, Knob&, Keys) {};  // read together: read_levels(), read_tier()
    static const auto fields =
        Fields<Knob>("[[knob]]", "a hardware parameter that the search chooses, with its price")
            .choice("of", &Knob::target, "bandwidth", "hardware parameter that the search chooses")
            .required()
            .custom({"tier", "network tier, for parameters of a tier", in_quotes("node"), {{}}}, later)
            .custom({"values", "values to choose from", R"(["450 GB/s", "900 GB/s"])", value_shapes(true)}, later)
            .custom({"range", "lowest and highest value, instead of values; the strategy nlopt tunes in between",
                     R"(["450 GB/s", "1800 GB/s"])", value_shapes(true)},
                    later)
            .custom({"levels",
                     std::string(levels_range.meaning),
                     "3",
                     {{.kind = ValueShape::Kind::integer, .range = levels_range}},
                     Need::optional,
                     "3"},
                    later)
            .custom({"price",
                     price_fields().help(),
                     R"({ per = "100 GB/s", cost = "0.10 USD/h" })",
                     {{.kind = ValueShape::Kind::section, .section = []() -> const SectionTable& { return price_fields(); }}}},
                    [](const Value& value, Knob& knob, Keys) {
                        Table table = value.table(R"({ per = "100 GB/s", cost = "0.10 USD/h" })");
                        KnobPrice price{knob.target};
                        price_fields().read_whole(table, Keys::all, price);
                        knob.price_per_unit = DollarsPerSecond{dearer_direction(knob.target) * price.cost.si / price.per};
                    })
            .check([](Table& table, const Knob&) {
                if (!table.find("range")) {
                    table.at("values", R"(values = ["450 GB/s", "900 GB/s"], or range = ["450 GB/s", "1800 GB/s"])");
                }
            });
    return fields;
}

}  // namespace

const SectionTable& knob_table() { return knob_fields(); }

std::vector<Knob> read_knobs(const Value& list, const Cluster& cluster)
{
    std::vector<Knob> knobs;
    std::size_t variants = 1;
    for (const Value& element : list.list("[[knob]] with of and values")) {
        Table table = element.table("[[knob]] with of and values");
        Knob knob;
        knob_fields().read_whole(table, Keys::all, knob);
        knob.name = name(knob.target);
        read_tier(table, cluster, knob);
        read_levels(table, knob);
        const auto same = [&](const Knob& other) { return other.name == knob.name; };
        if (std::any_of(knobs.begin(), knobs.end(), same)) {
            table.find("of")->fail(
                {"is listed twice", fmt::format("there is already a [[knob]] for {}", knob.name), "remove one of the two"});
        }
        variants *= knob.levels.size();
        if (variants > most_variants) {
            table.fail({fmt::format("gives more than {} hardware variants", most_variants), "each is evaluated with every plan",
                        "give fewer values or levels"});
        }
        knobs.push_back(std::move(knob));
    }
    return knobs;
}

}  // namespace prismopt
