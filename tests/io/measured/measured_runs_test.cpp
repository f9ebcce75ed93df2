#include "io/measured/measured_runs.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/measured/measured_collectives.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "tests/io/good_scenario.hpp"
#include "tests/io/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace prismopt {
namespace {

using testing::HasSubstr;
using Columns = std::map<std::string, std::string>;

const Columns of_catalog{
    {"network", "llama3-8b"},    {"sequence", "8192"},       {"global_batch", "64"},   {"gpus", "16"},
    {"accelerator", "h100-sxm"}, {"stack", "megatron-core"}, {"node_link", "nvlink4"}, {"node", "8"},
    {"network_link", "ib-ndr"},  {"design", "tp=2"},         {"step_time_s", "3.5"}};
const Columns of_own_shape{{"network", "GPT 3.6B"}, {"layers", "30"},          {"hidden", "3072"},
                           {"heads", "32"},         {"feed_forward", "12288"}, {"vocabulary", "50257"},
                           {"activation", "gelu"}};

/// The columns of the first with those of `changes`, which replace them.
Columns with(Columns columns, const Columns& changes)
{
    for (const auto& [column, text] : changes) {
        columns[column] = text;
    }
    return columns;
}

RunRow read_columns(const Columns& columns) { return read_run_row(CsvRow(columns), "/tables/own.csv", 3); }

MeasuredRun run_of(const Columns& columns)
{
    const RunRow row = read_columns(columns);
    EXPECT_EQ(row.skipped, "");
    return row.run;
}

TEST(RunRows, NameANetworkAndAMachineOfTheCatalog)
{
    const RunRow row = read_columns(with(of_catalog, {{"precision", "fp8"}, {"memory_gb", "61"}}));
    ASSERT_EQ(row.skipped, "");
    EXPECT_EQ(row.run.workload.name, "llama3-8b");
    EXPECT_EQ(row.run.workload.precision, Precision::fp8);
    EXPECT_EQ(row.run.phase().sequence, 8192);
    EXPECT_EQ(row.run.cluster.accelerator.name, "h100-sxm");
    EXPECT_EQ(row.run.cluster.stack.name, "megatron-core");
    ASSERT_EQ(row.run.cluster.tiers.size(), 2U);
    EXPECT_EQ(row.run.cluster.tiers.back().group_gpus, 16);
    EXPECT_EQ(row.space.gpus, std::vector{16});
    EXPECT_EQ(row.design, "tp=2");
    EXPECT_TRUE(row.sequence_parallel);
    EXPECT_EQ(row.run.measured_s, 3.5);
    EXPECT_EQ(row.run.memory_bytes, 61e9);
    EXPECT_EQ(row.run.source, "own");
    EXPECT_EQ(row.run.row, "row 3");
    EXPECT_EQ(row.run.line, "llama3");
    EXPECT_TRUE(row.run.fitted);
}

TEST(RunRows, GiveTheShapeOfANetwork)
{
    const Columns dense = with(of_catalog, of_own_shape);
    const MeasuredRun run = run_of(with(dense, {{"attention", "plain"}, {"dropout", "yes"}}));
    EXPECT_EQ(run.workload.layers(), 30);
    EXPECT_EQ(run.workload.find<AttentionBlock>()->kv_heads, 32);  // not given: multi-head attention
    EXPECT_FALSE(run.workload.fuses_attention());
    EXPECT_TRUE(run.workload.dropout);
    const MeasuredRun mixture = run_of(with(dense, {{"experts", "8"},
                                                    {"experts_active", "2"},
                                                    {"expert_size", "16384"},
                                                    {"capacity", "1.25"},
                                                    {"dense_layers", "2"}}));
    EXPECT_EQ(mixture.workload.find<ExpertsBlock>()->count, 8);
    EXPECT_EQ(mixture.workload.find<ExpertsBlock>()->capacity, 1.25);
    EXPECT_EQ(mixture.workload.sequence.front().count, 2);
}

TEST(RunRows, ShortenNetworksOfTheCatalog)
{
    EXPECT_EQ(run_of(with(of_catalog, {{"layers", "12"}})).workload.layers(), 12);
    const MeasuredRun mixture =
        run_of(with(of_catalog, {{"network", "deepseek-v3"}, {"layers", "4"}, {"dense_layers", "1"}}));
    EXPECT_EQ(mixture.workload.layers(), 4);
    EXPECT_EQ(mixture.workload.sequence.front().count, 1);
}

TEST(RunRows, WithAdaptersTrainNothingElse)
{
    const MeasuredRun run = run_of(with(of_catalog, {{"adapter_rank", "16"}}));
    EXPECT_EQ(run.workload.adapter_rank, 16);
    EXPECT_TRUE(run.workload.frozen_ends);
    EXPECT_TRUE(run.workload.kinds.front().frozen);
}

TEST(RunRows, DescribeToriAndCores)
{
    const Columns torus = with(of_catalog, {{"accelerator", "tpu-v6e"},
                                            {"stack", "maxtext"},
                                            {"node_link", "ici-v6e"},
                                            {"network_link", "dcn-tpu"}});
    const MeasuredRun slice = run_of(with(torus, {{"gpus", "128"}, {"node", "8x16"}, {"closed", "16"}}));
    EXPECT_EQ(slice.cluster.tiers.front().topology, Topology::torus);
    EXPECT_THAT(slice.cluster.tiers.front().shape, testing::ElementsAre(8, 16));
    EXPECT_THAT(slice.cluster.tiers.front().wrap, testing::ElementsAre(false, true));
    EXPECT_EQ(slice.cluster.tiers.size(), 1U);
    const Accelerator chip = catalog_accelerator("trainium1");
    const MeasuredRun half = run_of(
        with(of_catalog, {{"accelerator", "trainium1"}, {"cores", "2"}, {"network_link", "efa-800g-16"}}));
    EXPECT_DOUBLE_EQ(half.cluster.accelerator.peak_bf16.si, chip.peak_bf16.si / 2);
    EXPECT_DOUBLE_EQ(half.cluster.accelerator.memory.si, chip.memory.si / 2);
    EXPECT_EQ(half.cluster.accelerator.multiprocessors, chip.multiprocessors / 2);
    EXPECT_LT(half.cluster.tiers.back().bandwidth.si, catalog_link("efa-800g-16").bandwidth.si);
}

struct WrongColumn {
    Columns columns;
    std::string reason;
};

/// A value that is wrong or has no effect is named with what to write.
TEST(RunRows, SayWhatIsWrong)
{
    const Columns shape = with(of_catalog, of_own_shape);
    const std::vector<WrongColumn> cases{
        {with(of_catalog, {{"step_time_s", ""}}), "no step time: give step_time_s, such as 12.9"},
        {with(of_catalog, {{"step_time_s", "abc"}}), "step_time_s is \"abc\""},
        {with(of_catalog, {{"step_time_s", "inf"}}), "step_time_s is \"inf\""},
        {with(of_catalog, {{"step_time_s", "1e9"}}),
         "not plausible; give the seconds of an optimizer step, such as 12.9"},
        {with(of_catalog, {{"memory_gb", "-5"}}), "memory_gb is \"-5\""},
        {with(of_catalog, {{"memory_basis", "total"}}), "reserved"},
        {with(of_catalog, {{"network", "llama3-9b"}}), "did you mean \"llama3-8b\"?"},
        {with(of_catalog, {{"network_link", "ib-nrd"}}), "network_link: \"ib-nrd\" is not in the catalog"},
        {with(of_catalog, {{"network", ""}}),
         "no network: give it, such as llama3-70b (prismopt init --list workloads)"},
        {with(of_catalog, {{"sequence", ""}}),
         "no sequence: give it, such as 8192, or give the job by a scenario file"},
        {with(of_catalog, {{"network_link", ""}}),
         "no network_link: give it, such as ib-ndr (prismopt init --list links)"},
        {with(of_catalog, {{"gpus", "many"}}), "gpus is \"many\""},
        {with(of_catalog, {{"node", "eight"}}), "node is \"eight\""},
        {with(of_catalog, {{"node", "4x4"}}), "no closed"},
        {with(of_catalog, {{"closed", "4"}}),
         "leave it empty, or give the shape of a torus in node, such as 4x4x8"},
        {with(of_catalog, {{"layers", "33"}}), "layers is \"33\"; give a whole number from 1 to 32"},
        {with(of_catalog, {{"heads", "32"}}), "give hidden"},
        {with(of_catalog, {{"capacity", "1"}}), "no experts"},
        {with(of_catalog, {{"precision", "fp7"}}), "precision is \"fp7\"; choose from fp32"},
        {with(of_catalog, {{"fitted", "maybe"}}), "write yes, no or nothing"},
        {with(of_catalog, {{"variability", "calm"}}), "\"calm\" is not in the catalog"},
        {with(of_catalog, {{"oversubscription", "7"}}), "oversubscription is \"7\""},
        {with(of_catalog, {{"scenario", "job.toml"}}),
         "the scenario says it; leave it empty, or give no scenario"},
        {with(shape, {{"activation", ""}}), "no activation"},
        {with(shape, {{"heads", "7"}}), "heads must divide hidden"},
        {with(shape, {{"experts_active", "2"}}), "the network has no experts"},
        {with(shape, {{"experts", "8"}}), "no experts_active"},
    };
    for (const WrongColumn& wrong : cases) {
        EXPECT_THAT(read_columns(wrong.columns).skipped, HasSubstr(wrong.reason));
    }
    EXPECT_EQ(read_columns({{"run", "first"}, {"skipped", "too\nold"}}).skipped, "too\\u000Aold");
}

/// A name up to its size; what no size ends is a line as a whole.
TEST(MeasuredRuns, OfALineOfModelsHaveItsName)
{
    for (const auto& [model, line] : {std::pair{"LLAMA3_70B", "llama3"},
                                      {"llama3-405b", "llama3"},
                                      {"MPT-30b", "mpt"},
                                      {"GPT (swept)", "gpt"},
                                      {"GPT 39.1B", "gpt"},
                                      {"nemotron-3-nano-30b-a3b", "nemotron 3 nano"},
                                      {"deepseek-v3", "deepseek v3"},
                                      {"BERT 345M", "bert"},
                                      {"7B", "7b"}}) {
        EXPECT_EQ(line_of(model), line) << model;
    }
}

TEST(MeasuredRuns, ThatShipCanBeRead)
{
    for (const RunRow& row : shipped_run_rows()) {
        EXPECT_EQ(row.skipped, "") << row.run.row;
    }
}

TEST(MeasuredRuns, HaveColumnsThatTheGuideExplains)
{
    const std::string guide = read_text(PRISMOPT_SOURCE_DIR "/docs/accuracy.md");
    for (const std::string& column : run_columns()) {
        EXPECT_THAT(guide, HasSubstr(fmt::format("`{}`", column)));
    }
}

class RunTablesOf : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder_.file(name)) << text;
    }
    RunTables tables() const { return read_run_tables(folder_.file("")); }
    std::string refusal() const
    {
        try {
            tables();
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }

    TemporaryFolder folder_;
};

TEST_F(RunTablesOf, ScenariosAreRelativeToTheirTable)
{
    write("job.toml", good);
    write("own.csv",
          "run,scenario,design,step_time_s,source,note of mine\n\"a\nall: 0 "
          "%\",job.toml,tp=4,13.5,s\u009b31m,x\n,missing.toml,tp=8,1,,\n");
    const RunTables read = tables();
    ASSERT_EQ(read.rows.size(), 2U);
    EXPECT_EQ(read.rows[0].skipped, "");
    EXPECT_EQ(read.rows[0].run.row, "a\\u000Aall: 0 %");  // names have no control characters
    EXPECT_EQ(read.rows[0].run.source, "s\\u009B31m");
    EXPECT_EQ(read.rows[0].run.phase().global_batch, 512);
    EXPECT_EQ(read.rows[1].run.row, "row 2");
    EXPECT_THAT(read.rows[1].skipped, HasSubstr("missing.toml"));
}

/// What a step time depends on, and nothing of the whole run, of its variability, its price and a search.
const std::string minimal = R"([workload]
model = "llama3-8b"

[[phase]]
sequence_length = 8192
global_batch = 64

[software]
name = "megatron-lm"

[cluster]
accelerator = "h100-sxm"
gpus = 16

[[cluster.tier]]
name = "node"
link = "nvlink4"
group = 8

[[cluster.tier]]
name = "cluster"
link = "ib-ndr"
)";

std::string without(std::string text, const std::string& removed)
{
    const std::size_t at = text.find(removed);
    EXPECT_NE(at, std::string::npos) << removed;
    return text.erase(at, removed.size());
}

TEST_F(RunTablesOf, AScenarioOfMeasuredStepsIsShort)
{
    write("job.toml", minimal);
    write("own.csv", "scenario,design,step_time_s\njob.toml,tp=2,3.5\n");
    const RunRow row = tables().rows.at(0);
    ASSERT_EQ(row.skipped, "");
    EXPECT_EQ(row.space.gpus, std::vector{16});
    EXPECT_EQ(row.run.cluster.stack.name, run_of(of_catalog).cluster.stack.name);
    EXPECT_DOUBLE_EQ(row.run.phase().steps(), 1.0);
    EXPECT_EQ(row.run.phase().global_batch, 64);
    EXPECT_EQ(row.run.assumed, "nothing: the scenario says all");
    write("job.toml", minimal + "\n[space]\ntp = [2, 4]\n");  // without gpus
    EXPECT_EQ(tables().rows.at(0).space.gpus, std::vector{16});
    EXPECT_EQ(tables().rows.at(0).space.tp, (std::vector{2, 4}));
    write("job.toml", without(minimal, "[software]\nname = \"megatron-lm\"\n\n"));
    EXPECT_THAT(tables().rows.at(0).run.assumed, testing::StartsWith("software: "));
    EXPECT_THROW(read_scenario(folder_.file("job.toml")), InputError);  // no study
}

/// Accelerators without a list price or a stated power have step times.
TEST_F(RunTablesOf, MeasuredStepsNeedNoPriceAndNoPower)
{
    const std::string tpu = std::string(minimal).replace(minimal.find("h100-sxm"), 8, "tpu-7x");
    write("job.toml", without(tpu, "[software]\nname = \"megatron-lm\"\n\n"));
    write("own.csv", "scenario,design,step_time_s\njob.toml,tp=2,3.5\n");
    EXPECT_EQ(tables().rows.at(0).skipped, "");
}

/// What a step time does depend on is asked for with an example.
TEST_F(RunTablesOf, ScenariosSayWhatToAdd)
{
    write("own.csv", "scenario,design,step_time_s\njob.toml,tp=2,3.5\n");
    const auto reason = [this](const std::string& removed) {
        write("job.toml", without(minimal, removed));
        return tables().rows.at(0).skipped;
    };
    EXPECT_THAT(reason("[workload]\nmodel = \"llama3-8b\"\n"),
                HasSubstr("add [workload] with model = \"llama3-8b\""));
    EXPECT_THAT(reason("model = \"llama3-8b\"\n"), HasSubstr("add model = "));
    EXPECT_THAT(reason("global_batch = 64\n"), HasSubstr("add global_batch = 2048"));
    EXPECT_THAT(reason("sequence_length = 8192\n"), HasSubstr("add sequence_length = 8192"));
    EXPECT_THAT(reason("gpus = 16\n"), HasSubstr("add gpus = "));
    EXPECT_THAT(reason("accelerator = \"h100-sxm\"\n"), HasSubstr("add accelerator = \"h100-sxm\""));
    EXPECT_THAT(reason("link = \"ib-ndr\"\n"), HasSubstr("add link = "));
}

TEST_F(RunTablesOf, OnlyTheHeadersOfOtherTablesAreRead)
{
    write("runs.csv", "design,step_time_s\n");
    write("other.csv", "model,notes\n");
    std::filesystem::resize_file(folder_.file("other.csv"), 2 * written_file_limit);
    EXPECT_THAT(tables().not_read, testing::ElementsAre("other.csv"));
}

TEST_F(RunTablesOf, WrongColumnsAreWrongInput)
{
    write("own.csv", "scenario,step_time_s\njob.toml,1\n");
    EXPECT_THAT(refusal(), HasSubstr("own.csv:1: has no column design; add it"));
    write("own.csv", "scenario,design\njob.toml,tp=2\n");
    EXPECT_THAT(refusal(), HasSubstr("own.csv:1: has no column step_time_s; add it"));
    write("own.csv", "scenario,design,tflops_per_gpu\njob.toml,tp=2,410\n");
    EXPECT_EQ(refusal(), "");
    write("own.csv", "scenario,design,step_time_s,acelerator\n");
    EXPECT_THAT(refusal(), HasSubstr("did you mean accelerator?"));
}

/// A published table in another format says which command writes it in this one.
TEST_F(RunTablesOf, FoldersWithoutTablesAreWrongInput)
{
    EXPECT_THAT(refusal(), HasSubstr("no table of measured runs"));
    EXPECT_THROW(read_run_tables("/no/such/folder"), InputError);
    write("published.csv", "model,tp,step_time_s,step_time_basis\nGPT,8,1.0,measured\n");
    EXPECT_THAT(refusal(), HasSubstr("python3 jobs/normalise_measurements.py " + folder_.file("")));
    write("runs.csv", "design,step_time_s\n");
    EXPECT_TRUE(tables().published);
}

TEST_F(RunTablesOf, CollectivesHaveALinkAndASize)
{
    write(collectives_table, "gpu,n_gpus,collective,size_bytes,time_us\nA100,8,all_reduce,134217728,1328\n");
    EXPECT_THROW(read_measured_collectives(folder_.file("")), InputError);  // as published
    write(collectives_table,
          "source,machine,node_link,node,network_link,gpus,collective,size_bytes,time_us,busbw_GBps,doubted\n"
          "a,A100,nvlink3,8,ib-hdr,8,all_reduce,134217728,1328,,no\na,A100,nvlink3,8,ib-hdr,8,all_reduce,"
          "1024,,,no\n"
          "a,H100,nvlink4,8,ib-ndr,8,all_reduce,134217728,613,,yes\na,B200,nvlink5,8,ib-ndr,16,alltoall,"
          "1048576,,40.5,no\n"
          "a,B200,nvlink6,8,ib-ndr,16,alltoall,1048576,78,,no\na,B200,nvlink5,,ib-ndr,16,alltoall,1048576,78,"
          ",no\n");
    const MeasuredCollectives measured = read_measured_collectives(folder_.file(""));
    ASSERT_EQ(measured.rows.size(), 3U);
    EXPECT_EQ(measured.rows[0].cluster.tiers.front().name, "nvlink3");
    EXPECT_DOUBLE_EQ(measured.rows[0].measured_s, 1328e-6);
    EXPECT_TRUE(measured.rows[1].doubtful);
    EXPECT_EQ(measured.rows[2].kind, Collective::all_to_all);
    EXPECT_EQ(measured.rows[2].cluster.tiers.size(), 2U);
    EXPECT_DOUBLE_EQ(measured.rows[2].measured_s, 1048576.0 * 15.0 / 16.0 / 40.5e9);
    ASSERT_EQ(measured.skipped.size(), 3U);
    EXPECT_THAT(measured.skipped[1].reason, HasSubstr("nvlink6"));
    EXPECT_TRUE(read_measured_collectives("/no/such/folder").rows.empty());
}

}  // namespace
}  // namespace prismopt
