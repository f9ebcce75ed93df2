#include "io/html/packed.hpp"

#include "tests/io/sample_results.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// Plain decoding by a table of RFC 4648, section 4.
std::vector<std::uint8_t> decoded(const std::string& text)
{
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=') {
            break;
        }
        bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<std::uint8_t>(bits >> count & 0xff));
        }
    }
    return bytes;
}

template <class Number>
std::vector<Number> numbers(const std::string& text)
{
    const std::vector<std::uint8_t> bytes = decoded(text);
    std::vector<Number> list(bytes.size() / sizeof(Number));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        list[i / sizeof(Number)] = static_cast<Number>(
            list[i / sizeof(Number)] | static_cast<Number>(bytes[i]) << 8 * (i % sizeof(Number)));
    }
    return list;
}

TEST(Base64, IsThatOfTheStandard)
{
    const std::vector<std::uint16_t> ma{
        0x614d};  // "Ma" and the examples of RFC 4648, section 10: "foob", "foobar"
    EXPECT_EQ(base64(ma), "TWE=");
    EXPECT_EQ(base64(std::vector<std::uint16_t>{0x6f66, 0x626f}), "Zm9vYg==");
    EXPECT_EQ(base64(std::vector<std::uint16_t>{0x6f66, 0x626f, 0x7261}), "Zm9vYmFy");
    EXPECT_EQ(base64(std::vector<std::uint32_t>{}), "");
}

TEST(Base64, ComesBack)
{
    const std::vector<std::uint32_t> list{0, 1, 255, 65536, 4294967295U};
    EXPECT_EQ(numbers<std::uint32_t>(base64(list)), list);
}

TEST(Steps, KeepValuesToAStep)
{
    const std::vector<double> values{3.0, 1.0, 2.5, 1000.0, std::numeric_limits<double>::infinity()};
    const Steps packed = steps_of(values);
    EXPECT_TRUE(packed.logarithmic);
    EXPECT_EQ(packed.low, 1.0);
    EXPECT_EQ(packed.high, 1000.0);
    EXPECT_EQ(packed.steps.back(), 65535);
    const double step = std::log(1000.0) / 65534.0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        EXPECT_NEAR(std::log(values[i]), packed.steps[i] * step, 0.5001 * step);
    }
    const Steps linear = steps_of(std::vector<double>{-1.0, 0.0, 3.0});
    EXPECT_FALSE(linear.logarithmic);
    EXPECT_EQ(linear.steps, (std::vector<std::uint16_t>{0, 16384, 65534}));
    EXPECT_EQ(steps_of(std::vector<double>{7.0, 7.0}).steps, (std::vector<std::uint16_t>{0, 0}));
    EXPECT_EQ(steps_of(std::vector<double>{std::nan("")}).steps, (std::vector<std::uint16_t>{65535}));
}

TEST(Cloud, HoldsWhatIsOffTheFrontDrawnOnesFirst)
{
    const Results results = sample_results_of(32000);
    const nlohmann::json cloud = packed_cloud(results, 1'000'000);
    EXPECT_EQ(cloud["total"], 31998);
    EXPECT_EQ(cloud["drawn"], 15999);
    EXPECT_TRUE(cloud["upper"].is_null());
    const auto indices = numbers<std::uint32_t>(cloud["index"]);
    ASSERT_EQ(indices.size(), 31998U);
    EXPECT_EQ(indices[0], 0U);
    EXPECT_EQ(indices[15], 32U);  // 30 is on the front
    EXPECT_EQ(indices[15999], 1U);
    const auto steps = numbers<std::uint16_t>(cloud["objectives"][0]["values"]);
    const double low = std::log(cloud["objectives"][0]["low"].get<double>());
    const double high = std::log(cloud["objectives"][0]["high"].get<double>());
    for (const std::size_t i : {std::size_t{0}, std::size_t{500}, std::size_t{20000}}) {
        const double value = std::exp(low + (high - low) * steps[i] / 65534.0);
        const EvaluatedPoint& point = results.evaluations[indices[i]];
        EXPECT_NEAR(value / point.bounds[0], 1.0, (high - low) / 65534.0);
    }
}

TEST(Cloud, IsThinnedOutEvenlyToItsBytes)
{
    const nlohmann::json cloud = packed_cloud(sample_results_of(32000), 40'000);
    const auto indices = numbers<std::uint32_t>(cloud["index"]);
    EXPECT_EQ(indices.size(), 40'000U * 3 / 4 / 8);  // all of them drawn, two objectives
    EXPECT_EQ(cloud["drawn"], indices.size());
    std::size_t bytes = cloud["index"].get<std::string>().size();
    for (const auto& column : cloud["objectives"]) {
        bytes += column["values"].get<std::string>().size();
    }
    EXPECT_LE(bytes, 40'010U);
    for (std::size_t i = 1; i < indices.size(); ++i) {
        EXPECT_NEAR(indices[i] - indices[i - 1], 32000.0 / static_cast<double>(indices.size()), 4.0);
    }
}

TEST(Cloud, HoldsIndicesBeyond32Bits)
{
    Results results = sample_results();
    results.evaluations.back().index = (std::uint64_t{5} << 32) + 7;
    results.front.clear();
    const nlohmann::json cloud = packed_cloud(results, 1000);
    EXPECT_EQ(numbers<std::uint32_t>(cloud["index"]), (std::vector<std::uint32_t>{21, 7, 7}));
    EXPECT_EQ(numbers<std::uint32_t>(cloud["upper"]), (std::vector<std::uint32_t>{0, 5, 0}));
}

TEST(PackedTimeline, OmitsBubblesAndTransfers)
{
    const std::vector<TimelineEvent> events{
        {0, TimelineStream::compute, Activity::forward, 1, 2, 0.0, 0.5},
        {0, TimelineStream::compute, Activity::bubble, -1, -1, 0.5, 0.75},
        {0, TimelineStream::receive_activations, Activity::transfer, 1, 2, 0.1, 0.2},
        {3, TimelineStream::exchange, Activity::reduction, -1, -1, 0.75, 1.0},
    };
    EXPECT_EQ(numbers<std::uint16_t>(packed_timeline(events, 1.0)),
              (std::vector<std::uint16_t>{0, 0, 1, 2, 0, 32768, 3, 8, 65535, 65535, 49151, 65535}));
}

}  // namespace

}  // namespace prismopt
