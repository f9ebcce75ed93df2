#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

constexpr Range tier_group_range{"GPUs per group of the tier", 1, 10'000'000, "72"};
constexpr Range tier_oversubscription_range{"oversubscription ratio: downlink over uplink bandwidth of the tier below", 1, 10'000,
                                            "2"};
constexpr Range levels_range{"number of values in the range that the discrete search tries", 2, 1000, "3"};
constexpr std::size_t most_variants = 10'000;

/// A value of this hardware parameter in its unit, to SI.
double si_of(HardwareTarget target, const Value& value)
{
    switch (target) {
        case HardwareTarget::bandwidth:
        case HardwareTarget::memory_bandwidth: return value.quantity<BytesPerSecond>("900 GB/s").si;
        case HardwareTarget::latency: return value.quantity<Seconds>("10 us").si;
        case HardwareTarget::oversubscription: return value.number(tier_oversubscription_range);
        case HardwareTarget::aggregate: return value.quantity<BytesPerSecond>("25.6 Tb/s").si;
        case HardwareTarget::group: return value.count(tier_group_range);
        case HardwareTarget::memory: return value.quantity<Bytes>("192 GB").si;
        case HardwareTarget::compute: return value.quantity<FlopsPerSecond>("989 TFLOP/s").si;
        case HardwareTarget::power: return value.quantity<Watts>("700 W").si;
    }
    return 0.0;
}

void read_tier(Table& table, const Cluster& cluster, HardwareParameter& parameter)
{
    constexpr std::array of_a_tier{HardwareTarget::bandwidth, HardwareTarget::latency, HardwareTarget::oversubscription,
                                   HardwareTarget::aggregate, HardwareTarget::group};
    if (std::find(of_a_tier.begin(), of_a_tier.end(), parameter.target) == of_a_tier.end()) {
        return;
    }
    std::vector<std::string> tiers;
    for (const NetworkTier& tier : cluster.tiers) {
        tiers.push_back(tier.name);
    }
    const Value value = table.at("tier", fmt::format("tier = \"{}\"", tiers.front()));
    const std::string chosen = value.choice(tiers, "tiers in [cluster]");
    parameter.tier = static_cast<std::size_t>(std::find(tiers.begin(), tiers.end(), chosen) - tiers.begin());
    if (parameter.target == HardwareTarget::group && parameter.tier + 1 == tiers.size()) {
        value.fail({"always spans the whole cluster", "the last tier has no group size to vary", "name an inner tier"});
    }
    if (parameter.target == HardwareTarget::group && cluster.tiers[parameter.tier].topology == Topology::torus) {
        value.fail({"is a torus", "its group is the product of its shape", "vary another parameter, or compare two scenarios"});
    }
    if (parameter.target == HardwareTarget::aggregate && !cluster.tiers[parameter.tier].circuit()) {
        value.fail(
            {"has no shared circuit", "this tier has no `aggregate`", "give the tier an aggregate, or vary its bandwidth"});
    }
    parameter.name = chosen + "." + parameter.name;
}

void read_levels(Table& table, StudyChoice& choice)
{
    const HardwareTarget target = choice.hardware->target;
    constexpr std::string_view example = R"(values = ["450 GB/s", "900 GB/s"], or range = ["450 GB/s", "1800 GB/s"])";
    if (const auto range = table.find("range")) {
        const std::vector<Value> ends = range->list(R"(["450 GB/s", "1800 GB/s"])");
        if (target == HardwareTarget::group) {
            range->fail({"cannot be a range", "group sizes are integers and must nest", "list the values: values = [8, 72]"});
        }
        if (ends.size() != 2 || !(si_of(target, ends[0]) < si_of(target, ends[1]))) {
            range->fail({"is not a range", "needs the lowest and the highest value", R"(write ["450 GB/s", "1800 GB/s"])"});
        }
        const auto count = table.find("levels");
        const int levels = count ? count->count(levels_range) : 3;
        const double low = si_of(target, ends[0]);
        const double high = si_of(target, ends[1]);
        for (int i = 0; i < levels; ++i) {
            choice.values.emplace_back(HardwareLevel{low + (high - low) * i / (levels - 1)});
        }
        choice.continuous = true;
        return;
    }
    std::vector<double> levels;
    for (const Value& value : table.at("values", example).list(example)) {
        const double level = si_of(target, value);
        if (std::find(levels.begin(), levels.end(), level) != levels.end()) {
            value.fail({"is listed twice", "each value is one hardware variant", "remove one of the two"});
        }
        levels.push_back(level);
    }
    std::sort(levels.begin(), levels.end());
    for (const double level : levels) {
        choice.values.emplace_back(HardwareLevel{level});
    }
}

/// Where less is better, less is what costs.
double dearer_direction(HardwareTarget target)
{
    return target == HardwareTarget::latency || target == HardwareTarget::oversubscription ? -1.0 : 1.0;
}

/// The unit of a value depends on the target of its hardware parameter.
std::vector<ValueShape> value_shapes(bool list)
{
    std::vector<ValueShape> shapes;
    for (const Dimension dimension :
         {Dimension::bandwidth, Dimension::time, Dimension::data, Dimension::work_rate, Dimension::power}) {
        shapes.push_back({.kind = ValueShape::Kind::quantity, .dimension = dimension, .list = list});
    }
    shapes.push_back({.kind = ValueShape::Kind::number, .range = {"GPUs, or a factor", 0, 1e7, "72"}, .list = list});
    return shapes;
}

struct ParameterPrice {
    HardwareTarget target = HardwareTarget::bandwidth;
    double per = 0.0;  // SI
    DollarsPerSecond cost{};
};

const Fields<ParameterPrice>& price_fields()
{
    static const auto fields =
        Fields<ParameterPrice>("price", "price of an improvement")
            .custom({"per", "amount of improvement over [cluster] that cost pays for, in the unit of the parameter",
                     in_quotes("100 GB/s"), value_shapes(false)},
                    [](const Value& value, ParameterPrice& price, Keys) { price.per = si_of(price.target, value); })
            .required()
            .quantity("cost", &ParameterPrice::cost, "0.10 USD/h", "increase of gpu_price for this amount of improvement",
                      Sign::zero_or_more)
            .required();
    return fields;
}

const Fields<HardwareParameter>& hardware_parameter_fields()
{
    const auto later = [](const Value&, HardwareParameter&, Keys) {};  // read together: read_levels(), read_tier()
    static const auto fields =
        Fields<HardwareParameter>("[[knob]]", "a hardware parameter that the search chooses, with its price")
            .choice("of", &HardwareParameter::target, "bandwidth", "hardware parameter that the search chooses")
            .required()
            .custom({"tier", "network tier, for parameters of a tier", in_quotes("node"), {{}}}, later)
            .custom({"values",
                     "values to choose from, in the unit of the parameter: bandwidth \"450 GB/s\", latency \"5 us\", "
                     "memory \"192 GB\", compute \"989 TFLOP/s\", power \"700 W\"; numbers for group and oversubscription",
                     R"(["450 GB/s", "900 GB/s"])", value_shapes(true)},
                    later)
            .custom({"range",
                     "lowest and highest value, instead of values, in the same units; the strategy nlopt tunes in between",
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
                    [](const Value& value, HardwareParameter& parameter, Keys) {
                        Table table = value.table(R"({ per = "100 GB/s", cost = "0.10 USD/h" })");
                        ParameterPrice price{parameter.target};
                        price_fields().read_whole(table, Keys::all, price);
                        parameter.price_per_unit =
                            DollarsPerSecond{dearer_direction(parameter.target) * price.cost.si / price.per};
                    })
            .check([](Table& table, const HardwareParameter&) {
                if (!table.find("range")) {
                    table.at("values", R"(values = ["450 GB/s", "900 GB/s"], or range = ["450 GB/s", "1800 GB/s"])");
                }
            });
    return fields;
}

}  // namespace

const SectionTable& hardware_parameter_table() { return hardware_parameter_fields(); }

std::vector<StudyChoice> read_hardware_parameters(const Value& list, const Cluster& cluster)
{
    std::vector<StudyChoice> choices;
    std::size_t variants = 1;
    for (const Value& element : list.list("[[knob]] with of and values")) {
        Table table = element.table("[[knob]] with of and values");
        HardwareParameter parameter;
        hardware_parameter_fields().read_whole(table, Keys::all, parameter);
        parameter.name = name(parameter.target);
        read_tier(table, cluster, parameter);
        StudyChoice choice{.name = parameter.name, .hardware = parameter};
        read_levels(table, choice);
        const auto same = [&](const StudyChoice& other) { return other.name == choice.name; };
        if (std::any_of(choices.begin(), choices.end(), same)) {
            table.find("of")->fail(
                {"is listed twice", fmt::format("there is already a [[knob]] for {}", choice.name), "remove one of the two"});
        }
        variants *= choice.values.size();
        if (variants > most_variants) {
            table.fail({fmt::format("gives more than {} hardware variants", most_variants), "each is evaluated with every plan",
                        "give fewer values or levels"});
        }
        choices.push_back(std::move(choice));
    }
    return choices;
}

}  // namespace prismopt
