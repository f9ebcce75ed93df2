#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/accuracy/model_accuracy.hpp"
#include "tests/io/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <set>

namespace prismopt {
namespace {

/// Rows of vTrain's large table that look disturbed: neighbours in every direction are a third faster.
const std::set<std::string> disturbed{"14", "16", "21", "27", "29", "33", "36", "61", "66"};

/// The table of a run and its row there, as printed: "vtrain_a100_multinode row 14: ...".
bool is_row(const CheckedRun& run, const std::string& table,
            const std::function<bool(const std::string&)>& row)
{
    const std::string name = run.run.row.substr(0, run.run.row.find(':'));
    return name.starts_with(table) && row(name.substr(name.rfind(' ') + 1));
}

bool is_disturbed(const CheckedRun& run)
{
    return is_row(run, "vtrain_a100_multinode",
                  [](const std::string& row) { return disturbed.contains(row); });
}

std::vector<const CheckedRun*> of_kind(const CheckedModel& checked, RunKind kind)
{
    std::vector<const CheckedRun*> runs;
    for (const CheckedRun& run : checked.runs) {
        if (run.run.fitted && kind_of(run.run.workload, run.run.cluster) == kind) {
            runs.push_back(&run);
        }
    }
    return runs;
}

/// Measured runs of the folder that PRISMOPT_DATA names, as jobs/normalise_measurements.py writes them, held
/// with a margin on what the fit reached.
TEST(MeasuredData, IsMatchedBySource)
{
    const char* folder = std::getenv("PRISMOPT_DATA");
    if (folder == nullptr) {
        GTEST_SKIP() << "PRISMOPT_DATA names no folder of measured runs";
    }
    const TemporaryFolder tables;
    const std::string command = fmt::format(
        "python3 " PRISMOPT_SOURCE_DIR "/jobs/normalise_measurements.py '{}' '{}'", folder, tables.file(""));
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    const CheckedModel checked = check_model(with_folder(shipped_runs(), tables.file("")));
    std::map<std::string, std::vector<const CheckedRun*>> sources;
    std::vector<const CheckedRun*> fitted;
    // of these, runs on more than one machine, or of other sources than the sweep of one
    std::vector<const CheckedRun*> nodes;
    for (const CheckedRun& run : checked.runs) {
        if (!is_disturbed(run)) {
            sources[run.run.source].push_back(&run);
        }
        if (run.run.fitted) {
            fitted.push_back(&run);
        }
        // The others have bounds of their own.
        const bool of_text = kind_of(run.run.workload, run.run.cluster) < RunKind::encoder;
        if (run.run.fitted && of_text && run.run.source != "vTrain, ground_truth_single.csv") {
            nodes.push_back(&run);
        }
    }
    const auto mean = [&](const std::string& source) {
        return accuracy_of(source, sources.at(source), 0).mean_absolute;
    };
    EXPECT_LT(mean("Korthikanti et al., arXiv 2205.05198"), 0.04);
    EXPECT_LT(mean("vTrain, ground_truth_multi.csv"), 0.08);
    EXPECT_LT(mean("vTrain, ground_truth_single.csv"), 0.07);
    EXPECT_LT(mean("BigScience, A100 topology"), 0.07);
    EXPECT_LT(mean("NVIDIA dgxc-benchmarking"), 0.07);
    // Recompute, CUDA graphs and exchanges of tokens differ by recipe.
    EXPECT_LT(mean("NVIDIA Megatron-Bridge"), 0.15);
    EXPECT_LT(mean("SimuMax, B200"), 0.04);
    EXPECT_LT(mean("Narayanan et al., SC21, arXiv 2104.04473"), 0.04);
    EXPECT_LT(mean("llm-foundry, MPT"), 0.04);
    EXPECT_LT(mean("NVIDIA NeMo 24.07"), 0.04);
    for (const char* source : {"Megatron-LM, functional tests", "InternEvo, 7B",
                               "Zero Bubble, arXiv 2401.10241", "fms-fsdp, Llama 2", "BigScience, V100"}) {
        EXPECT_LT(mean(source), 0.07) << source;
    }
    // Selective recompute repeats products, too, which the next fit of all constants will know.
    EXPECT_LT(mean("torchtitan, Llama 3.1 8B"), 0.085);
    const auto memory = [&](const std::string& source) {
        return accuracy_of(source, sources.at(source), 0).memory_error;
    };
    EXPECT_LT(memory("SimuMax, B200"), 0.01);
    EXPECT_LT(memory("Zero Bubble, arXiv 2401.10241"), 0.045);
    EXPECT_LT(memory("BigScience, A100 topology"), 0.065);
    EXPECT_LT(memory("torchtitan, Llama 3.1 8B"), 0.05);
    const SourceAccuracy several = accuracy_of("all but the sweep of one node", nodes, 0);
    EXPECT_GT(several.rows, 450U);
    // With one host cost for the releases of one trainer, by hand until the next fit of all
    // constants (0.063 and 0.041 before).
    EXPECT_LT(several.mean_absolute, 0.0635);
    EXPECT_LT(several.median_absolute, 0.0425);
    EXPECT_LT(several.memory_error, 0.10);
    const SourceAccuracy all = accuracy_of("all", fitted, 0);
    EXPECT_LT(all.mean_absolute, 0.066);
    EXPECT_LT(all.median_absolute, 0.0455);
    // 95 % model intervals: of rows weighted by source, as the scatter is found; the sweep of one node
    // has wider errors and most rows.
    EXPECT_GT(all.inside, 0.90);
    EXPECT_GT(several.inside, 0.94);
    std::map<std::string, SourceAccuracy> kinds;
    for (const SourceAccuracy& kind : accuracy_by_kind(checked)) {
        kinds[kind.name] = kind;
    }
    // Of all rows, judged or not.
    const SourceAccuracy dense = accuracy_of("dense, 16 bits or more", of_kind(checked, RunKind::dense), 0);
    EXPECT_LT(dense.mean_absolute, 0.059);
    EXPECT_LT(dense.median_absolute, 0.041);  // 0.0405 before boards of one chip shared their constants
    // 0.051 before torchtitan repeated products.
    EXPECT_LT(kinds.at("all: dense, fewer than 16 bits").mean_absolute, 0.053);
    EXPECT_GE(kinds.at("all: mixtures of experts").rows, 84U);
    EXPECT_LT(kinds.at("all: mixtures of experts").mean_absolute, 0.078);
    EXPECT_GE(kinds.at("all: diffusion, BERT, T5").rows, 90U);
    EXPECT_LT(kinds.at("all: diffusion, BERT, T5").mean_absolute, 0.097);
    EXPECT_GE(kinds.at("all: TPU and Trainium").rows, 30U);
    EXPECT_LT(kinds.at("all: TPU and Trainium").mean_absolute, 0.06);
    EXPECT_GE(kinds.at("all: hybrids and windows").rows, 38U);
    EXPECT_LT(kinds.at("all: hybrids and windows").mean_absolute, 0.05);
}

}  // namespace
}  // namespace prismopt
