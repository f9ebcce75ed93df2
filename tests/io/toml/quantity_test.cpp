#include "io/toml/quantity.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

template <class Q>
double si(const std::string& text)
{
    const auto result = parse_quantity<Q>(text, "1 ?");
    const Q* quantity = std::get_if<Q>(&result);
    EXPECT_NE(quantity, nullptr) << text << ' ' << (quantity ? "" : std::get<Complaint>(result).text());
    return quantity ? quantity->si : -1.0;
}

template <class Q>
std::string complaint(const std::string& text, const std::string& example)
{
    const auto result = parse_quantity<Q>(text, example);
    return std::holds_alternative<Q>(result) ? "accepted" : std::get<Complaint>(result).text();
}

TEST(Quantity, DecimalAndBinaryBytesDiffer)
{
    EXPECT_DOUBLE_EQ(si<Bytes>("1 B"), 1.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("3 kB"), 3000.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("3 KiB"), 3072.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("2 MB"), 2'000'000.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("2 MiB"), 2'097'152.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("80 GB"), 80'000'000'000.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("80 GiB"), 85'899'345'920.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("1 TB"), 1'000'000'000'000.0);
    EXPECT_DOUBLE_EQ(si<Bytes>("1 TiB"), 1'099'511'627'776.0);
}

TEST(Quantity, EightBitsAreAByte)
{
    EXPECT_DOUBLE_EQ(si<BytesPerSecond>("400 Gb/s"), 50e9);
    EXPECT_DOUBLE_EQ(si<BytesPerSecond>("400 Gbit/s"), 50e9);
    EXPECT_DOUBLE_EQ(si<BytesPerSecond>("1.6 Tb/s"), 200e9);
    EXPECT_DOUBLE_EQ(si<BytesPerSecond>("100 Mbit/s"), 12.5e6);
    EXPECT_DOUBLE_EQ(si<BytesPerSecond>("50 GB/s"), 50e9);
    EXPECT_DOUBLE_EQ(si<BytesPerSecond>("3.35 TB/s"), 3.35e12);
    EXPECT_DOUBLE_EQ(si<BytesPerSecond>("8 kB/s"), 8e3);
}

TEST(Quantity, OtherDimensions)
{
    EXPECT_DOUBLE_EQ(si<FlopsPerSecond>("989.4 TFLOP/s"), 989.4e12);
    EXPECT_DOUBLE_EQ(si<FlopsPerSecond>("1 PFLOP/s"), 1e15);
    EXPECT_DOUBLE_EQ(si<FlopsPerSecond>("5 GFLOP/s"), 5e9);
    EXPECT_DOUBLE_EQ(si<Seconds>("7 ns"), 7e-9);
    EXPECT_DOUBLE_EQ(si<Seconds>("4 us"), 4e-6);
    EXPECT_DOUBLE_EQ(si<Seconds>("2 ms"), 2e-3);
    EXPECT_DOUBLE_EQ(si<Seconds>("0 s"), 0.0);
    EXPECT_DOUBLE_EQ(si<Seconds>("10 min"), 600.0);
    EXPECT_DOUBLE_EQ(si<Seconds>("1.5 h"), 5400.0);
    EXPECT_DOUBLE_EQ(si<Seconds>("2 day"), 172'800.0);
    EXPECT_DOUBLE_EQ(si<Watts>("700 W"), 700.0);
    EXPECT_DOUBLE_EQ(si<Watts>("1.2 kW"), 1200.0);
    EXPECT_DOUBLE_EQ(si<DollarsPerSecond>("3.60 USD/h"), 0.001);
    EXPECT_DOUBLE_EQ(si<PerSecond>("8.64e-3 /day"), 1e-7);
    EXPECT_DOUBLE_EQ(si<PerSecond>("3.6 /h"), 1e-3);
}

TEST(Quantity, ElectricityIsPricedByEnergy)
{
    EXPECT_DOUBLE_EQ(si<DollarsPerJoule>("0.36 USD/kWh"), 1e-7);
    EXPECT_DOUBLE_EQ(si<DollarsPerJoule>("360 USD/MWh"), 1e-7);
    EXPECT_EQ(complaint<DollarsPerJoule>("0.08", "0.08 USD/kWh"),
              "has no unit (needs US dollars per unit of energy); write \"0.08 USD/kWh\"");
    EXPECT_EQ(complaint<DollarsPerJoule>("2 USD/h", "0.08 USD/kWh"),
              "has the wrong unit (needs US dollars per unit of energy, but USD/h measures US dollars per "
              "hour); write for example "
              "\"0.08 USD/kWh\"");
}

TEST(Quantity, AmountsOfMoneyAreReadAsTheyAreWritten)
{
    for (const char* text :
         {"40000000", "40e6", "40e6 USD", "40 M USD", "40M USD", "40 M", "40M", "0.04 B USD", "40000k"}) {
        EXPECT_DOUBLE_EQ(std::get<double>(parse_dollars(text)), 40e6) << text;
    }
    EXPECT_DOUBLE_EQ(std::get<double>(parse_dollars("40 USD")), 40.0);
    for (const char* text : {"", "USD", "40 EUR", "40 million USD", "$40M", "40,000,000", "USD 40"}) {
        const auto parsed = parse_dollars(text);
        ASSERT_TRUE(std::holds_alternative<Complaint>(parsed)) << text;
        EXPECT_EQ(std::get<Complaint>(parsed).remedy,
                  "write 40e6, \"40e6 USD\", \"40 M USD\" or \"40M\" for forty million (k, M or B)");
    }
}

TEST(Quantity, BlanksAreFree)
{
    EXPECT_DOUBLE_EQ(si<Bytes>(" 80GB "), 80e9);
    EXPECT_DOUBLE_EQ(si<Seconds>("1e3   ms"), 1.0);
}

TEST(Quantity, UnitsOfTimeMayBeSpelledOut)
{
    EXPECT_DOUBLE_EQ(si<Seconds>("90 days"), 90.0 * 86400.0);
    EXPECT_DOUBLE_EQ(si<Seconds>("2 weeks"), 14.0 * 86400.0);
    EXPECT_DOUBLE_EQ(si<Seconds>("10 minutes"), 600.0);
    EXPECT_DOUBLE_EQ(si<Seconds>("1 hour"), 3600.0);
}

TEST(Quantity, SaysWhatIsWrong)
{
    EXPECT_EQ(complaint<BytesPerSecond>("450", "300 GB/s"),
              "has no unit (needs bytes per second); write \"450 GB/s\"");
    EXPECT_EQ(complaint<Bytes>("fast", "80 GB"),
              "does not begin with a number (needs bytes); write for example \"80 GB\"");
    EXPECT_EQ(complaint<Bytes>("", "80 GB"),
              "does not begin with a number (needs bytes); write for example \"80 GB\"");
    EXPECT_EQ(complaint<Seconds>("3 parsec", "10 min"),
              "has the unknown unit \"parsec\" (needs a duration); use one of ns, us, ms, s, min, h, day, "
              "week");
    EXPECT_EQ(
        complaint<BytesPerSecond>("450 GB", "300 GB/s"),
        "has the wrong unit (needs bytes per second, but GB measures bytes); write for example \"300 GB/s\"");
    EXPECT_EQ(
        complaint<Bytes>("1,5 GB", "80 GB"),
        "has the unknown unit \",5 GB\" (needs bytes); use one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
    // Units are exact: a lower-case prefix or bit for byte is a factor, not a style.
    EXPECT_EQ(complaint<Bytes>("80 Gb", "80 GB").substr(0, 25), "has the unknown unit \"Gb\"");
}

TEST(Quantity, OnlyFiniteNumbers)
{
    const std::string message = "is not a finite number (needs bytes); write for example \"80 GB\"";
    EXPECT_EQ(complaint<Bytes>("nan GB", "80 GB"), message);
    EXPECT_EQ(complaint<Bytes>("inf GB", "80 GB"), message);
    EXPECT_EQ(complaint<Bytes>("1e999 GB", "80 GB"), message);
    EXPECT_EQ(complaint<Bytes>("1e308 TB", "80 GB"), message);
}

}  // namespace
}  // namespace prismopt
