#include "io/measured/measured_runs.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/sections/catalog.hpp"

#include "io/measured/machine_names.hpp"
#include "io/measured/measured_collectives.hpp"
#include "io/measured/measured_tables.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace prismopt {
namespace {

using testing::HasSubstr;

constexpr const char* header =
    "row_id,model,layers,hidden,heads,ffn,vocab,seq,gpu,n_gpus,tp,pp,vpp,cp,micro_batch,global_batch,recompute,precision,"
    "schedule,"
    "zero_fsdp,step_time_s,step_time_basis,tflops_per_gpu,notes\n";

class MeasuredRunsOf : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.file(name)) << text; }
    MeasuredRuns read() const { return read_measured_runs(folder_.file("")); }

    TemporaryFolder folder_;
};

TEST_F(MeasuredRunsOf, RowsBecomePlansOnAMachine)
{
    write("vtrain_a100_multinode.csv",
          std::string(header) + "1,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,4,1,1,8,512,full,fp16,1F1B,,3.5,measured,,\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 1U);
    const MeasuredRun& run = runs.runs.front();
    EXPECT_EQ(run.workload.layers(), 30);
    EXPECT_EQ(run.workload.find<AttentionBlock>()->kv_heads, 32);  // not printed: multi-head attention
    EXPECT_FALSE(run.workload.fuses_attention());
    EXPECT_EQ(run.plan.tp, 2);
    EXPECT_EQ(run.plan.pp, 4);
    EXPECT_EQ(run.plan.dp, 8);
    EXPECT_EQ(run.plan.recompute, Recompute::full);
    EXPECT_FALSE(run.plan.sequence_parallel);
    EXPECT_EQ(run.cluster.accelerator.name, "a100-sxm-80gb");
    EXPECT_EQ(run.cluster.stack.name, "megatron-deepspeed-2023");
    EXPECT_EQ(run.cluster.tiers.back().group_gpus, 64);
    EXPECT_DOUBLE_EQ(run.measured_s, 3.5);
    EXPECT_THAT(run.assumed, HasSubstr("plain attention"));
}

/// Texts are compared as a whole: a PCIe card is no SXM module, and a superchip no board of its GPU.
TEST_F(MeasuredRunsOf, MachinesAreNamedByTheWholeText)
{
    EXPECT_EQ(accelerator_named("NVIDIA H100-SXM5-80GB"), "h100-sxm");
    EXPECT_EQ(accelerator_named("nvidia blackwell gpu (GB200)"), "gb200");
    EXPECT_EQ(accelerator_named("NVIDIA H100 PCIe"), "");
    EXPECT_EQ(accelerator_named("NVIDIA H100 NVL"), "");
    EXPECT_EQ(accelerator_named(""), "");
    for (const MeasuredTable& table : measured_tables()) {
        for (const TableMachine& machine : table.machines) {
            EXPECT_NO_THROW(catalog_accelerator(machine.accelerator)) << table.name;
        }
    }
    const auto row = [](const std::string& number, const std::string& gpu) {
        return number + ",GPT 3.6B,30,3072,32,12288,50257,2048," + gpu + ",64,2,4,1,1,8,512,full,fp16,1F1B,,3." + number +
               ",measured,,\n";
    };
    write("vtrain_a100_multinode.csv", header + row("1", "A100") + row("2", "A100-PCIE-80GB") + row("3", "GB200"));
    const MeasuredRuns runs = read();
    EXPECT_EQ(runs.runs.size(), 1U);
    ASSERT_EQ(runs.skipped.size(), 2U);
    EXPECT_THAT(runs.skipped[0].reason, HasSubstr("\"A100-PCIE-80GB\" names no machine"));
    EXPECT_THAT(runs.skipped[1].reason, HasSubstr("no description of GB200"));
}

/// Tables of step series have a median in place of a step time, and layers of plain PyTorch are another stack.
TEST_F(MeasuredRunsOf, SeriesOfStepsCountByTheirMedian)
{
    write("megatron_lm_ci_iteration_times.csv",
          "test_case,gpu,n_gpus,layers,hidden,heads,seq,tp,pp,micro_batch,global_batch,precision,flash,median_s\n"
          "bert_mcore_tp2_pp2,H100,8,24,1024,16,512,2,2,4,128,bf16,attention-backend unfused,0.95\n"
          "bert_mcore_tp2_pp2_local_spec,H100,8,24,1024,16,512,2,2,4,128,bf16,attention-backend local,0.8\n"
          "t5_11b_mcore_tp4_pp1,H100,8,,4096,64,,4,1,4,8,bf16,,0.4\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 2U);
    EXPECT_DOUBLE_EQ(runs.runs[0].measured_s, 0.95);
    EXPECT_EQ(runs.runs[0].cluster.stack.name, "megatron-lm");
    EXPECT_EQ(runs.runs[1].cluster.stack.name, "megatron-lm-local");
    EXPECT_EQ(runs.runs[0].workload.vocabulary, 28'996);
    ASSERT_EQ(runs.skipped.size(), 1U);
    EXPECT_THAT(runs.skipped.front().reason, HasSubstr("encoder"));
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

/// A row whose network the table does not name is not taken for another with its sizes.
TEST_F(MeasuredRunsOf, NetworksThatAreNotKnownAreRefused)
{
    const std::string shape = ",80,8192,64,28672,128256,8192,H100,64,4,8,5,1,1,128,none,bf16,,,10.2,measured,,\n";
    write("nvidia_dgxc_benchmarking.csv", std::string(header) + "1,LLAMA3_70B" + shape + "2,Falcon_70B" + shape);
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 1U);
    EXPECT_EQ(runs.runs.front().line, "llama3");
    ASSERT_EQ(runs.skipped.size(), 1U);
    EXPECT_THAT(runs.skipped.front().reason,
                testing::AllOf(HasSubstr("Falcon_70B"), HasSubstr("[nvidia_dgxc_benchmarking.models]"), HasSubstr("scenario")));
}

/// Megatron-Bridge sums gradients in 16 bits and multiplies activations by routing weights; what is kept for products in 8 bits has 8
/// bits; only DeepSeek-V3 has moments of 16 bits.
TEST_F(MeasuredRunsOf, MegatronBridgeKeepsWhatItsRecipesSay)
{
    const std::string end = ",,,,,,,4096,DGX-H100,64,1,4,,1,1,64,none,";
    write("nvidia_megatron_bridge.csv",
          "row_id,model,layers,hidden,heads,ffn,vocab,params,seq,gpu,n_gpus,tp,pp,vpp,cp,micro_batch,global_batch,recompute,"
          "precision,"
          "framework,step_time_s,ep\n1,GPT OSS 120B" +
              end + "BF16,Megatron-Bridge 26.02,14.0,8\n2,DeepSeekV3" + end + "FP8,Megatron-Bridge 26.02,20.0,16\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 2U);
    for (const MeasuredRun& run : runs.runs) {
        EXPECT_EQ(run.workload.optimizer.gradients, NumberType::bf16);
        EXPECT_EQ(run.workload.find<ExpertsBlock>()->weights, RoutingWeights::activations);
    }
    EXPECT_EQ(runs.runs[0].workload.activation_storage, ActivationStorage::bf16);
    EXPECT_EQ(runs.runs[0].workload.optimizer.states, NumberType::fp32);
    EXPECT_EQ(runs.runs[1].workload.activation_storage, ActivationStorage::fp8);
    EXPECT_EQ(runs.runs[1].workload.optimizer.states, NumberType::bf16);
}

/// 126 layers with embedding and head in 128 slots: 8 stages of 16 chunks.
TEST_F(MeasuredRunsOf, SlotsOfEmbeddingAndHeadAreLayersWhereTheTrainerCountsThem)
{
    write("paper_megatron_sc21.csv", std::string(header) +
                                         "1,GPT 405B,126,16384,128,53248,128256,8192,A100,1024,8,8,16,1,1,1536,"
                                         "full,bf16,,,160.0,m,,\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 1U);
    EXPECT_EQ(runs.runs.front().plan.split, LayerSplit::slots);
    EXPECT_EQ(runs.runs.front().plan.chunks, 16);
    EXPECT_THAT(runs.runs.front().assumed, HasSubstr("split = slots"));
}

/// Tests of hybrids and of encoders with decoders lack some size; those of mixtures repeat badly.
TEST_F(MeasuredRunsOf, FurtherFunctionalTestsSayWhatIsMissing)
{
    const std::string rest = ",,1024,16,,,1024,H100,8,1,1,,1,4,32,none,bf16,,,0.2,measured,,\n";
    write("megatron_lm_ci_moe_hybrid_t5_bert.csv",
          std::string(header) + "1,CI hybrid: a" + rest + "2,CI t5: b" + rest + "3,CI moe: c" + rest);
    const MeasuredRuns runs = read();
    EXPECT_TRUE(runs.runs.empty());
    ASSERT_EQ(runs.skipped.size(), 3U);
    EXPECT_THAT(runs.skipped[0].reason, testing::AllOf(HasSubstr("state-space"), HasSubstr("vocabulary")));
    EXPECT_THAT(runs.skipped[1].reason, HasSubstr("vocabulary"));
    EXPECT_THAT(runs.skipped[2].reason, HasSubstr("host-bound"));
}

/// A slice of a torus is the smallest that holds the chips, closed along axes of sixteen, and there may be several; a step of one
/// microbatch a chip has the batch of its chip.
TEST_F(MeasuredRunsOf, ChipsOfATorusAreSlices)
{
    const std::string rest = ",,,,,,8192,TPU v6e (Trillium),";
    write("tpu_maxtext_and_recipes.csv", std::string(header) + "1,llama3.1-8b" + rest +
                                             "16,,,,,,48,custom,BF16,,FSDP,3.4,measured,,\n" + "2,llama3.1-8b" + rest +
                                             "128,,,,,,512,custom,BF16,,FSDP,4.6,derived: F/(TFLOP/s),,\n" + "3,llama3.1-8b" +
                                             rest + "512,,,,,,1024,custom,BF16,,FSDP,4.6,measured,,\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 3U);
    const NetworkTier& small = runs.runs[0].cluster.tiers.front();
    EXPECT_EQ(small.topology, Topology::torus);
    EXPECT_THAT(small.shape, testing::ElementsAre(4, 4));
    EXPECT_THAT(small.wrap, testing::ElementsAre(false, false));
    EXPECT_EQ(runs.runs[0].plan.microbatch, 3);
    EXPECT_EQ(runs.runs[0].cluster.tiers.size(), 1U);
    EXPECT_FALSE(runs.runs[0].of_formula);
    EXPECT_THAT(runs.runs[1].cluster.tiers.front().shape, testing::ElementsAre(8, 16));
    EXPECT_THAT(runs.runs[1].cluster.tiers.front().wrap, testing::ElementsAre(false, true));
    EXPECT_TRUE(runs.runs[1].of_formula);
    EXPECT_EQ(runs.runs[2].cluster.tiers.front().group_gpus, 256);
    EXPECT_EQ(runs.runs[2].cluster.tiers.back().group_gpus, 512);
}

/// Rows of Trainium count its two cores, each with half of the chip.
TEST_F(MeasuredRunsOf, CoresOfAnAcceleratorShareIt)
{
    write("aws_neuron_trainium.csv",
          std::string(header) +
              "1,Llama2-7B pre-training,,,,,,4096,Trainium (trn1),512,8,,,,1,1024,,Autocast:BF16,,,10.8,measured,,\n"
              "2,Llama2-7B pre-training,,,,,,,Trainium (trn1),512,8,,,,1,1024,,Autocast:BF16,,,10.8,measured,,\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 1U);
    const Accelerator chip = catalog_accelerator("trainium1");
    const Accelerator& core = runs.runs.front().cluster.accelerator;
    EXPECT_DOUBLE_EQ(core.peak_bf16.si, chip.peak_bf16.si / 2);
    EXPECT_DOUBLE_EQ(core.memory.si, chip.memory.si / 2);
    EXPECT_DOUBLE_EQ(core.memory_bandwidth.si, chip.memory_bandwidth.si / 2);
    EXPECT_EQ(core.multiprocessors, 1);
    EXPECT_DOUBLE_EQ(runs.runs.front().cluster.tiers.back().bandwidth.si, catalog_link("efa-800g-16").bandwidth.si / 2);
    ASSERT_EQ(runs.skipped.size(), 1U);
    EXPECT_THAT(runs.skipped.front().reason, HasSubstr("sequence length"));  // of a text, unlike an image, there is no usual one
}

TEST_F(MeasuredRunsOf, ImagesHaveTheSizeOfTheirNetwork)
{
    write("mosaicml_diffusion.csv",
          std::string(header) +
              "1,\"Stable Diffusion 2 U-Net, 512x512\",,,,,,,A100,64,,,,,,2048,,mixed,,,0.9,measured,,\n"
              "2,\"Stable Diffusion 2 U-Net, 256x256\",,,,,,,A100,64,,,,,,2048,,mixed,,,0.3,measured,,\n");
    std::string text = read_text(folder_.file("mosaicml_diffusion.csv"));
    text.replace(text.find("row_id"), 6, "framework,row_id");
    for (const char* row : {"\n1,", "\n2,"}) {
        text.insert(text.find(row) + 1, "Composer,");
    }
    write("mosaicml_diffusion.csv", text);
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 2U);
    EXPECT_EQ(runs.runs[0].phase().sequence, 4096);
    EXPECT_EQ(runs.runs[1].phase().sequence, 1024);
}

/// Columns of experts make a mixture of a network that gives its shape; one with adapters has nothing else to train.
TEST_F(MeasuredRunsOf, ColumnsGiveExpertsAndAdapters)
{
    write(
        "paper_moe_parallel_folding.csv",
        "row_id,model,layers,hidden,heads,kv_heads,ffn,vocab,seq,gpu,n_gpus,tp,pp,ep,global_batch,precision,zero_fsdp,framework,"
        "step_time_s,step_time_basis,experts,experts_active,expert_ffn\n"
        "1,Mixtral-8x22B,56,6144,48,8,16384,32768,4096,H100,128,2,8,4,256,BF16,ZeRO-1,\"Megatron-Core, MCore\",4.5,"
        "derived: F/(MFU*989.5e12*n_gpus),8,2,16384\n"
        "2,Mixtral-8x22B,56,6144,48,8,16384,32768,4096,H100,128,2,8,8,256,BF16,ZeRO-1,\"Megatron-Core, MCore w/ Folding\",4.2,"
        "derived: F/(MFU*989.5e12*n_gpus),8,2,16384\n");
    write("mlperf_lora_diffusion_dlrm_bert_retinanet.csv",
          "source,row_id,model,layers,gpu,n_gpus,tp,cp,micro_batch,global_batch,step_time_s\n"
          "training_results_v4.1,1,Llama 2 70B LoRA fine-tuning,80,NVIDIA H100-SXM5-80GB,64,4,2,1,8,0.55\n"
          "training_results_v5.1,2,Llama 2 70B LoRA fine-tuning,80,NVIDIA H100-SXM5-80GB,64,4,2,1,8,0.55\n"
          "training_results_v4.1,3,Llama 2 70B LoRA fine-tuning,80,NVIDIA H100-SXM5-80GB,64,,,,8,0.55\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 3U);
    const MeasuredRun& mixture = runs.runs[1];
    EXPECT_TRUE(mixture.workload.mixture());
    EXPECT_EQ(mixture.workload.find<ExpertsBlock>()->count, 8);
    EXPECT_EQ(mixture.workload.find<ExpertsBlock>()->capacity, 1.0);
    EXPECT_EQ(mixture.plan.etp, 2);  // as the attention
    EXPECT_EQ(runs.runs[2].plan.etp, 1);
    EXPECT_TRUE(mixture.of_formula);
    EXPECT_FALSE(mixture.fitted);
    const MeasuredRun& adapters = runs.runs[0];
    EXPECT_EQ(adapters.workload.adapter_rank, 16);
    EXPECT_TRUE(adapters.workload.frozen_ends);
    EXPECT_TRUE(adapters.workload.kinds.front().frozen);
    EXPECT_EQ(adapters.workload.precision, Precision::fp8);
    ASSERT_EQ(runs.skipped.size(), 2U);
    EXPECT_THAT(runs.skipped[0].reason, HasSubstr("4 bits"));  // what a table fills in may be why it skips a row
    EXPECT_THAT(runs.skipped[1].reason, HasSubstr("parallelism"));
}

TEST_F(MeasuredRunsOf, RowsThatCannotBePredictedSayWhy)
{
    const std::string good = "GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,4,1,1,8,512,full,fp16,1F1B,,3.5,measured,,\n";
    write("vtrain_a100_multinode.csv",
          std::string(header) + "1," + good + "2," + good +
              "3,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,4,1,1,8,512,full,fp16,1F1B,,,,,\n"      // no time
              "4,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,4,1,1,,512,full,fp16,1F1B,,3.5,m,,\n"   // no microbatch
              "5,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,5,4,1,1,8,512,full,fp16,1F1B,,3.5,m,,\n"  // 20 of 64
              "6,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,4,1,1,7,512,full,fp16,1F1B,,3.5,m,,\n"  // 56 of 512
              "7,GPT 3.6B,30,3072,32,12288,50257,2048,T4,64,2,4,1,1,8,512,full,fp16,1F1B,,3.5,m,,\n"    // no such machine
              "8,GPT 3.6B,,3072,32,12288,50257,2048,A100,64,2,4,1,1,8,512,full,fp16,1F1B,,3.5,m,,\n"    // no layers
              "9,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,4,1,1,8,512,full,fp16,1F1B,,1e300,m,,\n");
    write("of_somebody.csv", std::string(header) + "1," + good);
    const MeasuredRuns runs = read();
    EXPECT_EQ(runs.runs.size(), 1U);
    std::vector<std::string> reasons;
    for (const SkippedRow& row : runs.skipped) {
        reasons.push_back(row.row + ": " + row.reason);
    }
    const std::string table = "vtrain_a100_multinode row ";
    EXPECT_THAT(reasons,
                testing::ElementsAre(
                    table + "2: duplicate of another row", table + "3: no step time", table + "4: no microbatch",
                    table + "5: tp*pp*cp = 20 does not divide 64 GPUs",
                    table + "6: dp*microbatch = 56 does not divide the global batch 512",
                    table + "7: \"T4\" names no machine of the catalog; add the text to model/catalog/machine_names.toml, or "
                            "give the run with its "
                            "scenario (docs/accuracy.md)",
                    table + "8: no layers (no model card in the catalog)", table + "9: a step time of 1e+300 s is not plausible",
                    "of_somebody: no description of this table (1 rows); give its runs with scenarios (docs/accuracy.md)"));
}

TEST_F(MeasuredRunsOf, WhatIsBlankIsFilledAndSaid)
{
    // The layers that make the printed rate: 4 x 2 FLOPs a token and parameter, 12 h^2 parameters a layer.
    const double rate = 8.0 * 2048 * 64 * 12.0 * 72 * 8192.0 * 8192.0 / (384 * 100.0) / 1e12;
    write("bigscience_a100_topology.csv",
          std::string(header) + "1,GPT,,8192,64,32768,250000,2048,A100,384,8,12,1,1,1,64,full,bf16,1F1B,ZeRO-1,100,m," +
              std::to_string(rate) + ",max memory 47GB\n");
    write("paper_megatron_sc21.csv",
          std::string(header) + "5,GPT 76.1B,60,10240,80,40960,51200,2048,A100,1024,8,4,,1,,1792,full,fp16,,,16.0,m,,\n");
    const MeasuredRuns runs = read();
    ASSERT_EQ(runs.runs.size(), 2U);
    EXPECT_EQ(runs.runs[0].workload.layers(), 72);
    EXPECT_THAT(runs.runs[0].assumed, HasSubstr("layers = 72"));
    EXPECT_DOUBLE_EQ(runs.runs[0].memory_bytes, 47e9);
    EXPECT_EQ(runs.runs[0].plan.sharding, Sharding::zero1);
    EXPECT_EQ(runs.runs[1].plan.microbatch, 2);  // of Megatron-LM's script for this table
    EXPECT_EQ(runs.runs[1].plan.chunks, 3);
    EXPECT_EQ(runs.runs[1].plan.schedule, Schedule::interleaved);
    EXPECT_THAT(runs.runs[1].assumed, HasSubstr("micro_batch = 2"));
}

TEST_F(MeasuredRunsOf, AFolderWithoutTablesIsWrongInput)
{
    EXPECT_THROW(read(), InputError);
    EXPECT_THROW(read_measured_runs("/no/such/folder"), InputError);
}

TEST(MeasuredTables, NameEntriesOfTheCatalog)
{
    const auto tables = measured_tables();
    EXPECT_GE(tables.size(), 14U);
    for (const MeasuredTable& table : tables) {
        for (const TableMachine& machine : table.machines) {
            EXPECT_NO_THROW(catalog_accelerator(machine.accelerator)) << table.name;
            EXPECT_NO_THROW(catalog_stack(machine.stack)) << table.name;
            for (const std::string& link : machine.links) {
                EXPECT_NO_THROW(catalog_link(link)) << table.name;
            }
        }
        for (const auto& model : table.models) {
            EXPECT_NO_THROW(catalog_workload(model.second)) << table.name;
        }
    }
}

/// The table of runs on one node replaces what its recompute column says, and names it as assumed.
TEST_F(MeasuredRunsOf, AssumptionsOfATableMayReplaceAColumn)
{
    write("vtrain_a100_singlenode.csv",
          "row_id,model,layers,hidden,heads,vocab,seq,gpu,n_gpus,tp,pp,micro_batch,global_batch,recompute,step_time_s\n"
          "1,GPT,24,2048,16,50257,1024,A100,4,1,2,4,16,full (config),0.41\n");
    const MeasuredRuns runs = read_measured_runs(folder_.file(""));
    ASSERT_EQ(runs.runs.size(), 1U);
    EXPECT_EQ(runs.runs.front().plan.recompute, Recompute::none);
    EXPECT_THAT(runs.runs.front().assumed, HasSubstr("recompute = none"));
}

TEST_F(MeasuredRunsOf, CollectivesHaveALinkAndASize)
{
    write("collectives_bandwidth.csv",
          "gpu,n_gpus,inter_node,collective,size_bytes,time_us,notes\nA100,8,,all_reduce,134217728,1328,\n"
          "A100,8,,all_reduce,1024,,\nH100,8,,all_reduce,134217728,613,NVLS\nB200 HGX,16,NDR,alltoall,1048576,78,\n");
    const MeasuredCollectives measured = read_measured_collectives(folder_.file(""));
    ASSERT_EQ(measured.rows.size(), 3U);
    EXPECT_EQ(measured.rows[0].cluster.tiers.front().name, "nvlink3");
    EXPECT_DOUBLE_EQ(measured.rows[0].measured_s, 1328e-6);
    EXPECT_GT(measured.rows[1].cluster.tiers.front().in_network, 0.0);
    EXPECT_EQ(measured.rows[2].kind, Collective::all_to_all);
    EXPECT_EQ(measured.rows[2].cluster.tiers.size(), 2U);
    EXPECT_EQ(measured.skipped.size(), 1U);
    EXPECT_TRUE(read_measured_collectives("/no/such/folder").rows.empty());
}

}  // namespace
}  // namespace prismopt
