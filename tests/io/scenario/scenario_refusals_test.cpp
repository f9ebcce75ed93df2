#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

namespace prismopt {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// What is refused, with the whole message.

/// What the reader says to the good scenario with `from` replaced by `to`, without the place, which must be
/// the line where the replacement begins plus `further` lines.
std::string refusal(const std::string& from, const std::string& to, int further = 0)
{
    const std::string text = with(from, to);
    const auto line =
        1 + further +
        std::count(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(good.find(from)), '\n');
    const std::string place = "x.toml:" + std::to_string(line) + ": ";
    try {
        parse_scenario(text, "x.toml");
    } catch (const InputError& error) {
        const std::string message = error.what();
        return message.starts_with(place) ? message.substr(place.size()) : message;
    }
    return "accepted";
}

TEST(ScenarioRefuses, UnknownKeys)
{
    EXPECT_EQ(refusal("oversubscription = 2", "oversubscripton = 2"),
              "unknown key 'oversubscripton' (did you mean 'oversubscription'?)");
    EXPECT_EQ(refusal("link = \"ib-hdr\"", "bandwith = \"25 GB/s\"\nlatency = \"6 us\"\nefficiency = 0.8"),
              "unknown key 'bandwith' (did you mean 'bandwidth'?)");
    EXPECT_EQ(refusal("headroom = 0.05", "headroom = 0.05\ncolour = 3", 1),
              "unknown key 'colour' (known here: probability, headroom); remove it or use a known key");
    EXPECT_THAT(refusal("model = \"gpt-22b\"", "model = \"gpt-22b\"\ncolour = 3"),
                HasSubstr("(known here: captured, model, name"));
    EXPECT_EQ(refusal("[space]", "[spcae]"), "unknown key 'spcae' (did you mean 'space'?)");
    EXPECT_EQ(refusal("[memory]", "[memroy]"), "unknown key 'memroy' (did you mean 'memory'?)");
    EXPECT_EQ(refusal("p2p = {", "p2q = {"), "unknown key 'p2q' (did you mean 'p2p'?)");
    EXPECT_EQ(refusal("cap = 5", "caps = 5"), "unknown key 'caps' (did you mean 'cap'?)");
    EXPECT_EQ(refusal("steps = 4", "steps = 4, step = 1"), "unknown key 'step' (did you mean 'steps'?)");
    EXPECT_EQ(refusal("gpus = 64", "gpus = 64\naccelerator_override = { pwoer = \"300 W\" }", 1),
              "unknown key 'pwoer' (did you mean 'power'?)");
}

TEST(ScenarioRefuses, AbsentKeys)
{
    EXPECT_EQ(refusal("name = \"test\"", ""),
              "the file has no 'name' (this key is required); add name = \"my-study\"");
    EXPECT_EQ(refusal("[cluster]\naccelerator = \"a100-sxm-80gb\"", "[cluster]"),
              "[cluster] has no 'accelerator' (this key is required); add accelerator = \"h100-sxm\"");
    EXPECT_EQ(
        refusal("[[phase]]\ntokens = 3e11", "[[phase]]"),
        "[phase] has no 'tokens' (this key is required); add tokens = 15.6e12, or steps, samples or epochs");
    EXPECT_EQ(
        refusal("model = \"gpt-22b\"", "layers = 4", -1),
        "[workload] has no 'hidden' (this key is required); add model = \"bert-large\", or hidden = 12288");
    EXPECT_THAT(refusal("link = \"ib-hdr\"", "", -2),
                StartsWith("[tier] has no 'bandwidth' (this key is required); add link = "));
    EXPECT_THAT(refusal("profile = \"hpc-2024\"", "", -1),
                AllOf(StartsWith("[variability] has no 'gpu' (this key is required); add profile = "),
                      HasSubstr("or gpu = { family = \"lognormal\", cv = 0.02 }")));
    EXPECT_EQ(
        refusal("group = 8", "", -3),
        "[tier] has no 'group' (this key is required); add group = 8 (GPUs; only the last tier may omit it)");
}

TEST(ScenarioRefuses, QuantitiesWithoutOrWithWrongUnits)
{
    EXPECT_EQ(refusal("link = \"ib-hdr\"", "link = \"ib-hdr\"\nbandwidth = 450", 1),
              "bandwidth = 450 has no unit (needs bytes per second); write \"450 GB/s\"");
    EXPECT_EQ(refusal("link = \"ib-hdr\"", "link = \"ib-hdr\"\nbandwidth = \"450 GB\"", 1),
              "bandwidth = \"450 GB\" has the wrong unit (needs bytes per second, but GB measures bytes); "
              "write for example "
              "\"450 GB/s\"");
    EXPECT_EQ(refusal("\"10 min\"", "10.5"),
              "restart = 10.5 has no unit (needs a duration); write \"10.5 min\"");
    EXPECT_EQ(
        refusal("\"10 min\"", "\"10 fortnights\""),
        "restart = \"10 fortnights\" has the unknown unit \"fortnights\" (needs a duration); use one of "
        "ns, us, ms, s, min, h, day, week");
    EXPECT_EQ(refusal("\"10 min\"", "\"-10 min\""),
              "restart = \"-10 min\" is negative (needs a duration); write for example \"10 min\"");
    EXPECT_EQ(refusal("\"3.60 USD/h\"", "\"0 USD/h\""),
              "gpu_price = \"0 USD/h\" is zero (needs US dollars per hour, greater than zero); write for "
              "example \"2.50 USD/h\"");
    EXPECT_EQ(refusal("\"3.60 USD/h\"", "true"),
              "gpu_price = true is a boolean (needs US dollars per hour); write for example \"2.50 USD/h\"");
    EXPECT_EQ(refusal("\"8.64e-3 /day\"", "nan"),
              "node_failure_rate = nan is not a finite number (needs events per unit of time); write for "
              "example \"3.79e-3 /day\"");
}

TEST(ScenarioRefuses, ABoardOfMorePowerThanACountryHas)
{
    EXPECT_THAT(refusal("gpus = 64\n", "gpus = 64\naccelerator_override = { power = \"1e12 W\" }\n"),
                HasSubstr("power = \"1e12 W\" is not plausible"));
}

TEST(ScenarioRefuses, NumbersAreShownAsTheyAreWritten)
{
    EXPECT_THAT(refusal("tokens = 3e11", "tokens = 1e300"), StartsWith("tokens = 1e300 is not in "));
    EXPECT_THAT(refusal("tokens = 3e11", "tokens = +1_0.5E+30 # many"),
                StartsWith("tokens = +1_0.5E+30 is not in "));
    EXPECT_THAT(refusal("gpus = 64", "gpus = 0x7fff_ffff"), StartsWith("gpus = 0x7fff_ffff is not in "));
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = [8, -1_0 ]"), StartsWith("tp = -1_0 is not in "));
    EXPECT_THAT(refusal("values = [1.0, 2, 3.5]", "source = \"gr\u00f6\u00dfer\", values = [1.0, -2e0, 3.5]"),
                StartsWith("values = -2e0 is not in "));  // columns are characters
    EXPECT_THAT(
        refusal("gpu_price = \"3.60 USD/h\"", "gpu_price = +1_3.60"),
        EndsWith("gpu_price = +1_3.60 has no unit (needs US dollars per hour); write \"13.60 USD/h\""));
}

TEST(ScenarioRefuses, SettingsThatAnOptimizerLacks)
{
    const auto with = [](const std::string& kind) {
        return "[workload]\noptimizer = { kind = \"" + kind + "\", rank = 64 }";
    };
    EXPECT_THAT(refusal("[workload]", with("adamw")), HasSubstr("only galore projects gradients"));
    EXPECT_EQ(refusal("[workload]", with("galore")), "accepted");
    EXPECT_THAT(refusal("[workload]", "[workload]\noptimizer = { kind = \"adafactor\", states = \"bf16\" }"),
                HasSubstr("sums of rows and columns"));
}

TEST(ScenarioRefuses, PriceLimitsWithNothingToLimit)
{
    const std::string limit = "[search]\ngpu_price_limit = \"4 USD/h\"";
    const std::string parameter = "[[knob]]\nof = \"memory\"\nvalues = [\"80 GB\", \"160 GB\"]\n";
    EXPECT_THAT(refusal("[search]", limit, 1),
                HasSubstr("has no effect (it excludes hardware variants by price"));
    EXPECT_THAT(refusal("[search]", limit + "\n", 1), HasSubstr("no [[knob]])"));
    const std::string price = "price = { per = \"1 GB\", cost = \"0.01 USD/h\" }\n";
    EXPECT_THAT(refusal("[search]", parameter + limit, 4), HasSubstr("no [[knob]] has a price"));
    EXPECT_EQ(refusal("[search]", parameter + price + limit), "accepted");
}

TEST(ScenarioRefuses, NumbersOutOfRange)
{
    EXPECT_EQ(refusal("headroom = 0.05", "headroom = 1.0"),
              "headroom = 1.0 is not in [0, 1) (share of the GPU memory that is reserved: not for training); "
              "write for example 0.05");
    EXPECT_EQ(refusal("headroom = 0.05", "headroom = nan"),
              "headroom = nan is not in [0, 1) (share of the GPU memory that is reserved: not for training); "
              "write for example 0.05");
    EXPECT_EQ(refusal("seed = 7", "seed = -1"),
              "seed = -1 is not in [0, 9.2e+18] (the seed of all random numbers); write for example 1");
    EXPECT_EQ(refusal("gpus = 64", "gpus = 0"),
              "gpus = 0 is not in [1, 10000000] (GPUs of the cluster); write for example 16384");
    EXPECT_EQ(refusal("tokens = 3e11", "tokens = inf"),
              "tokens = inf is not in [1, 1e+18] (tokens to train on); write for example 15.6e12");
    EXPECT_EQ(refusal("tokens = 3e11", "tokens = 1000000"),
              "tokens = 1000000 is less than one step (a step has 512 sequences of 2048 tokens); write "
              "tokens as a plain count, as in "
              "15.6e12");
    EXPECT_EQ(refusal("oversubscription = 2", "oversubscription = 0.5"),
              "oversubscription = 0.5 is not in [1, 10000] (oversubscription ratio: downlink over uplink "
              "bandwidth of the tier "
              "below); write for example 7");
}

TEST(ScenarioRefuses, WrongTypes)
{
    EXPECT_EQ(refusal("gpus = 64", "gpus = \"64\""),
              "gpus = \"64\" is a string (needs an integer); write for example 16384");
    EXPECT_EQ(refusal("gpus = 64", "gpus = 64.0"),
              "gpus = 64.0 is a floating-point number (needs an integer); write for example 16384");
    EXPECT_EQ(refusal("gpus = 64", "gpus = 1979-05-27"),
              "gpus = 1979-05-27 is a date (needs an integer); write for example 16384");
    EXPECT_EQ(refusal("name = \"test\"", "name = 3"),
              "name = 3 is an integer (needs a string in quotes); write for example \"my-study\"");
    EXPECT_EQ(refusal("name = \"test\"", "name = \" \""),
              "name = \" \" is empty (needs a string); write for example \"my-study\"");
    EXPECT_EQ(refusal("tp = [8, 1, 2]", "tp = 8"),
              "tp = 8 is an integer (needs an array); write for example [8]");
    EXPECT_EQ(refusal("model = \"gpt-22b\"", "model = \"gpt-22b\"\ncausal = 1", 1),
              "causal = 1 is an integer (needs a boolean); write true or false, without quotes");
    EXPECT_EQ(refusal("[[phase]]", "[phase]"),
              "phase = {...} is a table (needs an array); write for example [[phase]] with tokens, "
              "sequence_length and global_batch");
    EXPECT_EQ(refusal("[memory]\nheadroom = 0.05", "[[memory]]\nheadroom = 0.05"),
              "memory = [{...}] is an array (needs a table); write for example { probability = 0.9 }");
}

TEST(ScenarioRefuses, StartsThatAreNoDay)
{
    EXPECT_THAT(refusal("seed = 7", "seed = 7\nstart = \"2027-02-29\"", 1),
                StartsWith("start = \"2027-02-29\" is not a calendar date"));
    EXPECT_THAT(refusal("seed = 7", "seed = 7\nstart = 1979-05-27", 1),
                StartsWith("start = 1979-05-27 is not a calendar date"));
    EXPECT_THAT(refusal("seed = 7", "seed = 7\nstart = 2027", 1),
                StartsWith("start = 2027 is an integer (needs a date)"));
    EXPECT_THAT(refusal("seed = 7", "seed = 7\nstart = 07:30:00", 1),
                StartsWith("start = (date or time) is a time of day (needs a date)"));
}

TEST(ScenarioRefuses, TokensThatAreNoCount)
{
    EXPECT_THAT(refusal("tokens = 3e11", "tokens = \"300Q\""),
                StartsWith("tokens = \"300Q\" has the unknown suffix \"Q\""));
    EXPECT_THAT(refusal("tokens = 3e11", "tokens = \"many\""),
                StartsWith("tokens = \"many\" does not begin with a number"));
    EXPECT_THAT(refusal("tokens = 3e11", "tokens = \"3000000P\""),
                StartsWith("tokens = \"3000000P\" is not in [1, 1e+18]"));
    EXPECT_THAT(refusal("tokens = 3e11", "tokens = \"nan\""),
                StartsWith("tokens = \"nan\" is not a finite number"));
}

TEST(ScenarioRefuses, UnknownNames)
{
    const std::string accelerator = refusal("\"a100-sxm-80gb\"", "\"a100-smx-80gb\"");
    EXPECT_THAT(accelerator,
                StartsWith("accelerator = \"a100-smx-80gb\" is not one of a10, a100-pcie-40gb, "));
    EXPECT_THAT(accelerator, HasSubstr("(accelerators in the catalog); did you mean \"a100-sxm-80gb\"?"));
    const std::string link = refusal("\"nvlink3\"", "\"string\"");
    EXPECT_THAT(link, StartsWith("link = \"string\" is not one of "));
    EXPECT_THAT(link, HasSubstr("(links in the catalog); choose one of these"));
    EXPECT_THAT(refusal("\"a100-sxm-80gb\"", "\"abacus\""), HasSubstr("choose one of these. Or "));
    EXPECT_THAT(refusal("\"gpt-22b\"", "\"gpt-23b\""),
                HasSubstr("(network from the catalog); did you mean \"gpt-22b\"?"));
    EXPECT_THAT(refusal("\"hpc-2024\"", "\"hpc\""),
                AllOf(StartsWith("profile = \"hpc\" is not one of hpc-2024, "),
                      HasSubstr("did you mean \"hpc-2024\"?"),
                      HasSubstr("describe your own: omit profile and give gpu, node, ")));
    EXPECT_THAT(accelerator, HasSubstr("accelerator_override"));
    EXPECT_THAT(refusal("\"cost\"]", "\"costs\"]"), StartsWith("minimise = \"costs\" is not one of "));
    EXPECT_THAT(refusal("\"cost\"]", "\"costs\"]"),
                HasSubstr("(objectives that can be minimised); did you mean \"cost\"?"));
    EXPECT_THAT(refusal("\"1f1b\"", "\"1f2b\""),
                AllOf(StartsWith("schedule = \"1f2b\" is not one of gpipe, 1f1b, "),
                      HasSubstr("did you mean \"1f1b\"?")));
}

TEST(ScenarioRefuses, WorkloadsWhoseHeadsDoNotDivide)
{
    EXPECT_EQ(refusal("\"gpt-22b\"", "\"gpt-22b\"\nheads = 7\nkv_heads = 7", 1),
              "heads = 7 gives 7 attention heads for a hidden size of 6144 (heads must divide hidden); "
              "change one of the two");
    EXPECT_EQ(refusal("\"gpt-22b\"", "\"gpt-22b\"\nkv_heads = 5", 1),
              "kv_heads = 5 gives 5 key/value heads for 64 attention heads (kv_heads must divide heads); "
              "write kv_heads = 64 or "
              "a divisor");
}

TEST(ScenarioRefuses, TiersThatDoNotNest)
{
    EXPECT_EQ(refusal("link = \"ib-hdr\"", "link = \"ib-hdr\"\ngroup = 60", 1),
              "group = 60 does not span the whole cluster (the last tier joins all 64 GPUs of the cluster); "
              "remove it or write 64");
    const std::string rack = "group = 8\n\n[[cluster.tier]]\nname = \"rack\"\nlink = \"ib-hdr\"\ngroup = ";
    EXPECT_EQ(refusal("group = 8", rack + "12", 5),
              "group = 12 of tier \"rack\" does not nest (needs a larger multiple of 8, the group size of "
              "the inner tier "
              "\"node\"); try 16; a job "
              "may use fewer GPUs: gpus in [space]");
    EXPECT_EQ(refusal("group = 8", rack + "8", 5),
              "group = 8 of tier \"rack\" does not nest (needs a larger multiple of 8, the group size of the "
              "inner tier "
              "\"node\"); try 16; a job "
              "may use fewer GPUs: gpus in [space]");
    EXPECT_EQ(refusal("group = 8", rack + "16"), "accepted");
}

std::string without_space(std::string text, const std::string& gpus)
{
    const std::string range = "gpus = { from = 16, to = 64, step = 16 }";
    return text.replace(text.find(range), range.size(), "gpus = " + gpus);
}

/// A job on two GPUs of a node of eight: the node's links, no others, and no more GPUs than given.
/// Half a rack is the part in use.
TEST(Scenario, MayUseSomeGpusOfANode)
{
    const Scenario two_gpus =
        parse_scenario(without_space(with("gpus = 64", "gpus = 2"), "[1, 2]"), "x.toml");
    ASSERT_EQ(two_gpus.cluster.tiers.size(), 1U);
    EXPECT_EQ(two_gpus.cluster.tiers[0].group_gpus, 8);
    EXPECT_EQ(two_gpus.cluster.nodes(), 1);
    EXPECT_EQ(two_gpus.cluster.name, "2 x a100-sxm-80gb");
    EXPECT_THROW(parse_scenario(without_space(with("gpus = 64", "gpus = 2"), "[4]"), "x.toml"), InputError);
    EXPECT_EQ(
        parse_scenario(without_space(with("gpus = 64", "gpus = 8"), "[8]"), "x.toml").cluster.tiers.size(),
        1U);
    const std::string rack = "group = 8\n\n[[cluster.tier]]\nname = \"rack\"\nlink = \"ib-hdr\"\ngroup = 128";
    const Scenario half = parse_scenario(with("group = 8", rack), "x.toml");
    ASSERT_EQ(half.cluster.tiers.size(), 2U);
    EXPECT_EQ(half.cluster.tiers[1].group_gpus, 64);
    EXPECT_EQ(half.cluster.gpus, 64);
}

/// Twelve GPUs are a node of eight and half a node; a list of nodes needs whole ones.
TEST(Scenario, MayFillItsLastNodePartially)
{
    const std::string twelve = without_space(with("gpus = 64", "gpus = 12"), "[8, 12]");
    const Cluster cluster = parse_scenario(twelve, "x.toml").cluster;
    EXPECT_EQ(cluster.gpus, 12);
    EXPECT_EQ(cluster.nodes(), 2);
    ASSERT_EQ(cluster.tiers.size(), 2U);
    EXPECT_EQ(cluster.tiers[0].group_gpus, 8);
    EXPECT_EQ(cluster.tiers[1].group_gpus, 12);
    std::string listed = twelve;
    listed.replace(listed.find("gpus = 12"), 9, "gpus = 12\nslow_nodes = [{ node = 0, factor = 1.2 }]");
    EXPECT_THAT([&] { parse_scenario(listed, "x.toml"); },
                testing::ThrowsMessage<InputError>(
                    HasSubstr("write gpus = 16 in [cluster], and gpus = [12] in [space]")));
}

/// Forward passes have no optimizer, no gradients and no checkpoints.
TEST(ScenarioRefuses, ChoicesThatForwardPassesDoNotHave)
{
    const auto of_forward_passes = [](const std::string& axis) {
        std::string text = with("model = \"gpt-22b\"", "model = \"gpt-22b\"\ntask = \"inference\"");
        const std::string checkpoints = "checkpoint_interval = \"0 s\"\ncheckpoint_write = \"30 s\"\n";
        text.replace(text.find(checkpoints), checkpoints.size(), "");
        text.insert(text.find("gpus = { from"), axis + "\n");
        try {
            parse_scenario(text, "x.toml");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(of_forward_passes(""), "accepted");
    for (const char* axis : {"offload = [\"none\", \"optimizer\"]", "checkpoint_interval = [\"10 min\"]"}) {
        EXPECT_THAT(of_forward_passes(axis), HasSubstr("does not apply to forward passes")) << axis;
    }
}

/// The length of a phase in steps is that in tokens, and follows the batch.
TEST(Scenario, PhasesMayHaveSteps)
{
    const auto tokens = [](const std::string& batch) {
        return parse_scenario(with("tokens = 3e11\nsequence_length = 2048\nglobal_batch = 512",
                                   "steps = 1000\nsequence_length = 2048\nglobal_batch = " + batch),
                              "x.toml")
            .phases.front();
    };
    EXPECT_DOUBLE_EQ(tokens("512").tokens, 1000.0 * 512 * 2048);
    EXPECT_DOUBLE_EQ(tokens("256").tokens, 1000.0 * 256 * 2048);
    EXPECT_DOUBLE_EQ(tokens("256").steps(), 1000.0);
    EXPECT_THAT(refusal("tokens = 3e11", "tokens = 3e11\nsteps = 1000", 1),
                HasSubstr("is given beside tokens"));
}

TEST(ScenarioRefuses, CircuitsThatCannotBe)
{
    EXPECT_EQ(
        refusal("oversubscription = 2",
                "aggregate = \"1.6 Tb/s\"\nloss = 1e-6\nvariability = { family = \"lognormal\", cv = 0.1 }"),
        "accepted");
    EXPECT_EQ(refusal("oversubscription = 2", "aggregate = 200"),
              "aggregate = 200 has no unit (needs bytes per second); write \"200 Tb/s\"");
    EXPECT_EQ(refusal("group = 8", "group = 8\naggregate = \"1 TB/s\"", 1),
              "aggregate = \"1 TB/s\" does not apply to the first tier (it joins single GPUs, each with its "
              "own link); give "
              "bandwidth only, or add an inner tier");
}

TEST(ScenarioRefuses, SlowNodesThatAreNot)
{
    const auto listed = [](const std::string& nodes) { return "gpus = 64\nslow_nodes = " + nodes; };
    EXPECT_EQ(refusal("gpus = 64", listed("[{ node = 7, factor = 1.2 }]")), "accepted");
    EXPECT_THAT(refusal("gpus = 64", listed("[{ node = 8, factor = 1.2 }]"), 1),
                StartsWith("node = 8 is not a node of the cluster"));
    EXPECT_THAT(refusal("gpus = 64", listed("[{ node = 1, factor = 1.2 }, { node = 1, factor = 1.1 }]"), 1),
                StartsWith("node = 1 is listed twice"));
}

/// The network has 48 layers; plans have 1 or 2 stages.
TEST(ScenarioRefuses, LayoutsThatDoNotFit)
{
    const auto space = [](const std::string& lines) { return "[space]\n" + lines + "\n"; };
    const std::string given = "split = [\"given\"]\n";
    EXPECT_EQ(refusal("[space]\n", space(given + "layout = [\"Et*26|t*22L\"]"), 2), "accepted");
    EXPECT_EQ(
        refusal(
            "[space]\n",
            space("split = [\"layers\", \"given\", \"balanced\"]\nlayout = [\"Et*26|t*22L\", \"Et*48L\"]"),
            2),
        "accepted");
    EXPECT_THAT(refusal("[space]\n", space(given), 1), StartsWith("split = [\"given\"] needs a layout"));
    EXPECT_THAT(refusal("[space]\n", space("layout = [\"Et*26|t*22L\"]"), 1),
                HasSubstr("applies to split = \"given\" only (no plan of the space uses that split)"));
    EXPECT_EQ(refusal("[space]\n", space(given + "layout = [\"Et*26|t*21L\"]"), 2),
              "layout = \"Et*26|t*21L\" has 47 layers (the workload has 48); write one t per layer");
    EXPECT_EQ(refusal("[space]\n", space(given + "layout = [\"Et*16|t*16|t*16L\"]"), 2),
              "layout = \"Et*16|t*16|t*16L\" has 3 chunks (the plans of the space have pp*v = 1, 2); give a "
              "layout with one of "
              "these numbers of chunks");
    EXPECT_THAT(refusal("[space]\n", space(given + "layout = [\"Et*26|t*22L\", \"Et*24|t*24L\"]"), 2),
                StartsWith("layout = \"Et*24|t*24L\" is the second layout with 2 chunks"));
    EXPECT_EQ(
        refusal("[space]\n", space(given + "layout = [\"Et*26|x*22L\"]"), 2),
        "layout = \"Et*26|x*22L\" is not a layout ('x' is not one of its letters: E embedding, t layer, m "
        "multi-token "
        "prediction module, L loss head, | next chunk); write for example layout = [\"Et*4|t*5|t*5|t*4L\"]");
}

TEST(ScenarioRefuses, AcceleratorsWithoutMemory)
{
    EXPECT_EQ(refusal("gpus = 64", "gpus = 64\naccelerator_override = { memory_reserved = \"80 GiB\" }", 1),
              "memory_reserved = \"80 GiB\" leaves no memory for the training (memory_reserved must be less "
              "than memory); lower "
              "memory_reserved or raise memory");
}

TEST(ScenarioRefuses, BadDistributions)
{
    EXPECT_EQ(refusal("family = \"gamma\"", "family = \"gama\""),
              "family = \"gama\" is not one of constant, normal, lognormal, gamma, weibull, shifted-gamma, "
              "student-t, gev, "
              "pareto-tail, "
              "mixture, empirical (families of distributions); did you mean \"gamma\"?");
    EXPECT_EQ(refusal("cv = 0.01", "cv = 3.5"),
              "cv = 3.5 is not in [0, 3] (standard deviation over mean); write for example 0.02");
    EXPECT_EQ(refusal("cv = 0.01, ", ""), "[node] has no 'cv' (this key is required); add cv = 0.02");
    EXPECT_EQ(refusal("family = \"gamma\"", "family = \"constant\""),
              "cv = 0.01 does not belong to the family \"constant\" ('cv' is for normal, lognormal, gamma, "
              "weibull and shifted-gamma); "
              "remove it or change the family");
    EXPECT_EQ(refusal("\"empirical\"", "\"normal\""),
              "values = [1.0, 2, 3.5] does not belong to the family \"normal\" ('values' is for empirical); "
              "remove it or write "
              "family = "
              "\"empirical\"");
    EXPECT_EQ(refusal("slow_probability = 0.001", "slow_probability = 1.5"),
              "slow_probability = 1.5 is not in [0, 1] (a probability); write for example 0.01");
    EXPECT_EQ(refusal(" slow_excess = 0.5,", ""),
              "slow_probability = 0.001 is given without slow_excess (a slow mode needs both); add "
              "slow_excess = 0.1");
    EXPECT_EQ(refusal(" slow_probability = 0.001,", ""),
              "slow_excess = 0.5 is given without slow_probability (a slow mode needs both); add "
              "slow_probability = 0.01");
    EXPECT_EQ(refusal("values = [1.0, 2, 3.5]", "values = [1.0, 0]"),
              "values = 0 is not in (0, 1e+18] (a measured duration, in any unit); write for example 1.02");
    EXPECT_EQ(refusal("cap = 5", "cap = 1"),
              "cap = 1 is not in (1, 1000000] (largest factor relative to the family's mean or median); "
              "write for example 20");
}

/// What is said to the distribution of a node with these keys.
std::string distribution_refusal(const std::string& distribution)
{
    return refusal(
        "node = { family = \"gamma\", cv = 0.01, slow_probability = 0.001, slow_excess = 0.5, cap = 5, "
        "source = \"our cluster\" "
        "}",
        "node = { " + distribution + " }");
}

TEST(ScenarioRefuses, BadParametersOfFamilies)
{
    const std::string student = "family = \"student-t\", scale = 0.1, degrees_of_freedom = ";
    EXPECT_EQ(distribution_refusal(student + "1.5"), "accepted");
    EXPECT_EQ(distribution_refusal(student + "0.75"),
              "degrees_of_freedom = 0.75 is not in [1, 1000000] (degrees of freedom, not necessarily an "
              "integer); write for "
              "example 1.5");
    EXPECT_EQ(distribution_refusal(student + "2, cv = 0.5"),
              "cv = 0.5 does not belong to the family \"student-t\" ('cv' is for normal, lognormal, gamma, "
              "weibull and shifted-gamma); "
              "remove it or change the family");
    EXPECT_EQ(distribution_refusal("family = \"student-t\", scale = 0.1"),
              "[node] has no 'degrees_of_freedom' (this key is required); add degrees_of_freedom = 1.5");
    EXPECT_EQ(distribution_refusal("family = \"gev\", shape = 0.1, scale = -0.5"),
              "scale = -0.5 is not in (0, 10] (scale of the distribution relative to its median); write for "
              "example 0.02");
    EXPECT_EQ(distribution_refusal("family = \"gev\", shape = 2.5, scale = 0.1"),
              "shape = 2.5 is not in [-1, 2] (zero: exponential tail; positive: tail as x^(-1/shape); "
              "negative: bounded tail); "
              "write for example 0.2");
    EXPECT_EQ(distribution_refusal("family = \"shifted-gamma\", cv = 0.1, shift = 1.0"),
              "shift = 1.0 is not in [0, 1) (shortest duration relative to the mean); write for example 0.9");
    EXPECT_EQ(distribution_refusal("family = \"gamma\", cv = 0.1, shift = 0.5"),
              "shift = 0.5 does not belong to the family \"gamma\" ('shift' is for shifted-gamma); remove it "
              "or write family = "
              "\"shifted-gamma\"");
    EXPECT_EQ(distribution_refusal("family = \"weibull\", cv = nan"),
              "cv = nan is not in [0, 3] (standard deviation over mean); write for example 0.02");
}

TEST(ScenarioRefuses, BadTails)
{
    const std::string tail = "family = \"pareto-tail\", shape = 0.4, tail_scale = 0.05, ";
    const std::string core = "core = { family = \"lognormal\", cv = 0.02 }, ";
    EXPECT_EQ(distribution_refusal(tail + core + "tail_probability = 0.05"), "accepted");
    EXPECT_EQ(distribution_refusal(tail + core + "tail_probability = 0.75"),
              "tail_probability = 0.75 is not in (0, 0.5] (probability of the tail); write for example 0.05");
    EXPECT_EQ(
        distribution_refusal(tail + "tail_probability = 0.05"),
        "[node] has no 'core' (this key is required); add core = { family = \"lognormal\", cv = 0.02 }");
    EXPECT_EQ(distribution_refusal(
                  tail + "core = { family = \"lognormal\", cv = 0.02, cap = 3 }, tail_probability = 0.05"),
              "unknown key 'cap' (did you mean 'cv'?)");
}

TEST(ScenarioRefuses, BadMixtureDistributions)
{
    const auto mixture = [](const std::string& components) {
        return distribution_refusal("family = \"mixture\", parts = " + components);
    };
    const std::string most = "{ weight = 0.9, family = \"normal\", cv = 0.02 }";
    EXPECT_EQ(mixture("[" + most + ", { weight = 0.1, at = 1.5, family = \"constant\" }]"), "accepted");
    EXPECT_THAT(mixture("[" + most + ", { weight = 0.2, family = \"constant\" }]"),
                EndsWith(" has weights that sum to 1.1 (the weights of a mixture must sum to 1); change a "
                         "weight or add a part"));
    EXPECT_EQ(mixture("[" + most + ", { weight = -0.5, family = \"constant\" }]"),
              "weight = -0.5 is not in (0, 1] (probability of the component); write for example 0.1");
    EXPECT_EQ(
        mixture("[" + most + ", { weight = 0.1, at = 0, family = \"constant\" }]"),
        "at = 0 is not in (0, 1000] (location of the component; 1.5 is 50 % slower); write for example 1.5");
    EXPECT_THAT(mixture("[" + most + ", { weight = 0.1, family = \"constant\", excess = 1 }]"),
                StartsWith("unknown key 'excess'"));
    EXPECT_THAT(mixture("[" + most + ", 0.1]"), HasSubstr("needs a table"));
    EXPECT_THAT(mixture("[]"), HasSubstr("is empty"));
}

TEST(ScenarioRefuses, CapsThatCutAModeOrTheMedian)
{
    const std::string modes =
        "family = \"mixture\", parts = [{ weight = 0.9, family = \"constant\" }, { weight = 0.1, at = 30, "
        "family = \"constant\" "
        "}]";
    EXPECT_EQ(
        distribution_refusal(modes),
        "[node] needs a cap above the default of 20 (the slowest mode is at 30); write for example cap = 60");
    EXPECT_EQ(distribution_refusal(modes + ", cap = 25"),
              "cap = 25 cuts off too much (the slowest mode is at 30); write for example cap = 60");
    EXPECT_EQ(distribution_refusal(modes + ", cap = 60"), "accepted");
    EXPECT_EQ(distribution_refusal(
                  "family = \"normal\", cv = 0.1, slow_probability = 0.1, slow_excess = 4.5, cap = 5"),
              "cap = 5 cuts off too much (the slowest mode is at 5.5); write for example cap = 12");
    EXPECT_EQ(distribution_refusal(
                  "family = \"normal\", cv = 0.1, slow_probability = 0.8, slow_excess = 1.0, cap = 2"),
              "accepted");
    EXPECT_EQ(distribution_refusal("family = \"normal\", cv = 0.1, cap = 0.75"),
              "cap = 0.75 is not in (1, 1000000] (largest factor relative to the family's mean or median); "
              "write for example 20");
    EXPECT_EQ(
        distribution_refusal("family = \"empirical\", values = [0.001, 1, 1, 1], cap = 1.2"),
        "cap = 1.2 cuts off too much (65 % of the distribution lies beyond it); write for example cap = 2");
}

TEST(ScenarioRefuses, TensorParallelDegreesThatDivideNoHeads)
{
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = [1, 12]"),
                AllOf(StartsWith("tp = 12 is infeasible"), HasSubstr("64 heads of block \"attention\""),
                      EndsWith("; try 8 or 16")));
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = [1,\n 128]", 1),
                AllOf(StartsWith("tp = 128 is infeasible"), EndsWith("; try 64")));
    const std::string grouped = with("\"gpt-22b\"", "\"gpt-22b\"\nheads = 96\nkv_heads = 6");
    try {
        parse_scenario(std::string(grouped).replace(grouped.find("tp = [8"), 7, "tp = [4"), "x.toml");
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("tp=4, 6 key/value heads of block \"attention\""),
                                        HasSubstr("; try 3 or 6")));
    }
}

/// Values that the rules of plans exclude whatever the other axes are.
TEST(ScenarioRefuses, ValuesThatFitNoPlan)
{
    struct Row {
        const char* line;
        Reason reason;
        const char* remedy;
        const char* network = "";
    };
    constexpr const char* experts = "\n[workload.experts]\ncount = 60\nactive = 4\nfeed_forward = 1408\n";
    for (const Row& row : {
             Row{"ep = [2]", Reason::no_experts, "write 1, or remove the axis"},
             Row{"etp = [2]", Reason::no_experts, "write 1, or remove the axis"},
             Row{"ep = [8]", Reason::experts_and_gpus, "write a divisor of the number of experts", experts},
             Row{"etp = [3]", Reason::experts_and_gpus, "write a divisor of the number of columns", experts},
             Row{"recomputed_layers = [48]", Reason::recomputed_layers,
                 "write 0 for all layers, or a smaller number"},
             Row{"spares = [0, 8]", Reason::spares_and_nodes, "write 7 or less"},
             Row{"crossing = [\"dp\"]", Reason::crossing, "remove the axis, or describe the buildings"},
             Row{"node_order = [\"packed\"]", Reason::no_known_nodes,
                 "write slow_nodes = [{ node = 3, factor = 1.2 }], or remove the axis"},
         }) {
        const std::string text = std::string(row.network) + "\n[space]\n" + row.line + "\n";
        const auto line = static_cast<int>(std::count(text.begin(), text.end(), '\n')) - 2;
        EXPECT_THAT(refusal("\n[space]\n", text, line),
                    AllOf(HasSubstr(" is infeasible (" + std::string(name(row.reason)) + ": "),
                          EndsWith("; " + std::string(row.remedy))));
        EXPECT_EQ(refusal("\n[space]\n", std::string(row.network) + "\n[space]\n", line), "accepted");
    }
}

TEST(ScenarioRefuses, BadAxes)
{
    EXPECT_EQ(refusal("pp = [1, 2]", "pp = [1, 2, 1]"),
              "pp = 1 is listed twice (each value counts once); remove one of the two");
    EXPECT_EQ(refusal("\"1f1b\", \"interleaved\"", "\"1f1b\", \"1f1b\""),
              "schedule = \"1f1b\" is listed twice (each value counts once); remove one of the two");
    EXPECT_EQ(refusal("pp = [1, 2]", "pp = []"),
              "pp = [] is empty (needs at least one value); write for example [8]");
    EXPECT_EQ(refusal("[\"1f1b\", \"interleaved\"]", "[]"),
              "schedule = [] is empty (needs at least one value); write for example [\"1f1b\"]");
    EXPECT_EQ(refusal("pp = [1, 2]", "pp = [1, \"2\"]"),
              "pp = \"2\" is a string (needs an integer); write for example 8");
    EXPECT_EQ(refusal("pp = [1, 2]", "pp = [0]"),
              "pp = 0 is not in [1, 10000] (pipeline stages); write for example 8");
    EXPECT_EQ(refusal("{ from = 16, to = 64, step = 16 }", "[32, 128]"),
              "gpus = 128 exceeds the cluster ([cluster] has 64 GPUs); write 64 or less");
    EXPECT_EQ(refusal("to = 64", "to = 80"),
              "to = 80 exceeds the cluster ([cluster] has 64 GPUs); write 64 or less");
    EXPECT_EQ(refusal("to = 64", "to = 60"),
              "to = 60 is not reached (steps of 16 from 16 must end at it); write 48 or 64");
    EXPECT_EQ(refusal("to = 64", "to = 8"),
              "to = 8 is not reached (steps of 16 from 16 must end at it); write 16 or 32");
    EXPECT_EQ(
        refusal("step = 16", "step = 0"),
        "step = 0 is not in [1, 10000000] (difference between consecutive values); write for example 2048");
    EXPECT_EQ(refusal("from = 16, to = 64, step = 16", "from = 1, to = 9000000, step = 1"),
              "step = 1 is too small (it gives more than 100000 values); write 90 or more");
}

TEST(ScenarioRefuses, AxesInUnknownSteps)
{
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = { from = 1, to = 8 }"),
                StartsWith("to = 8 needs a step or a factor"));
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = { from = 1, to = 8, step = 1, factor = 2 }"),
                StartsWith("to = 8 needs a step or a factor"));
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = { from = 0, to = 8, factor = 2 }"),
                StartsWith("from = 0 cannot be zero with a factor"));
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = { from = 0, to = 8, step = 8 }"),
                StartsWith("to = 8 reaches 0, which is not in"));
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = { from = 1, to = 6, factor = 2 }"),
                StartsWith("to = 6 is not reached"));
    EXPECT_EQ(refusal("tp = [8, 1, 2]", "tp = { from = 1, to = 8, factor = 2 }"), "accepted");
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = { from = 1, to = 8, step = 1 }"),
                StartsWith("to = 8 reaches 3, which is infeasible"));
}

/// Jobs that fill no whole number of domains are plans as others are.
TEST(ScenarioRefuses, NoJobsOnFractionsOfDomains)
{
    EXPECT_EQ(refusal("gpus = { from = 16, to = 64, step = 16 }", "gpus = [12, 60]"), "accepted");
}

/// What a later phase says of its schedule, its chunks and its stages must go together.
TEST(ScenarioRefuses, ChunksThatContradictThePhasesSchedule)
{
    const auto verdict = [](const std::string& own) {
        return refusal("[cluster]\n", "[[phase]]\ntokens = 1e9\nsequence_length = 2048\nglobal_batch = 64\n" +
                                          own + "[cluster]\n");
    };
    EXPECT_EQ(verdict("schedule = \"1f1b\"\n"), "accepted");
    EXPECT_THAT(verdict("v = 2\nschedule = \"1f1b\"\n"),
                HasSubstr("v = 2 contradicts schedule = \"1f1b\" in line 20"));
    EXPECT_THAT(verdict("v = 1\nschedule = \"interleaved\"\n"),
                HasSubstr("v = 1 contradicts schedule = \"interleaved\""));
    EXPECT_EQ(verdict("v = 2\nschedule = \"interleaved\"\n"), "accepted");
    EXPECT_EQ(verdict("v = 2\n"), "accepted");
    EXPECT_EQ(verdict("pp = 1\nv = 1\nschedule = \"gpipe\"\n"), "accepted");
    EXPECT_THAT(verdict("pp = 1\nv = 2\n"), HasSubstr("v = 2 contradicts pp = 1 in line 19"));
    EXPECT_THAT(verdict("schedule = \"zb_h1\"\npp = 1\n"), HasSubstr("contradicts pp = 1 in line 20"));
}

TEST(ScenarioRefuses, BadSearchSettings)
{
    EXPECT_EQ(refusal("fleets = 256", "fleets = 100"),
              "fleets = 100 is not a multiple of 64 (fleets are drawn in blocks); try 64 or 128");
    EXPECT_EQ(refusal("fleets = 256", "fleets = 64"),
              "fleets = 64 is not more than in the previous rung (each rung adds fleets); write 128 or more");
    EXPECT_EQ(
        refusal("fleets = 256, steps = 2", "fleets = 256, steps = 4"),
        "steps = 4 differs from the previous rung (a rung extends the draws of the previous one); write 2");
    EXPECT_EQ(refusal("confirm = {", "confidence = 1.0\nconfirm = {"),
              "confidence = 1.0 is not in [0.5, 1) (confidence level of the study, simultaneous for all "
              "comparisons); write for "
              "example 0.95");
    EXPECT_EQ(refusal("\"cost\"]", "\"training_time_p99\"]"),
              "minimise = \"training_time_p99\" is listed twice (each objective counts once); remove one of "
              "the two");
}

TEST(ScenarioRefuses, PhasesOnGpusThatAreNotThere)
{
    EXPECT_EQ(refusal("global_batch = 512", "global_batch = 512\ngpus = 64", 1),
              "gpus = 64 is not allowed in the first phase (the first phase runs the plan of [space] "
              "unchanged); give it in "
              "[space] or in a later phase");
    const std::string second =
        "global_batch = 512\n\n[[phase]]\ntokens = 1e9\nsequence_length = 8192\nglobal_batch = 128\ncp = "
        "2\ngpus = ";
    EXPECT_EQ(parse_scenario(with("global_batch = 512", second + "32"), "x.toml").phases.at(1).own.gpus, 32);
    EXPECT_THAT(refusal("global_batch = 512", second + "128"),
                HasSubstr("has a phase on 128 GPUs ([cluster] has 64 GPUs); give that phase fewer GPUs"));
    EXPECT_THAT(refusal("global_batch = 512", second + "32\ntp = 3"),
                AllOf(HasSubstr("has a phase with tp = 3 (" + std::string(name(Reason::tp_and_blocks))),
                      EndsWith("; try 2 or 4")));
    EXPECT_THAT(refusal("global_batch = 512", second + "32\nschedule = \"1f2b\"", 7),
                HasSubstr("schedule = \"1f2b\" is not one of gpipe"));
}

TEST(ScenarioRefuses, CapsOfOpsThatAreTooFar)
{
    EXPECT_THAT(refusal("profile = \"hpc-2024\"",
                        "profile = \"hpc-2024\"\noperation = { family = \"lognormal\", cv = 2, cap = 2000 }",
                        1),
                HasSubstr("write cap = 1000 or less"));
}

TEST(ScenarioRefuses, BadFailures)
{
    EXPECT_EQ(refusal("node_failure_rate = \"8.64e-3 /day\"", "node_failure_rate = 6.5"),
              "node_failure_rate = 6.5 has no unit (needs events per unit of time); write \"6.5 /day\"");
    const auto cause = [](const std::string& lines) {
        return "\n[[reliability.cause]]\n" + lines + "\n[space]";
    };
    EXPECT_EQ(refusal("\n[space]", cause("name = \"disk\"\nrate = 6.5\nrestart = \"1 min\""), 3),
              "rate = 6.5 has no unit (needs events per unit of time); write \"6.5 per 1000 node-days\"");
    EXPECT_EQ(refusal("\n[space]",
                      cause("name = \"disk\"\nrate = \"6.5 per 1000 nodes\"\nrestart = \"1 min\""), 3),
              "rate = \"6.5 per 1000 nodes\" has the unknown unit \"per 1000 nodes\" (needs events per unit "
              "of time); use one of "
              "/h, /day, per node-day, per 1000 node-days, per GPU-day, per 1000 GPU-days, per unit-day, "
              "per 1000 unit-days, per job-day");
    EXPECT_EQ(
        refusal("\n[space]", cause("name = \"disk\"\nrate = \"2.42e-3 /day\"\nrestart = \"1 min\""), 3),
        "rate = \"2.42e-3 /day\" does not say what fails at this rate (a node, a GPU, a unit of a tier, or "
        "the job "
        "regardless of its size); "
        "write for example \"6.50 per 1000 node-days\", \"8.1e-4 per GPU-day\" or \"0.87 per job-day\"");
    EXPECT_THAT(refusal("\n[space]",
                        cause("name = \"power\"\nrate = \"0.5 per unit-day\"\nrestart = \"1 min\""), 1),
                HasSubstr("tier"));
    EXPECT_THAT(
        refusal("\n[space]",
                cause("name = \"power\"\nrate = \"0.5 per unit-day\"\ntier = \"row\"\nrestart = \"1 min\""),
                4),
        HasSubstr("is no tier of nodes (failures of a unit take its nodes); use one of "));
    EXPECT_THAT(
        refusal("\n[space]",
                cause("name = \"power\"\nrate = \"0.5 per node-day\"\ntier = \"row\"\nrestart = \"1 min\""),
                4),
        HasSubstr("applies to rates per unit only"));
    EXPECT_THAT(refusal("node_failure_rate = \"8.64e-3 /day\"",
                        "node_failure_rate = \"8.64e-3 /day\"\nswitch_time = \"1 min\"", 1),
                HasSubstr("applies to hot spares and fewer replicas only"));
    EXPECT_THAT(
        refusal("node_failure_rate = \"8.64e-3 /day\"", "node_failure_rate = \"3 per job-day\""),
        HasSubstr(
            "is not a rate per node (node_failure_rate counts failures of nodes); give it as the rate of a "
            "[[reliability.cause]]"));
    EXPECT_EQ(refusal("\n[space]", cause("name = \"disk\"\nrate = \"1 per job-day\""), 1),
              "[cause] has no 'restart' (this key is required); add restart = \"10 min\"");
    EXPECT_EQ(refusal("\n[space]", cause("name = \"disk\"\nrate = \"1 per job-day\"\ngaps = \"weibul\""), 4),
              "gaps = \"weibul\" is not one of exponential, gamma, weibull, constant (distribution of the "
              "gaps between "
              "failures); did you "
              "mean \"weibull\"?");
    EXPECT_EQ(refusal("\n[space]",
                      cause("name = \"disk\"\nrate = \"1 per job-day\"\ngaps = \"gamma\"\ngap_cv = "
                            "2\ngap_nodes = 400\nrestart = \"1 min\""),
                      6),
              "gap_nodes = 400 applies to rates per node or GPU only (a rate per job does not depend on the "
              "number of nodes); remove "
              "it");
    EXPECT_EQ(refusal("checkpoint_write = \"30 s\"", "checkpoint_write = \"30 s\"\nspares = 8", 1),
              "spares = 8 leaves no node for the job (the cluster has 8 nodes of 8 GPUs); write 7 or less");
    EXPECT_EQ(
        refusal("checkpoint_interval = \"0 s\"",
                "checkpoint_mode = \"asynchronous\"\nsnapshot = \"2 s\"\ncheckpoint_interval = \"20 s\"", 2),
        "checkpoint_interval = \"20 s\" is shorter than a checkpoint write (checkpoints are written one "
        "after the other); "
        "write \"30 s\" or more");
    // 6 * 22e9 parameters * 3e11 tokens / (0.01 * 312e12 * 16 GPUs) is 25 years, days for seconds are more.
    EXPECT_THAT(
        refusal("checkpoint_interval = \"0 s\"", "checkpoint_interval = \"18000 day\""),
        HasSubstr("is longer than any run (at 1 % of the peak on the fewest GPUs the training takes 9"));
    EXPECT_EQ(refusal("checkpoint_interval = \"0 s\"", "checkpoint_interval = \"1800 day\""), "accepted");
    EXPECT_THAT(refusal("tp = [8, 1, 2]", "tp = [8, 1, 2]\ncheckpoint_interval = [\"1 h\", \"18000 day\"]",
                        1),
                HasSubstr("= \"18000 day\" is longer than any run"));
    EXPECT_THAT(refusal("source = \"assumption\"\n\n[space]",
                        "checkpoint_mode = \"asynchronous\"\nsnapshot = \"2 s\"\n[space]\n"
                        "checkpoint_interval = [\"1 h\", \"20 s\"]",
                        3),
                HasSubstr("= \"20 s\" is shorter than a checkpoint write"));
    EXPECT_EQ(refusal("checkpoint_interval = \"0 s\"", "checkpoint_interval = \"often\""),
              "checkpoint_interval = \"often\" does not begin with a number (needs a duration); write for "
              "example \"30 min\"");
    EXPECT_EQ(refusal("\"cost\"]", "\"miss_probability\"]"),
              "minimise = \"miss_probability\" needs a deadline (it is the probability that the training "
              "takes longer); add deadline = "
              "\"60 day\" to [objectives]");
    EXPECT_EQ(refusal("[space]", "[power]\ncarbon = 2\n[space]", 1),
              "carbon = 2 has no unit (needs carbon dioxide per unit of energy); write \"2 kg/kWh\"");
    EXPECT_THAT(refusal("[space]", "[power]\nidle_share = 0.95\n[space]", 1),
                HasSubstr("is larger than board_share"));
    EXPECT_EQ(refusal("[space]", "[power]\nboard_share = 0.1\n[space]", 1), "accepted");
    EXPECT_EQ(
        refusal("[space]", "[power]\nelectricity_price = 0.08\n[space]", 1),
        "electricity_price = 0.08 has no unit (needs US dollars per unit of energy); write \"0.08 USD/kWh\"");
}

TEST(ScenarioRefuses, UnclearLimitsOfAQuestion)
{
    const auto asked = [](const std::string& keys) {
        return refusal("[space]", "[question]\n" + keys + "\n[space]", 1);
    };
    EXPECT_EQ(asked("power_limit = \"20 MW\"\npower_limit_of = \"cluster\""), "accepted");
    EXPECT_THAT(asked("power_limit_of = \"cluster\""), HasSubstr("is given without power_limit"));
    EXPECT_THAT(asked("power_limit = \"20 MW\"\npower_limit_of = \"rack\""), HasSubstr("job"));
    EXPECT_EQ(asked("budget = 40000000"), "accepted");
    EXPECT_EQ(asked("budget = \"40 M USD\""), "accepted");
    EXPECT_EQ(asked("budget = \"40 million\""),
              "budget = \"40 million\" has the unknown suffix \"million\" (needs US dollars); write 40e6, "
              "\"40e6 USD\", \"40 M USD\" "
              "or \"40M\" for forty million (k, M or B)");
    EXPECT_THAT(asked("budget = \"-1 USD\""), HasSubstr("is not in (0"));
}

TEST(ScenarioRefuses, WhatIsNotToml)
{
    EXPECT_THAT(refusal("gpus = 64", "gpus = 64 GPUs"), StartsWith("gpus = 64 GPUs is not valid TOML ("));
    EXPECT_THAT(refusal("gpus = 64", "gpus = 64 GPUs"),
                HasSubstr("); correct the line: strings and quantities need quotes, as in bandwidth = \"450 "
                          "GB/s\", a key may "
                          "appear only once, and quotes and brackets must be closed"));
    EXPECT_THAT(refusal("seed = 7", "name = \"again\""), StartsWith("name = \"again\" is not valid TOML ("));
    EXPECT_THAT(refusal("[memory]", "[memory"), StartsWith("[memory is not valid TOML ("));
    EXPECT_THAT(refusal("seed = 7", "start = 2027-02-30"),
                testing::AllOf(StartsWith("start = 2027-02-30 is not valid TOML ("),
                               HasSubstr("); write a day of the calendar, as in start = 2027-01-15")));
    EXPECT_EQ(refusal("seed = 7", std::string("seed\0 = 7", 9)),
              "the file is binary (it contains a zero byte); give a scenario in TOML");
    EXPECT_THROW(parse_scenario("", "x.toml"), InputError);
    EXPECT_THROW(parse_scenario(std::string(100'000, '['), "x.toml"), InputError);
    EXPECT_THROW(parse_scenario("a = " + std::string(100'000, '['), "x.toml"), InputError);
    EXPECT_THROW(parse_scenario("name = \"\xff\xfe\"", "x.toml"), InputError);
}

/// Cut anywhere, a scenario is refused or complete, and nothing else happens.
TEST(ScenarioRefuses, TruncatedFiles)
{
    int accepted = 0;
    for (std::size_t size = 0; size < good.size(); ++size) {
        try {
            parse_scenario(good.substr(0, size), "x.toml");
            ++accepted;
        } catch (const InputError& error) {
            ASSERT_THAT(error.what(), StartsWith("x.toml:"));
        }
    }
    EXPECT_LT(accepted, 150);  // what follows [objectives] has defaults
    EXPECT_GT(accepted, 0);
}

/// Whatever a hand or a disk does to a few bytes, the answer is a scenario or an InputError.
TEST(ScenarioRefuses, DamagedFiles)
{
    std::minstd_rand random(1);
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string text = good;
        for (int edits = 0; edits <= i % 3; ++edits) {
            const std::size_t at = random() % text.size();
            const std::size_t other = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = static_cast<char>(random() % 256); break;
                case 1: text.erase(at, 1 + random() % 20); break;
                case 2: text.insert(at, text.substr(other, 1 + random() % 20)); break;
                default: std::swap(text[at], text[other]); break;
            }
        }
        try {
            parse_scenario(text, "x.toml");
        } catch (const InputError& error) {
            ASSERT_THAT(error.what(), StartsWith("x.toml:"));
            ++refused;
        }
    }
    EXPECT_GT(refused, 1500);
    EXPECT_LT(refused, 3000);
}

TEST(ScenarioRefuses, UnreadableFiles)
{
    const auto message = [](const std::string& path) -> std::string {
        try {
            read_scenario(path);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    };
    const std::string advice = "); give the path of a scenario file, such as jobs/scenarios/small.toml";
    EXPECT_EQ(message("/no/such/scenario.toml"),
              "/no/such/scenario.toml: cannot be read (No such file or directory" + advice);
    EXPECT_EQ(message("/"), "/: cannot be read (it is a directory" + advice);
    EXPECT_EQ(message("/dev/zero"), "/dev/zero: cannot be read (it is not a regular file" + advice);
    const auto path = std::filesystem::path(testing::TempDir()) / "prismopt_scenario_test.toml";
    std::ofstream(path, std::ios::binary) << std::string("\x89HDF\r\n\x1a\n\0\0\0", 11);
    EXPECT_EQ(message(path.string()),
              path.string() + ":3: the file is binary (it contains a zero byte); give a scenario in TOML");
    std::ofstream(path, std::ios::binary) << std::string(5'000'000, ' ');
    EXPECT_EQ(message(path.string()),
              path.string() + ": cannot be read (it has 5000000 bytes; the limit is 4194304" + advice);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace prismopt
