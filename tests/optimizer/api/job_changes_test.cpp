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

}  // namespace
}  // namespace prismopt
