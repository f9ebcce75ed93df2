#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>

#include <optional>

namespace prismopt {

namespace {

enum class LengthFamily { lognormal };

}  // namespace

template <>
inline constexpr auto names_of<LengthFamily> = std::to_array<Named<LengthFamily>>({{LengthFamily::lognormal,
                                                                                    "lognormal"}});

namespace {

constexpr Range set_range{"samples of the data set, by which phases may give epochs", 1, 1e15, "52000"};
constexpr Range median_range{"median length in tokens (lognormal)", 1, 1e8, "300"};
constexpr Range sigma_range{"standard deviation of the logarithm of lengths (lognormal)", 0, 5, "0.9"};
constexpr Range sample_share_range{"share of the samples that are no longer than this", 0, 1, "0.5"};
constexpr Range length_range{"length in tokens", 0, 1e8, "300"};
constexpr Range upto_range{"longest samples of the bin, in tokens; it begins where the bin before ends", 1,
                           1e8, "512"};
constexpr Range count_range{"samples in the bin, in any unit", 0, 1e15, "1000"};
constexpr std::string_view lengths_example = R"({ family = "lognormal", median = 300, sigma = 0.9 })";
constexpr std::string_view quantiles_example =
    "[{ share = 0, tokens = 20 }, { share = 0.5, tokens = 300 }, { share = 1, tokens = 4096 }]";
constexpr std::string_view histogram_example =
    "[{ tokens = 512, samples = 800 }, { tokens = 4096, samples = 200 }]";

const Fields<LengthQuantile>& length_quantile_fields()
{
    static const auto fields =
        Fields<LengthQuantile>("[[data.lengths.quantiles]]", "a point of the quantile function of lengths")
            .number("share", &LengthQuantile::share, sample_share_range)
            .required()
            .number("tokens", &LengthQuantile::tokens, length_range)
            .required();
    return fields;
}

struct LengthBin {
    double tokens = 0.0;
    double samples = 0.0;
};

const Fields<LengthBin>& length_bin_fields()
{
    static const auto fields =
        Fields<LengthBin>("[[data.lengths.histogram]]", "a bin of the histogram of lengths")
            .number("tokens", &LengthBin::tokens, upto_range)
            .required()
            .amount("samples", &LengthBin::samples, count_range)
            .required();
    return fields;
}

/// The distribution as written.
struct LengthKeys {
    std::optional<LengthFamily> family;
    std::optional<double> median;
    std::optional<double> sigma;
    std::vector<LengthQuantile> points;
};

std::vector<LengthQuantile> read_quantiles(const Value& value)
{
    std::vector<LengthQuantile> points;
    for (const Value& element : value.list(quantiles_example)) {
        Table table = element.table("{ share = 0.5, tokens = 300 }");
        LengthQuantile point;
        length_quantile_fields().read_whole(table, Keys::all, point);
        if (!points.empty() && (point.share < points.back().share || point.tokens < points.back().tokens)) {
            table.fail({"is below the point before", "longer samples have larger shares",
                        "sort the points by share"});
        }
        points.push_back(point);
    }
    if (points.front().share != 0.0 || points.back().share != 1.0) {
        value.fail({"does not reach from share = 0 to share = 1",
                    "the shortest and the longest sample are points, too",
                    fmt::format("write for example {}", quantiles_example)});
    }
    return points;
}

std::vector<LengthQuantile> read_histogram(const Value& value)
{
    std::vector<LengthQuantile> points{{0.0, 1.0}};
    for (const Value& element : value.list(histogram_example)) {
        Table table = element.table("{ tokens = 512, samples = 800 }");
        LengthBin bin;
        length_bin_fields().read_whole(table, Keys::all, bin);
        if (bin.tokens < points.back().tokens) {
            table.fail(
                {"ends before the bin before it", "bins are in the order of lengths", "sort them by tokens"});
        }
        points.push_back({points.back().share + bin.samples, bin.tokens});
    }
    const double all = points.back().share;
    if (all <= 0.0) {
        value.fail({"has no samples", "each bin has samples = 0", "give the number of samples in each bin"});
    }
    for (LengthQuantile& point : points) {
        point.share /= all;
    }
    points.back().share = 1.0;
    return points;
}

ValueShape points_shape(const SectionTable& (*section)())
{
    return {.kind = ValueShape::Kind::section, .section = section, .list = true};
}

const Fields<LengthKeys>& length_fields()
{
    static const auto fields =
        Fields<LengthKeys>("[data.lengths]", "lengths of the samples: a family, quantiles, or a histogram")
            .custom({"family",
                     "family of the distribution, with median and sigma",
                     in_quotes("lognormal"),
                     {choice_shape(enum_names<LengthFamily>)}},
                    [](const Value& value, LengthKeys& keys, Keys) {
                        keys.family = parse<LengthFamily>(
                            value.choice(enum_names<LengthFamily>(), "families of lengths"));
                    })
            .number("median", &LengthKeys::median, median_range)
            .number("sigma", &LengthKeys::sigma, sigma_range)
            .custom({"quantiles",
                     "points of the quantile function, linear between them",
                     std::string(quantiles_example),
                     {points_shape([]() -> const SectionTable& { return length_quantile_fields(); })}},
                    [](const Value& value, LengthKeys& keys, Keys) { keys.points = read_quantiles(value); })
            .custom({"histogram",
                     "bins of a histogram, within which all lengths are equally likely",
                     std::string(histogram_example),
                     {points_shape([]() -> const SectionTable& { return length_bin_fields(); })}},
                    [](const Value& value, LengthKeys& keys, Keys) { keys.points = read_histogram(value); });
    return fields;
}

std::vector<LengthQuantile> read_lengths(const Value& value)
{
    Table table = value.table(lengths_example);
    LengthKeys keys;
    length_fields().read_whole(table, Keys::all, keys);
    int ways = 0;
    for (const char* way : {"family", "quantiles", "histogram"}) {
        ways += table.find(way) ? 1 : 0;
    }
    if (ways != 1) {
        value.fail({ways == 0 ? "gives no lengths" : "gives lengths in several ways",
                    "it is a family, quantiles, or a histogram",
                    fmt::format("write for example lengths = {}", lengths_example)});
    }
    if (keys.family) {
        table.at("median", fmt::format("median = {}", median_range.example));
        table.at("sigma", fmt::format("sigma = {}", sigma_range.example));
        return lognormal_lengths(*keys.median, *keys.sigma);
    }
    for (const char* of_family : {"median", "sigma"}) {
        if (const auto given = table.find(of_family)) {
            given->fail({"has no effect", "it belongs to a family", "remove it"});
        }
    }
    return keys.points;
}

struct DataKeys {
    double samples = 0.0;
    std::optional<Batching> batching;
    std::vector<LengthQuantile> lengths;
};

const Fields<DataKeys>& data_fields()
{
    static const auto fields =
        Fields<DataKeys>("[data]", "the data set that all phases are trained on (docs/data.md)")
            .amount("samples", &DataKeys::samples, set_range)
            .custom({"lengths",
                     length_fields().help() + "; default: each sample fills its sequence",
                     std::string(lengths_example),
                     {{.kind = ValueShape::Kind::section,
                       .section = []() -> const SectionTable& { return length_fields(); }}}},
                    [](const Value& value, DataKeys& keys, Keys) { keys.lengths = read_lengths(value); })
            .custom({"batching",
                     "how samples of different lengths become microbatches: padded to the longest sample of "
                     "the microbatch; "
                     "flattened: one after the other, without padding; packed into sequences of full length; "
                     "tokens: as many "
                     "samples as fill a microbatch's tokens",

                     in_quotes("packed"),
                     {choice_shape(enum_names<Batching>)}},
                    [](const Value& value, DataKeys& keys, Keys) {
                        keys.batching = parse<Batching>(
                            value.choice(enum_names<Batching>(), "ways to make microbatches"));
                    });
    return fields;
}

}  // namespace

const SectionTable& data_table() { return data_fields(); }

DataSet read_data(Table table)
{
    DataKeys keys;
    data_fields().read_whole(table, Keys::all, keys);
    if (keys.lengths.empty()) {
        if (const auto batching = table.find("batching")) {
            batching->fail({"has no effect", "samples have no lengths, so each fills its sequence",
                            fmt::format("add lengths = {}, or remove it", lengths_example)});
        }
        return {.samples = keys.samples, .lengths = nullptr};
    }
    table.at("batching", "batching = \"padded\"");
    return {.samples = keys.samples,
            .lengths = std::make_shared<const SampleLengths>(SampleLengths{keys.lengths, *keys.batching})};
}

}  // namespace prismopt
