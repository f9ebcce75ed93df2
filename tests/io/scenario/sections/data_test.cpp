#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// The good scenario with a phase of this length, and a section [data].
Phase phase_with(const std::string& length, const std::string& data)
{
    return parse_scenario(with("tokens = 3e11", length) + data, "x.toml").phases.front();
}

auto refused(const std::string& length, const std::string& data)
{
    return [=] { phase_with(length, data); };
}

const std::string two =
    "lengths = { quantiles = [{ share = 0, tokens = 200 }, { share = 0.5, tokens = 200 }, "
    "{ share = 0.5, tokens = 1000 }, { share = 1, tokens = 1000 }] }\n";

TEST(Data, PhasesAreGivenInSamplesAndEpochs)
{
    const Phase given = phase_with("tokens = 3e11", "");
    EXPECT_EQ(given.lengths, nullptr);
    EXPECT_EQ(given.filled, 1.0);
    EXPECT_EQ(phase_with("samples = 1e8", "").tokens, 1e8 * given.sequence);
    EXPECT_EQ(phase_with("epochs = 2.5", "[data]\nsamples = \"10M\"\n").tokens, 2.5e7 * given.sequence);
    EXPECT_EQ(phase_with("steps = 1000", "").tokens, 1e3 * given.sequence * given.global_batch);
}

TEST(Data, SamplesHaveTheTokensOfTheirLengths)
{
    const Phase padded = phase_with("epochs = 3", "[data]\nsamples = 1e6\nbatching = \"padded\"\n" + two);
    EXPECT_DOUBLE_EQ(padded.tokens, 3e6 * 600.0);
    EXPECT_DOUBLE_EQ(padded.filled, 600.0 / padded.sequence);
    EXPECT_DOUBLE_EQ(padded.steps(), 3e6 / padded.global_batch);
    const Phase packed = phase_with("samples = 3e6", "[data]\nbatching = \"packed\"\n" + two);
    EXPECT_DOUBLE_EQ(packed.tokens, 3e6 * 600.0);
    EXPECT_NEAR(packed.steps(), 3e6 * 600.0 / packed.filled / packed.sequence / packed.global_batch, 1e-6);
    EXPECT_EQ(packed.lengths->batching, Batching::packed);
}

TEST(Data, LengthsAreAFamilyQuantilesOrAHistogram)
{
    const auto lengths = [](const std::string& text) {
        return *phase_with("tokens = 3e11", "[data]\nbatching = \"padded\"\nlengths = " + text + "\n")
                    .lengths;
    };
    EXPECT_NEAR(mean_tokens(lengths("{ family = \"lognormal\", median = 300, sigma = 0 }"), 2048), 300.0,
                1e-9);
    const SampleLengths bins =
        lengths("{ histogram = [{ tokens = 101, samples = 300 }, { tokens = 301, samples = 100 }] }");
    EXPECT_NEAR(mean_tokens(bins, 2048), 0.75 * 51.0 + 0.25 * 201.0, 0.5);
}

TEST(Data, SaysWhatToAdd)
{
    const std::string tokens = "tokens = 3e11";
    EXPECT_THAT(refused("epochs = 3", ""),
                ThrowsMessage<InputError>(HasSubstr("add [data] with samples = 52000")));
    EXPECT_THAT(refused("epochs = 3\nsamples = 100", "[data]\nsamples = 100\n"),
                ThrowsMessage<InputError>(HasSubstr("is given beside samples in line")));
    EXPECT_THAT(refused("samples = 10", ""), ThrowsMessage<InputError>(HasSubstr("is less than one step")));
    EXPECT_THAT(refused("samples = 10", ""), ThrowsMessage<InputError>(HasSubstr("write more samples")));
    EXPECT_THAT(refused(tokens, "[data]\n" + two),
                ThrowsMessage<InputError>(HasSubstr("batching = \"padded\"")));
    EXPECT_THAT(refused(tokens, "[data]\nbatching = \"packed\"\n"),
                ThrowsMessage<InputError>(HasSubstr("add lengths = {")));
    const auto refused_lengths = [&](const std::string& lengths) {
        return refused(tokens, "[data]\nbatching = \"packed\"\nlengths = " + lengths + "\n");
    };
    EXPECT_THAT(refused_lengths("{ median = 300 }"),
                ThrowsMessage<InputError>(HasSubstr("gives no lengths")));
    EXPECT_THAT(refused_lengths("{ family = \"lognormal\", sigma = 1 }"),
                ThrowsMessage<InputError>(HasSubstr("median = 300")));
    EXPECT_THAT(refused_lengths("{ quantiles = [{ share = 0.1, tokens = 10 }, { share = 1, tokens = 20 }] }"),
                ThrowsMessage<InputError>(HasSubstr("does not reach from share = 0")));
    EXPECT_THAT(refused_lengths("{ quantiles = [{ share = 0, tokens = 10 }, { share = 1, tokens = 5 }] }"),
                ThrowsMessage<InputError>(HasSubstr("is below the point before")));
    EXPECT_THAT(refused_lengths("{ histogram = [{ tokens = 10, samples = 1 }], median = 3 }"),
                ThrowsMessage<InputError>(HasSubstr("belongs to a family")));
}

}  // namespace
}  // namespace prismopt
