#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

constexpr Range tier_group_range{"GPUs per group of the tier", 1, 10'000'000, "72"};
constexpr Range tier_oversubscription_range{
    "oversubscription ratio: downlink over uplink bandwidth of the tier below", 1, 10'000, "2"};
constexpr Range levels_range{"number of values in the range that the discrete search tries", 2, 1000, "3"};
constexpr std::size_t most_variants = 10'000;
constexpr std::string_view option_example = "[[bundle.option]] with name and set";
constexpr std::string_view setting_example = R"({ of = "bandwidth", tier = "cluster", value = "100 GB/s" })";

/// A value of this hardware parameter in its unit, to SI.
double si_of(HardwareTarget target, const Value& value)
{
    const std::string_view example = row_of(target).example;
    switch (target) {
        case HardwareTarget::bandwidth:
        case HardwareTarget::aggregate:
        case HardwareTarget::memory_bandwidth: return value.quantity<BytesPerSecond>(example).si;
        case HardwareTarget::latency: return value.quantity<Seconds>(example).si;
        case HardwareTarget::oversubscription: return value.number(tier_oversubscription_range);
        case HardwareTarget::group: return value.count(tier_group_range);
        case HardwareTarget::memory: return value.quantity<Bytes>(example).si;
        case HardwareTarget::compute: return value.quantity<FlopsPerSecond>(example).si;
        case HardwareTarget::power: return value.quantity<Watts>(example).si;
        case HardwareTarget::link_energy:
        case HardwareTarget::memory_energy: return value.quantity<JoulesPerByte>(example).si;
        case HardwareTarget::compute_energy: return value.quantity<JoulesPerFlop>(example).si;
        case HardwareTarget::failure_rate: return value.quantity<PerSecond>(example).si;
    }
    return 0.0;
}

void read_tier(Table& table, const Cluster& cluster, HardwareParameter& parameter)
{
    if (!row_of(parameter.target).of_tier) {
        if (const auto unused = table.find("tier")) {
            unused->fail({"has no effect", fmt::format("{} is not that of a tier", name(parameter.target)),
                          "remove it, or write of = \"bandwidth\""});
        }
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
        value.fail({"always spans the whole cluster", "the last tier has no group size to vary",
                    "name an inner tier"});
    }
    const bool torus = cluster.tiers[parameter.tier].topology == Topology::torus;
    if (torus && parameter.target == HardwareTarget::group) {
        value.fail({"is a torus", "its group is the product of its shape",
                    "vary another parameter, or compare two scenarios"});
    }
    if (torus && parameter.target == HardwareTarget::oversubscription) {
        value.fail({"is a torus", "its links have no switches that could be oversubscribed",
                    "vary its bandwidth, which is that of one link"});
    }
    if (parameter.target == HardwareTarget::aggregate && !cluster.tiers[parameter.tier].circuit()) {
        value.fail({"has no shared circuit", "this tier has no `aggregate`",
                    "give the tier an aggregate, or vary its bandwidth"});
    }
    parameter.name = chosen + "." + parameter.name;
}

/// Precisions with peaks of their own; kinds of 8 bits share one.
std::vector<std::string> precisions_with_peaks()
{
    std::vector<std::string> names;
    for (const Precision precision :
         {Precision::bf16, Precision::fp8, Precision::nvfp4, Precision::tf32, Precision::fp32}) {
        names.emplace_back(name(precision));
    }
    return names;
}

void read_precision(Table& table, const Cluster& cluster, HardwareParameter& parameter)
{
    const auto value = table.find("precision");
    if (!value) {
        return;
    }
    if (!row_of(parameter.target).of_precision) {
        value->fail({"has no effect", fmt::format("{} is that of all precisions", name(parameter.target)),
                     "remove it, or write of = \"compute\""});
    }
    const std::string chosen =
        value->choice(precisions_with_peaks(), "precisions with peak rates of their own");
    parameter.precision = parse<Precision>(chosen);
    if (cluster.accelerator.peak(*parameter.precision).si <= 0.0) {
        value->fail({"has no peak rate to change",
                     fmt::format("{} does not support it", cluster.accelerator.name),
                     "give the peak rate in accelerator_override in [cluster]"});
    }
    parameter.name += "." + chosen;
}

/// The energy that the values bring along, of their links or their work.
void read_energy(Table& table, HardwareParameter& parameter)
{
    const auto value = table.find("energy");
    if (!value) {
        return;
    }
    const std::string_view unit = row_of(parameter.target).energy;
    if (unit.empty()) {
        value->fail({"has no effect",
                     fmt::format("{} takes no energy for each bit or operation", name(parameter.target)),
                     "remove it, or give power"});
    }
    const bool of_work = parameter.target == HardwareTarget::compute;
    parameter.energy = of_work ? value->quantity<JoulesPerFlop>("0.5 pJ/FLOP").si
                               : value->quantity<JoulesPerByte>("5 pJ/bit").si;
}

/// What else the keys of a parameter name.
void read_place(Table& table, const Hardware& hardware, HardwareParameter& parameter)
{
    parameter.name = name(parameter.target);
    read_tier(table, hardware.cluster, parameter);
    read_precision(table, hardware.cluster, parameter);
    read_energy(table, parameter);
    if (parameter.target == HardwareTarget::failure_rate && value_of(parameter, hardware) <= 0.0) {
        table.find("of")->fail({"has nothing to change", "[reliability] has no failures of nodes",
                                "give node_failure_rate, or a [[reliability.cause]] of nodes"});
    }
}

void read_levels(Table& table, StudyChoice& choice)
{
    const HardwareTarget target = choice.hardware->target;
    constexpr std::string_view example =
        R"(values = ["450 GB/s", "900 GB/s"], or range = ["450 GB/s", "1800 GB/s"])";
    if (const auto range = table.find("range")) {
        const std::vector<Value> ends = range->list(R"(["450 GB/s", "1800 GB/s"])");
        if (table.find("values")) {
            range->fail({"is given together with values", "a knob has either a list of values or a range",
                         "remove one of the two"});
        }
        if (target == HardwareTarget::group) {
            range->fail({"cannot be a range", "group sizes are integers and must nest",
                         "list the values: values = [8, 72]"});
        }
        if (ends.size() != 2 || !(si_of(target, ends[0]) < si_of(target, ends[1]))) {
            range->fail({"is not a range", "needs the lowest and the highest value",
                         R"(write ["450 GB/s", "1800 GB/s"])"});
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
double dearer_direction(HardwareTarget target) { return row_of(target).less_costs ? -1.0 : 1.0; }

/// The unit of a value depends on the target of its hardware parameter.
std::vector<ValueShape> value_shapes(bool list)
{
    std::vector<ValueShape> shapes;
    for (const Dimension dimension :
         {Dimension::bandwidth, Dimension::time, Dimension::data, Dimension::work_rate, Dimension::power,
          Dimension::work_energy, Dimension::data_energy, Dimension::rate}) {
        shapes.push_back({.kind = ValueShape::Kind::quantity, .dimension = dimension, .list = list});
    }
    shapes.push_back(
        {.kind = ValueShape::Kind::number, .range = {"GPUs, or a factor", 0, 1e7, "72"}, .list = list});
    return shapes;
}

/// What an improvement costs, or draws.
struct ImprovementCost {
    HardwareTarget target = HardwareTarget::bandwidth;
    double per = 0.0;  // SI
    DollarsPerSecond cost{};
    Watts draw{};
};

Fields<ImprovementCost>& with_amount(Fields<ImprovementCost>& fields)
{
    return fields
        .custom({"per", "amount of improvement over [cluster] that it is for, in the unit of the parameter",
                 in_quotes("100 GB/s"), value_shapes(false)},
                [](const Value& value, ImprovementCost& cost, Keys) { cost.per = si_of(cost.target, value); })
        .required();
}

const Fields<ImprovementCost>& price_fields()
{
    static auto fields = Fields<ImprovementCost>("price", "price of an improvement");
    static const auto& all =
        with_amount(fields)
            .quantity("cost", &ImprovementCost::cost, "0.10 USD/h",
                      "increase of gpu_price for this amount of improvement", Sign::zero_or_more)
            .required();
    return all;
}

const Fields<ImprovementCost>& draw_fields()
{
    static auto fields = Fields<ImprovementCost>("draw", "power of an improvement, drawn at all times");
    static const auto& all = with_amount(fields)
                                 .quantity("draw", &ImprovementCost::draw, "6 W",
                                           "power per GPU for this amount of improvement", Sign::zero_or_more)
                                 .required();
    return all;
}

constexpr std::string_view price_example = R"({ per = "100 GB/s", cost = "0.10 USD/h" })";
constexpr std::string_view draw_example = R"({ per = "24 GB", draw = "6 W" })";

ImprovementCost read_cost(const Value& value, HardwareTarget target, std::string_view example,
                          const Fields<ImprovementCost>& fields)
{
    Table table = value.table(example);
    ImprovementCost cost{.target = target};
    fields.read_whole(table, Keys::all, cost);
    return cost;
}

/// Keys that say which figure a [[knob]] or a bundle's option sets; all but the first
/// are read together: read_place().
template <class T, class Of>
Fields<T> figure_fields(std::string title, std::string help, Of target)
{
    const auto later = [](const Value&, T&, Keys) {};
    Fields<T> fields(std::move(title), std::move(help));
    fields.choice("of", target, "bandwidth", "hardware parameter that it sets")
        .required()
        .custom({"tier", "network tier, for parameters of a tier", in_quotes("node"), {{}}}, later)
        .custom({"precision",
                 "precision whose peak rate or energy it is, for compute and compute_energy; default: all, "
                 "given by that of bf16",
                 in_quotes("fp8"),
                 {choice_shape(precisions_with_peaks)}},
                later)
        .custom({"energy",
                 "energy that comes with its values: of compute per operation, of memory_bandwidth per bit "
                 "moved, of the "
                 "bandwidth of "
                 "a "
                 "tier per bit that could be sent; default: that of [cluster]",
                 in_quotes("0.5 pJ/FLOP"),
                 {{.kind = ValueShape::Kind::quantity, .dimension = Dimension::work_energy},
                  {.kind = ValueShape::Kind::quantity, .dimension = Dimension::data_energy}}},
                later);
    return fields;
}

const Fields<HardwareParameter>& hardware_parameter_fields()
{
    const auto later = [](const Value&, HardwareParameter&, Keys) {};  // read together: read_levels()
    static const auto fields =
        figure_fields<HardwareParameter>("[[knob]]",
                                         "a hardware parameter that the search chooses, with its price",
                                         &HardwareParameter::target)
            .custom({"values",
                     "values to choose from, in the unit of the parameter: bandwidth \"450 GB/s\", latency "
                     "\"5 us\", "
                     "memory \"192 GB\", compute \"989 TFLOP/s\", power \"700 W\", compute_energy \"0.5 "
                     "pJ/FLOP\", memory_energy and "
                     "link_energy \"4 pJ/bit\", failure_rate \"2e-3 /day\" per node; numbers for group and "
                     "oversubscription",
                     R"(["450 GB/s", "900 GB/s"])", value_shapes(true)},
                    later)
            .custom({"range",
                     "lowest and highest value, instead of values, in the same units; the strategy nlopt "
                     "tunes in between",
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
                     std::string(price_example),
                     {{.kind = ValueShape::Kind::section,
                       .section = []() -> const SectionTable& { return price_fields(); }}}},
                    [](const Value& value, HardwareParameter& parameter, Keys) {
                        const ImprovementCost price =
                            read_cost(value, parameter.target, price_example, price_fields());
                        parameter.price_per_unit =
                            DollarsPerSecond{dearer_direction(parameter.target) * price.cost.si / price.per};
                    })
            .custom({"power",
                     draw_fields().help(),
                     std::string(draw_example),
                     {{.kind = ValueShape::Kind::section,
                       .section = []() -> const SectionTable& { return draw_fields(); }}}},
                    [](const Value& value, HardwareParameter& parameter, Keys) {
                        const ImprovementCost power =
                            read_cost(value, parameter.target, draw_example, draw_fields());
                        parameter.power_per_unit =
                            dearer_direction(parameter.target) * power.draw.si / power.per;
                    })
            .check([](Table& table, const HardwareParameter&) {
                if (!table.find("range")) {
                    table.at("values",
                             R"(values = ["450 GB/s", "900 GB/s"], or range = ["450 GB/s", "1800 GB/s"])");
                }
            });
    return fields;
}

/// A figure of a bundle's option.
struct FigureSetting {
    HardwareParameter parameter{};
    double value = 0.0;
};

const Fields<FigureSetting>& setting_fields()
{
    static const auto fields =
        figure_fields<FigureSetting>(
            "set", "a figure of an option", [](auto& setting) -> auto& { return setting.parameter.target; })
            .custom({"value", "its value, in the unit of the parameter, as in [[knob]]",
                     in_quotes("100 GB/s"), value_shapes(false)},
                    [](const Value& value, FigureSetting& setting, Keys) {
                        setting.value = si_of(setting.parameter.target, value);
                    })
            .required();
    return fields;
}

/// An option as it is read.
struct OptionReading {
    std::string name;
    HardwareOption option;
};

const Fields<OptionReading>& option_fields()
{
    const ValueShape settings{.kind = ValueShape::Kind::section,
                              .section = []() -> const SectionTable& { return setting_fields(); },
                              .list = true};
    static const auto fields =
        Fields<OptionReading>("[[bundle.option]]", "hardware that sets several figures at once")
            .text("name", &OptionReading::name, "cpo",
                  "name of the option, one word, for reports and --design")
            .required()
            .custom({"set",
                     "figures that it sets; without any it is as [cluster]",
                     fmt::format("[{}]", setting_example),
                     {settings}},
                    [](const Value&, OptionReading&, Keys) {})  // depends on [cluster]: read_option()
            .quantity(
                "price", [](auto& reading) -> auto& { return reading.option.added.price; }, "0.10 USD/h",
                "increase of gpu_price; may be negative", Sign::any)
            .quantity(
                "power", [](auto& reading) -> auto& { return reading.option.added.power; }, "10 W",
                "power per GPU drawn at all times, beyond what follows from its figures; may be negative",
                Sign::any);
    return fields;
}

const Fields<StudyChoice>& bundle_fields()
{
    const ValueShape options{.kind = ValueShape::Kind::section,
                             .section = []() -> const SectionTable& { return option_fields(); },
                             .list = true};
    static const auto fields =
        Fields<StudyChoice>(
            "[[bundle]]",
            "alternatives of hardware that each set several figures at once; the search chooses one")
            .text("name", &StudyChoice::name, "optics",
                  "name of the choice, one word, for reports and --design")
            .required()
            .custom(
                {"option", option_fields().help(), std::string(option_example), {options}, Need::required},
                [](const Value&, StudyChoice&, Keys) {});  // read together: read_bundles()
    return fields;
}

/// Names of the figures that a parameter sets, of which the energy of its values is another.
std::vector<std::string> figures_of(const HardwareParameter& parameter, const Cluster& cluster)
{
    std::vector<std::string> figures{parameter.name};
    if (parameter.energy && row_of(parameter.target).of_tier) {
        figures.push_back(cluster.tiers[parameter.tier].name + ".link_energy");
    } else if (parameter.energy) {
        figures.emplace_back(parameter.target == HardwareTarget::compute ? "compute_energy"
                                                                         : "memory_energy");
    }
    return figures;
}

std::vector<std::string> figures_of(const StudyChoice& choice, const Cluster& cluster)
{
    std::vector<std::string> all =
        choice.hardware ? figures_of(*choice.hardware, cluster) : std::vector<std::string>{};
    for (const HardwareOption& option : choice.options) {
        for (const HardwareParameter& parameter : option.parameters) {
            const std::vector<std::string> own = figures_of(parameter, cluster);
            all.insert(all.end(), own.begin(), own.end());
        }
    }
    return all;
}

std::string text_of(const StudyChoice& choice)
{
    return fmt::format("{} {}", choice.hardware ? "the [[knob]]" : "the [[bundle]]", choice.name);
}

/// Two choices that set one figure would depend on their order.
void refuse_figures_set_twice(Table& table, const StudyChoice& added, const std::vector<StudyChoice>& others,
                              const Cluster& cluster)
{
    for (const std::string& figure : figures_of(added, cluster)) {
        for (const StudyChoice& other : others) {
            const std::vector<std::string> set = figures_of(other, cluster);
            if (std::find(set.begin(), set.end(), figure) != set.end()) {
                table.fail({fmt::format("sets {}, as {} does", figure, text_of(other)),
                            "each figure has one choice that sets it", "leave it out of one of the two"});
            }
        }
    }
}

void check_number_of_variants(Table& table, const std::vector<StudyChoice>& choices)
{
    std::size_t variants = 1;
    for (const StudyChoice& choice : choices) {
        variants *= choice.hardware || !choice.options.empty() ? choice.values.size() : 1;
        if (variants > most_variants) {
            table.fail({fmt::format("gives more than {} hardware variants", most_variants),
                        "each is evaluated with every plan", "give fewer values or levels"});
        }
    }
}

void check_word(const Value& value, const std::string& word)
{
    if (!is_word(word)) {
        value.fail({"is more than a word", "reports and --design need names of one word",
                    "choose a name without spaces or ="});
    }
}

HardwareOption read_option(Table& table, OptionReading reading, const Hardware& hardware)
{
    HardwareOption option = std::move(reading.option);
    const auto settings = table.find("set");
    std::vector<std::string> set;
    for (const Value& element : settings ? settings->list(setting_example) : std::vector<Value>{}) {
        Table own = element.table(setting_example);
        FigureSetting setting;
        setting_fields().read_whole(own, Keys::all, setting);
        read_place(own, hardware, setting.parameter);
        for (const std::string& figure : figures_of(setting.parameter, hardware.cluster)) {
            if (std::find(set.begin(), set.end(), figure) != set.end()) {
                own.fail({fmt::format("sets {} twice", figure), "an option gives each figure once",
                          "remove one of the two"});
            }
            set.push_back(figure);
        }
        option.parameters.push_back(setting.parameter);
        option.values.push_back(setting.value);
    }
    return option;
}

}  // namespace

const SectionTable& hardware_parameter_table() { return hardware_parameter_fields(); }

const SectionTable& bundle_table() { return bundle_fields(); }

void read_hardware_parameters(const Value& list, const Hardware& hardware, std::vector<StudyChoice>& choices)
{
    for (const Value& element : list.list("[[knob]] with of and values")) {
        Table table = element.table("[[knob]] with of and values");
        HardwareParameter parameter;
        hardware_parameter_fields().read_whole(table, Keys::all, parameter);
        read_place(table, hardware, parameter);
        StudyChoice choice{.name = parameter.name, .hardware = parameter};
        read_levels(table, choice);
        const auto same = [&](const StudyChoice& other) { return other.name == choice.name; };
        if (std::any_of(choices.begin(), choices.end(), same)) {
            table.find("of")->fail({"is listed twice",
                                    fmt::format("there is already a [[knob]] for {}", choice.name),
                                    "remove one of the two"});
        }
        refuse_figures_set_twice(table, choice, choices, hardware.cluster);
        choices.push_back(std::move(choice));
        check_number_of_variants(table, choices);
    }
}

void read_bundles(const Value& list, const Hardware& hardware, std::vector<StudyChoice>& choices)
{
    constexpr std::string_view example = "[[bundle]] with name and [[bundle.option]]";
    for (const Value& element : list.list(example)) {
        Table table = element.table(example);
        StudyChoice choice;
        bundle_fields().read_whole(table, Keys::all, choice);
        const Value name = *table.find("name");
        check_word(name, choice.name);
        const auto same = [&](const StudyChoice& other) { return other.name == choice.name; };
        if (std::any_of(choices.begin(), choices.end(), same) || parse<HardwareTarget>(choice.name)) {
            name.fail({"is the name of another choice or figure",
                       "--design and reports identify choices by their names",
                       "choose another name, such as optics"});
        }
        for (const Value& one : table.find("option")->list(option_example)) {
            Table own = one.table(option_example);
            OptionReading reading;
            option_fields().read_whole(own, Keys::all, reading);
            check_word(*own.find("name"), reading.name);
            if (std::find(choice.labels.begin(), choice.labels.end(), reading.name) != choice.labels.end()) {
                own.find("name")->fail({"is listed twice", "each option of a bundle has a name of its own",
                                        "choose another name"});
            }
            choice.labels.push_back(reading.name);
            choice.values.emplace_back(ChosenOption{choice.options.size()});
            choice.options.push_back(read_option(own, std::move(reading), hardware));
        }
        refuse_figures_set_twice(table, choice, choices, hardware.cluster);
        choices.push_back(std::move(choice));
        check_number_of_variants(table, choices);
    }
}

}  // namespace prismopt
