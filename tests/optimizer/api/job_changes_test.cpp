#include "optimizer/api/job_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A job on two nodes of eight GPUs.
ImportRequest job_of(const std::string& environment, const std::string& more)
{
    ImportRequest request;
    request.accelerator = "h100-sxm";
    request.files = {
        {"job.sh", "#!/bin/bash\n" + environment + R"(torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py \
    --num-layers 16 --hidden-size 2048 --num-attention-heads 16 --swiglu --disable-bias-linear \
    --normalization RMSNorm --position-embedding-type rope --untie-embeddings-and-output-weights \
    --attention-dropout 0 --hidden-dropout 0 --seq-length 2048 --max-position-embeddings 2048 \
    --micro-batch-size 1 --global-batch-size 64 --train-iters 100 --vocab-size 51200 --bf16 \
    --overlap-grad-reduce --overlap-param-gather --use-distributed-optimizer \
    )" + more + "\n"}};
    return request;
}

/// The change of the job's plan.
JobChange changed(const ImportRequest& request, void (*change)(ParallelPlan&))
{
    const JobImport job = import_job(request);
    const ChosenPlan today = plan_with(job.scenario, job.design);
    ParallelPlan plan = today.plan;
    change(plan);
    return changed_job(request, job, today, plan);
}

const std::string one_connection = "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
const std::string two_gpus = "--tensor-model-parallel-size 2 --sequence-parallel";

void to_fsdp(ParallelPlan& plan) { plan.sharding = Sharding::zero2; }
void to_one_gpu(ParallelPlan& plan)
{
    plan.dp *= plan.tp;
    plan.tp = 1;
}
void to_two_gpus(ParallelPlan& plan)
{
    plan.tp = 2;
    plan.dp /= 2;
}

/// validate_args() of Megatron-LM asserts both.
TEST(JobChanges, TurnToMegatronFsdpWithWhatItAsserts)
{
    const JobChange change = changed(job_of(one_connection, two_gpus), to_fsdp);
    EXPECT_THAT(change.diff, HasSubstr("--use-megatron-fsdp"));
    EXPECT_THAT(change.diff, HasSubstr("--ckpt-format fsdp_dtensor"));
    EXPECT_THAT(change.diff, HasSubstr("+export CUDA_DEVICE_MAX_CONNECTIONS=8\n"));
    EXPECT_TRUE(change.environment.empty());
}

TEST(JobChanges, ChangeTheFormatOfCheckpointsWhereItStands)
{
    const JobChange change = changed(job_of("", two_gpus + " --ckpt-format torch_dist"), to_fsdp);
    EXPECT_THAT(change.files.front().text, HasSubstr("--ckpt-format fsdp_dtensor"));
    EXPECT_THAT(change.files.front().text, Not(HasSubstr("torch_dist")));
    EXPECT_EQ(change.environment,
              std::vector<std::string>{"CUDA_DEVICE_MAX_CONNECTIONS unset or more than 1"});
}

/// Of other plans, Megatron refuses its checkpoints; those of other formats stay.
TEST(JobChanges, LeaveMegatronFsdpWithItsCheckpoints)
{
    const auto to_zero1 = [](ParallelPlan& plan) { plan.sharding = Sharding::zero1; };
    const std::string fsdp = "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads ";
    const JobChange change = changed(job_of("", fsdp + "--ckpt-format fsdp_dtensor"), to_zero1);
    ASSERT_FALSE(change.files.empty());
    EXPECT_THAT(change.files.front().text, Not(HasSubstr("fsdp")));
    const auto to_none = [](ParallelPlan& plan) { plan.sharding = Sharding::none; };
    const JobChange other = changed(job_of("", "--ckpt-format torch"), to_none);
    ASSERT_FALSE(other.files.empty());
    EXPECT_THAT(other.files.front().text, HasSubstr("--ckpt-format torch"));
}

TEST(JobChanges, RemoveTheOverlapOfTensorParallelismWithIt)
{
    const JobChange change = changed(job_of(one_connection, two_gpus + " --tp-comm-overlap"), to_one_gpu);
    ASSERT_FALSE(change.files.empty());
    EXPECT_THAT(change.files.front().text, HasSubstr("--tensor-model-parallel-size 1"));
    EXPECT_THAT(change.files.front().text, Not(HasSubstr("--tp-comm-overlap")));
    EXPECT_THAT(change.files.front().text, HasSubstr(one_connection));  // it does no harm
}

TEST(JobChanges, SayWhatTheEnvironmentNeedsWhereNoFileSetsIt)
{
    const JobChange change = changed(job_of("", ""), to_two_gpus);
    EXPECT_FALSE(change.diff.empty());
    EXPECT_EQ(change.environment, std::vector<std::string>{"CUDA_DEVICE_MAX_CONNECTIONS=1 before Blackwell"});
    const JobChange set = changed(job_of("export CUDA_DEVICE_MAX_CONNECTIONS=32\n", ""), to_two_gpus);
    EXPECT_THAT(set.diff, HasSubstr("+export CUDA_DEVICE_MAX_CONNECTIONS=1\n"));
    EXPECT_TRUE(set.environment.empty());
}

TEST(JobChanges, AddWhatOffloadingAsserts)
{
    const auto to_host = [](ParallelPlan& plan) { plan.offload = Offload::optimizer; };
    const JobChange change = changed(job_of("", ""), to_host);
    EXPECT_THAT(change.diff, HasSubstr("--optimizer-cpu-offload"));
    EXPECT_THAT(change.diff, HasSubstr("--use-precision-aware-optimizer"));
}

/// What the export cannot write stays where another axis changes.
TEST(JobChanges, LeaveASettingThatNoExportWrites)
{
    const ImportRequest request = job_of(one_connection, two_gpus + " --cuda-graph-impl local");
    const JobChange change = changed(request, to_one_gpu);
    ASSERT_FALSE(change.files.empty());
    EXPECT_THAT(change.files.front().text, HasSubstr("--tensor-model-parallel-size 1"));
    EXPECT_THAT(change.files.front().text, HasSubstr("--cuda-graph-impl local"));
    EXPECT_TRUE(change.refused.empty());
}

/// The scenario is limited to what the trainer runs, even if the job's own plan is not exported.
TEST(JobChanges, AreLimitedToTheTrainerOfTheJob)
{
    const JobImport job = import_job(job_of(one_connection, two_gpus + " --cuda-graph-impl local"));
    EXPECT_EQ(job.scenario.search.runnable_by, "megatron");
    EXPECT_EQ(job.scenario.search.runs_too, std::vector<std::string>{"cuda_graphs=mlp+attn"});
}

TEST(JobChanges, AreFoundInACommandOfBash)
{
    ImportRequest request;
    request.accelerator = "h100-sxm";
    request.files = {{"job.sh", one_connection + R"(TP=2
ARGS=(
  --num-layers 16 --hidden-size 2048 --num-attention-heads 16 --swiglu --disable-bias-linear
  --normalization RMSNorm --position-embedding-type rope --untie-embeddings-and-output-weights
  --attention-dropout 0 --hidden-dropout 0 --seq-length 2048 --max-position-embeddings 2048
  --micro-batch-size 1 --global-batch-size 64 --train-iters 100 --vocab-size 51200 --bf16
  --tensor-model-parallel-size $TP --sequence-parallel --use-distributed-optimizer
)
srun bash -c "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py ${ARGS[*]}"
)"}};
    EXPECT_THAT(changed(request, to_one_gpu).diff, HasSubstr("-TP=2\n+TP=1\n"));
}

constexpr const char* auto_json = R"({
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto",
  "zero_optimization": {"stage": 2}
}
)";

/// LLaMA-Factory on four GPUs, with DeepSpeed.
ImportRequest factory_job()
{
    ImportRequest request;
    request.accelerator = "a100-sxm-80gb";
    request.gpus = 4;
    request.workload = "llama3-8b";
    request.command = "llamafactory-cli train job.yaml";
    request.files = {{"job.yaml",
                      "model_name_or_path: Llama\nstage: sft\nfinetuning_type: full\ndeepspeed: ds.json\n"
                      "cutoff_len: 4096\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
                      "max_steps: 600\nbf16: true\n"},
                     {"ds.json", auto_json}};
    return request;
}

TEST(JobChanges, LeaveWhatFollowsTheArguments)
{
    const JobChange change = changed(factory_job(), [](ParallelPlan& plan) { plan.microbatch = 8; });
    ASSERT_EQ(change.files.size(), 2U);
    EXPECT_THAT(change.files[0].text, HasSubstr("per_device_train_batch_size: 8\n"));
    EXPECT_THAT(change.files[0].text, HasSubstr("gradient_accumulation_steps: 1\n"));
    EXPECT_EQ(change.files[1].text, auto_json);
}

TEST(JobChanges, SwitchRecomputationOffThatIsTheDefault)
{
    const JobChange change =
        changed(factory_job(), [](ParallelPlan& plan) { plan.recompute = Recompute::none; });
    ASSERT_FALSE(change.files.empty());
    EXPECT_THAT(change.files[0].text, HasSubstr("disable_gradient_checkpointing: true\n"));
}

TEST(JobChanges, SetTheStageOfZero)
{
    const JobChange change =
        changed(factory_job(), [](ParallelPlan& plan) { plan.sharding = Sharding::zero1; });
    ASSERT_EQ(change.files.size(), 2U);
    EXPECT_THAT(change.files[1].text, HasSubstr("{\"stage\": 1}"));
}

/// nanotron states replicas, and passes of each.
ImportRequest nanotron()
{
    ImportRequest request;
    request.accelerator = "h100-sxm";
    request.files = {{"job.yaml", R"(model:
  dtype: bfloat16
  make_vocab_size_divisible_by: 1
  model_config:
    hidden_size: 2048
    intermediate_size: 8192
    max_position_embeddings: 4096
    num_attention_heads: 32
    num_hidden_layers: 8
    num_key_value_heads: 32
    tie_word_embeddings: true
    vocab_size: 49152
optimizer:
  accumulate_grad_in_fp32: true
  zero_stage: 0
parallelism:
  dp: 8
  pp: 1
  pp_engine: 1f1b
  recompute_layer: false
  tp: 2
  tp_linear_async_communication: true
  tp_mode: REDUCE_SCATTER
tokens:
  batch_accumulation_per_replica: 2
  micro_batch_size: 4
  sequence_length: 4096
  train_steps: 1000
)"}};
    return request;
}

TEST(JobChanges, ChangeWhatFollowsFromAnAxis)
{
    const JobChange change = changed(nanotron(), [](ParallelPlan& plan) {
        to_one_gpu(plan);
        plan.sharding = Sharding::zero1;
    });
    ASSERT_FALSE(change.files.empty());
    for (const char* line : {"  tp: 1\n", "  dp: 16\n", "  batch_accumulation_per_replica: 1\n",
                             "  zero_stage: 1\n", "  tp_linear_async_communication: true\n"}) {
        EXPECT_THAT(change.files.front().text, HasSubstr(line));
    }
}

/// With values in one line, no file is changed; the settings are the trainer's.
TEST(JobChanges, NameTheSettingsOfTheTrainer)
{
    ImportRequest request = nanotron();
    std::string& text = request.files.front().text;
    const std::size_t begin = text.find("parallelism:\n");
    const std::size_t end = text.find("tokens:\n");
    text.replace(begin, end - begin,
                 "parallelism: {dp: 8, pp: 1, pp_engine: 1f1b, recompute_layer: false, tp: 2, "
                 "tp_linear_async_communication: true, tp_mode: REDUCE_SCATTER}\n");
    const JobChange change = changed(request, to_one_gpu);
    EXPECT_TRUE(change.diff.empty());
    EXPECT_THAT(change.settings, testing::UnorderedElementsAre("parallelism.dp: 16", "parallelism.tp: 1",
                                                               "tokens.batch_accumulation_per_replica: 1"));
}

/// nanotron has no CUDA graphs, chunks or slots, and shards optimizer states only.
TEST(JobChanges, KeepToAxesThatTheTrainerHas)
{
    const Scenario scenario = import_job(nanotron()).scenario;
    for (const SpaceSettings* values : {&scenario.space, &scenario.levers}) {
        EXPECT_EQ(values->cuda_graphs, std::vector{ModuleSet{}});
        EXPECT_EQ(values->v, std::vector{1});
        EXPECT_EQ(values->split, std::vector{LayerSplit::layers});
        EXPECT_EQ(values->sharding, (std::vector{Sharding::none, Sharding::zero1}));
        EXPECT_EQ(values->recompute, (std::vector{Recompute::none, Recompute::full}));
    }
    EXPECT_GT(scenario.space.tp.size(), 1U);
}

}  // namespace
}  // namespace prismopt
