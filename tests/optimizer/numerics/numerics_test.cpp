#include "io/toml/catalog_file.hpp"
#include "optimizer/numerics/numerics_text.hpp"
#include "optimizer/numerics/training_cases.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace prismopt {
namespace {

using testing::HasSubstr;

const NumericsRun run{
    .command = "prismopt numerics", .seed = 7, .seconds = 12.4, .processor_seconds = 20.1, .threads = 2};

NumericsTable small_attention()
{
    return attention_table({.formats = {*number_format("bf16"), *number_format("nvfp4")},
                            .tiles = {{16, 16}, {32, 16}},
                            .sequences = {48},
                            .head = 16},
                           1);
}

/// Two formats, two arithmetics; plain attention once, flash with each tile.
TEST(NumericsStudy, HasARowForEachCombination)
{
    const NumericsTable table = small_attention();
    ASSERT_EQ(table.rows.size(), 2U * 2U * 3U);
    std::set<std::string> cases;
    for (const auto& row : table.rows) {
        cases.insert(row["format"].dump() + row["arithmetic"].dump() + row["kernel"].dump() +
                     row["tile"].dump());
        for (const char* column : {"forward_rms", "forward_max", "backward_rms", "backward_max"}) {
            EXPECT_GT(row[column].get<double>(), 0.0) << row.dump();
        }
        EXPECT_GE(row["forward_max"].get<double>(), row["forward_p99"].get<double>());
    }
    EXPECT_EQ(cases.size(), table.rows.size());
}

TEST(NumericsStudy, NamesItsExperimentsOnce)
{
    std::set<std::string> names;
    for (const NumericsExperiment& experiment : numerics_experiments()) {
        EXPECT_TRUE(names.insert(experiment.name).second);
        EXPECT_THAT(numerics_experiment_names(), HasSubstr(experiment.name));
    }
}

TEST(NumericsStudy, ComparesTrainingsThatItRuns)
{
    std::set<std::string> names;
    for (const NamedChoice& choice : training_choices()) {
        EXPECT_TRUE(names.insert(choice.name).second);
    }
    for (const TrainingPair& pair : training_pairs()) {
        EXPECT_EQ(names.count(pair.choice), 1U) << pair.name;
        EXPECT_EQ(names.count(pair.reference), 1U) << pair.name;
    }
    const TrainingShape tiny{.vocabulary = 4, .sequence = 8, .width = 16, .batch = 2};
    const auto distances = weight_distances(tiny, 4, 2, 2, 1);
    ASSERT_EQ(distances.size(), training_pairs().size());
    for (const PairDistances& pair : distances) {
        ASSERT_EQ(pair.at.size(), 2U);
        EXPECT_EQ(pair.at[0].step, 2);
        EXPECT_EQ(pair.at[1].step, 4);
        EXPECT_GT(pair.at[1].wasserstein, 0.0) << pair.name;
        EXPECT_GE(pair.at[1].largest, pair.at[1].wasserstein) << pair.name;
    }
}

TEST(NumericsStudy, StatesOnlyWhatItsTablesShow)
{
    EXPECT_TRUE(paper_table({small_attention()}).rows.empty());
    NumericsTable rounded{"rounded", "", "", {}};
    for (const auto& [kernel, largest] : {std::pair{"plain", 0.5}, std::pair{"flash", 2.0}}) {
        rounded.rows.push_back({{"format", "bf16"},
                                {"arithmetic", "all-rounded"},
                                {"inputs", "uniform"},
                                {"kernel", kernel},
                                {"forward_max", largest},
                                {"forward_rms", 0.1}});
    }
    const auto statements = paper_table({rounded}).rows;
    ASSERT_EQ(statements.size(), 2U);
    EXPECT_THAT(statements[1]["here"].get<std::string>(), HasSubstr("4.0 times (maximum), 1.0 times (RMS)"));
}

TEST(NumericsText, OmitsColumnsThatDoNotVaryAndNamesTheirValues)
{
    const NumericsTable table{"sums",
                              "Sums",
                              "A note.",
                              {{{"format", "bf16"}, {"terms", 256}, {"sum_rms", 0.5}},
                               {{"format", "bf16"}, {"terms", 1024}, {"sum_rms", nullptr}}}};
    const std::string markdown = numerics_markdown({table}, run);
    EXPECT_THAT(markdown, HasSubstr("Written by `prismopt numerics`"));
    EXPECT_THAT(markdown, HasSubstr("Computed in 12 s by 2 threads (20 s of processor time)."));
    EXPECT_THAT(
        markdown,
        HasSubstr(
            "## Sums\n\nA note.\n\nAll: format bf16.\n\n| terms | sum rms |\n| ---: | ---: |\n| 256 | 0.5 |\n"
            "| 1024 | not finite |\n"));
    const std::string text = numerics_text({table}, run);
    EXPECT_THAT(text, HasSubstr("terms     sum rms\n256           0.5\n1024   not finite\n"));
    const auto json = numerics_json({table}, run);
    EXPECT_EQ(json["tables"]["sums"].size(), 2U);
    EXPECT_EQ(json["seed"], 7);
}

TEST(NumericsText, WritesTheDataFileOfTheCatalog)
{
    NumericsTable linear{"linear", "", "", {}};
    for (const char* inputs : {"normal", "outliers"}) {
        linear.rows.push_back({{"format", "mxfp4"},
                               {"rounding", "nearest-even"},
                               {"inputs", inputs},
                               {"forward_rms", 0.125},
                               {"gradients_rms", nullptr}});
    }
    const NumericsTable attention{"attention",
                                  "",
                                  "",
                                  {{{"format", "bf16"},
                                    {"kernel", "flash"},
                                    {"tile", "128x128"},
                                    {"forward_rms", 0.002},
                                    {"backward_rms", 0.003}}}};
    EXPECT_THAT(numerics_toml({attention, linear}, run),
                HasSubstr("seed = 7\nattention = [\n    { format = \"bf16\", kernel = \"flash\", tile = "
                          "\"128x128\", forward = 0.002, backward = 0.003 },\n]\nlinear = [\n    { format = "
                          "\"mxfp4\", forward = 0.125, "
                          "gradients = inf },\n]\n"));
}

/// Attention of both kernels and linear layers.
TEST(NumericsCatalog, HasEachFormat)
{
    const auto files = catalog_files();
    const auto file = std::find_if(files.begin(), files.end(),
                                   [](const EmbeddedFile& of) { return of.name == "numerics.toml"; });
    ASSERT_NE(file, files.end());
    for (const NumberFormat& format : number_formats) {
        const std::string row = fmt::format("{{ format = \"{}\", ", format.name);
        EXPECT_THAT(file->text, HasSubstr(row + "kernel = \"plain\""));
        EXPECT_THAT(file->text, HasSubstr(row + "kernel = \"flash\""));
        EXPECT_THAT(file->text, HasSubstr(row + "forward = "));
    }
}

}  // namespace
}  // namespace prismopt
