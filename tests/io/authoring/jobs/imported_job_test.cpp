#include "io/authoring/jobs/imported_job.hpp"
#include "io/base/input_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A job of a small network of Llama's form on eight GPUs.
ImportedJob imported(std::vector<JobFile> files)
{
    ImportRequest request;
    request.files = std::move(files);
    request.model_config =
        JobFile{"model/config.json", R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 512,
            "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8,
            "vocab_size": 1000})"};
    request.gpus = 8;
    return imported_job(request);
}

std::vector<std::string> names_of_values(const std::vector<ImportedValue>& values)
{
    std::vector<std::string> names;
    for (const ImportedValue& value : values) {
        names.push_back(value.name);
    }
    return names;
}

/// A script of the Hugging Face Trainer.
JobFile trainer(const std::string& options)
{
    return {"job/run.sh",
            "torchrun --nproc_per_node 8 train.py --per_device_train_batch_size 4 --max_length "
            "512 --bf16 --max_steps 10 " +
                options + "\n"};
}

JobFile axolotl(const std::string& settings)
{
    return {"job/axolotl.yaml",
            "base_model: model\nsequence_len: 512\nbf16: auto\nmax_steps: 10\n" + settings};
}

std::string megatron(const std::string& options)
{
    return "torchrun --nproc_per_node 8 pretrain_gpt.py --num-attention-heads 8 --seq-length 512 "
           "--max-position-embeddings 512 --micro-batch-size 1 --vocab-size 1000 --train-iters 10 " +
           options + "\n";
}

std::string refusal(const std::string& script)
{
    try {
        imported({{"job/run.sh", script}});
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(ImportedJob, NamesConfigurationsThatDiffer)
{
    const JobFile one = axolotl("micro_batch_size: 1\n");
    const JobFile overlay{"job/overlay.yaml", "micro_batch_size: 2\nsequence_len: 512\n"};
    const ImportedJob job = imported({one, overlay});
    EXPECT_EQ(job.plan.microbatch, 2);
    EXPECT_THAT(job.report.assumed,
                Contains(HasSubstr("job/axolotl.yaml and job/overlay.yaml differ in micro_batch_size: the "
                                   "values of job/overlay.yaml are read")));
    EXPECT_THAT(imported({one}).report.assumed, Not(Contains(HasSubstr("differ in"))));
}

TEST(ImportedJob, CountsGpusAmongOtherResources)
{
    JobFile job = trainer("");
    job.text =
        "#!/bin/bash\n#SBATCH --nodes=2 --gres=gpu_mem:80,gpu:4\nsrun python train.py "
        "--per_device_train_batch_size 4 --max_length 512 --bf16 --max_steps 10\n";
    ImportRequest request;
    request.files = {job};
    request.workload = "llama3-8b";
    EXPECT_EQ(imported_job(request).gpus, 8);
}

TEST(ImportedJob, ReportsMisspeltKeysOfDeepSpeed)
{
    const ImportedJob job =
        imported({trainer("--deepspeed ds.json"),
                  {"job/ds.json", R"({"zero_optimization": {"stage": 3, "offload_optmizer": {"device": "cpu"},
                      "prefetch_bucket": 1, "zero_hpz_partition_size": 8, "contiguous_gradients": true,
                      "stage3_gather_16bit_weights_on_model_save": true}, "wandb": {"anything": 1}})"}});
    EXPECT_THAT(names_of_values(job.report.unknown),
                ElementsAre("deepspeed_json.zero_optimization.offload_optmizer.device",
                            "deepspeed_json.zero_optimization.prefetch_bucket"));
    EXPECT_THAT(names_of_values(job.report.no_key),
                ElementsAre("deepspeed_json.zero_optimization.zero_hpz_partition_size"));
    EXPECT_EQ(job.plan.sharding, Sharding::zero3);
}

TEST(ImportedJob, TakesStageZeroWithoutASectionForZero)
{
    const std::string text = R"({"zero_optimisation": {"stage": 3}, "bf16": {"enabled": "auto"}})";
    const ImportedJob job =
        imported({trainer("--deepspeed ds_zero3_config.json"), {"job/ds_zero3_config.json", text}});
    EXPECT_EQ(job.plan.sharding, Sharding::none);
    EXPECT_THAT(names_of_values(job.report.unknown), ElementsAre("deepspeed_json.zero_optimisation.stage"));
}

TEST(ImportedJob, ReportsKeysOfTheConfigurationOfMegatronDeepSpeed)
{
    const ImportedJob job =
        imported({{"job/run.sh",
                   megatron("--num-layers 4 --hidden-size 512 --bf16 --deepspeed --deepspeed_config z.json "
                            "--zero-stage 1")},
                  {"job/z.json", R"({"zero_optimization": {"stage": 2, "overlap_com": true}})"}});
    EXPECT_EQ(job.plan.sharding, Sharding::zero2);
    EXPECT_THAT(names_of_values(job.report.unknown),
                ElementsAre("deepspeed_json.zero_optimization.overlap_com"));
}

TEST(ImportedJob, KeepsWhatNoOffloadStatesOfDeepSpeed)
{
    const auto with = [](const std::string& devices) {
        return imported({trainer("--deepspeed ds.json"),
                         {"job/ds.json", R"({"zero_optimization": {"stage": 3, )" + devices + "}}"}});
    };
    const std::string states = R"("offload_optimizer": {"device": "cpu"})";
    const ImportedJob drives = with(R"("offload_param": {"device": "nvme"})");
    EXPECT_EQ(drives.plan.offload, Offload::none);
    EXPECT_THAT(names_of_values(drives.report.no_key),
                ElementsAre("deepspeed_json.zero_optimization.offload_param.device"));
    EXPECT_THAT(names_of_values(drives.report.read),
                Not(Contains("deepspeed_json.zero_optimization.offload_param.device")));
    EXPECT_EQ(with(states).plan.offload, Offload::optimizer);
    const ImportedJob both = with(states + R"(, "offload_param": {"device": "cpu"})");
    EXPECT_EQ(both.plan.offload, Offload::parameters);
    EXPECT_THAT(both.report.no_key, IsEmpty());
}

TEST(ImportedJob, AssumesWhatTheNameOfAnAbsentConfigurationStates)
{
    struct Named {
        std::string name;
        Sharding sharding;
        Offload offload;
    };
    for (const Named& named :
         {Named{"zero3_bf16_cpuoffload_params.json", Sharding::zero3, Offload::parameters},
          Named{"zero3_bf16_cpuoffload_all.json", Sharding::zero3, Offload::parameters},
          Named{"zero2.json", Sharding::zero2, Offload::none},
          Named{"ds_z2_offload_config.json", Sharding::zero2, Offload::optimizer},
          Named{"zero3_bf16.json", Sharding::zero3, Offload::none}}) {
        const ImportedJob job = imported({trainer("--deepspeed nowhere/" + named.name)});
        EXPECT_EQ(job.plan.sharding, named.sharding) << named.name;
        EXPECT_EQ(job.plan.offload, named.offload) << named.name;
        EXPECT_THAT(job.report.assumed, Contains(HasSubstr(named.name)));
        const bool only_parameters = named.name.find("params") != std::string::npos;
        EXPECT_EQ(job.report.no_key.empty(), !only_parameters) << named.name;
    }
    const JobFile accelerate{"job/accelerate.yaml",
                             "distributed_type: DEEPSPEED\ndeepspeed_config:\n"
                             "  deepspeed_config_file: nowhere/zero3_bf16.json\n"};
    EXPECT_EQ(imported({trainer(""), accelerate}).plan.sharding, Sharding::zero3);
    const JobFile silent{"job/accelerate.yaml",
                         "distributed_type: DEEPSPEED\ndeepspeed_config_file: nowhere/own.json\n"};
    EXPECT_THROW(imported({trainer(""), silent}), InputError);
}

TEST(ImportedJob, RefusesAJobWhoseConfigurationIsNotThere)
{
    for (const char* command :
         {"accelerate launch --config_file nowhere.yaml train.py --per_device_train_batch_size 4",
          "torchrun --nproc_per_node 8 -m torchtitan.train --job.config_file nowhere.yaml",
          "export CONFIG_FILE=nowhere.yaml\n./run_train.sh --training.steps 10",
          "llamafactory-cli train nowhere.yaml max_steps=50", "axolotl train nowhere.yaml"}) {
        EXPECT_THAT(refusal(command), HasSubstr("the configuration nowhere.yaml is not there")) << command;
    }
    EXPECT_THAT(refusal("axolotl train nowhere.yaml"), StartsWith("job/run.sh:1: "));
    const JobFile base = {"job/own.yml", "base_config: base.yml\nper_device_batch_size: 1\n"};
    EXPECT_NO_THROW(imported({base}));  // MaxText's defaults are known
}

TEST(ImportedJob, IsNotTakenForThatOfATrainerWithTheSameNames)
{
    EXPECT_THAT(refusal("python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1 --rollout_batch_size 8"),
                HasSubstr("no file states settings of a known trainer"));
}

TEST(ImportedJob, RefusesServers)
{
    EXPECT_EQ(
        imported({trainer("\nvllm serve model --tensor-parallel-size 8 --max-model-len 4096 --dtype bf16")})
            .format,
        "Hugging Face Trainer");
    EXPECT_THAT(refusal("vllm serve model --tensor-parallel-size 8"), HasSubstr("token by token"));
}

TEST(ImportedJob, NamesDeepSpeedWhicheverProgramCallsIt)
{
    const auto software = [](const std::string& stage) {
        return imported({axolotl("deepspeed: ds.json\n"),
                         {"job/ds.json", R"({"zero_optimization": {"stage": )" + stage + "}}"}})
            .software;
    };
    EXPECT_EQ(software("2"), "deepspeed-zero-2");
    EXPECT_EQ(software("3"), "deepspeed-zero:0.16");
    EXPECT_EQ(imported({axolotl("")}).software, "axolotl");
}

TEST(ImportedJob, ReadsTheConfigurationOfFsdp)
{
    const ImportedJob job = imported(
        {trainer("--fsdp 'full_shard auto_wrap' --fsdp_config fsdp_config.json --neftune_noise_alpha 5"),
         {"job/fsdp_config.json", R"({"activation_checkpointing": true, "fsdp_cpu_offload": true,
                                  "fsdp_min_num_params": 1, "fsdp_ofload": true})"}});
    EXPECT_EQ(job.plan.recompute, Recompute::full);
    EXPECT_EQ(job.plan.offload, Offload::parameters);
    EXPECT_THAT(names_of_values(job.report.unknown), ElementsAre("fsdp_config.fsdp_ofload"));
}

TEST(ImportedJob, ReadsKeysOfAccelerateWithAndWithoutTheirPrefix)
{
    const ImportedJob job = imported({trainer(""),
                                      {"job/fsdp.yaml",
                                       "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  "
                                       "offload_params: true\n  fsdp_bogus: 3\n"}});
    EXPECT_EQ(job.plan.offload, Offload::parameters);
    EXPECT_THAT(names_of_values(job.report.unknown), ElementsAre("accelerate.fsdp_config.fsdp_bogus"));
}

TEST(ImportedJob, ReadsBothSpellingsOfFsdpInAxolotl)
{
    const ImportedJob job =
        imported({axolotl("fsdp: [full_shard, auto_wrap]\nfsdp_config:\n  "
                          "fsdp_offload_params: true\n  fsdp_sharding_strategy: "
                          "SHARD_GRAD_OP\n  fsdp_activation_checkpointing: true\n  "
                          "fsdp_ofload_parms: true\n")});
    EXPECT_EQ(job.plan.sharding, Sharding::zero2);
    EXPECT_EQ(job.plan.offload, Offload::parameters);
    EXPECT_EQ(job.plan.recompute, Recompute::full);
    EXPECT_THAT(names_of_values(job.report.unknown), ElementsAre("fsdp_config.fsdp_ofload_parms"));
}

TEST(ImportedJob, ReadsLossesOfPluginsInAxolotl)
{
    const auto loss = [](const std::string& settings) {
        return imported({axolotl(settings)}).network.workload.loss;
    };
    const std::string liger = "plugins: [axolotl.integrations.liger.LigerPlugin]\n";
    EXPECT_EQ(loss(liger + "liger_fused_linear_cross_entropy: true\n"), LossKernel::fused_linear);
    EXPECT_EQ(loss(liger + "liger_cross_entropy: true\n"), LossKernel::fused);
    EXPECT_EQ(loss(liger), LossKernel::of_stack);
    EXPECT_EQ(loss("liger_fused_linear_cross_entropy: true\n"), LossKernel::of_stack);  // no plug-in
    EXPECT_EQ(loss("plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]\n"),
              LossKernel::fused_linear);
}

TEST(ImportedJob, ReadsCheckpointsThatLeaveTheGpuInAxolotl)
{
    const ImportedJob host =
        imported({axolotl("gradient_checkpointing: offload\nmodel_type: AutoModelForCausalLM\n"
                          "sequence_parallel_degree: 2\n")});
    EXPECT_EQ(host.plan.recompute, Recompute::full);
    EXPECT_EQ(host.plan.offload, Offload::activations);
    EXPECT_EQ(host.plan.cp, 2);
    EXPECT_EQ(host.network.workload.precision, Precision::bf16);
    EXPECT_THAT(host.report.unknown, IsEmpty());
    const ImportedJob drives = imported({axolotl("gradient_checkpointing: offload_disk\n")});
    EXPECT_EQ(drives.plan.offload, Offload::none);
    EXPECT_THAT(names_of_values(drives.report.no_key), ElementsAre("gradient_checkpointing"));
}

TEST(ImportedJob, ReadsTheOptimizerOfBridge)
{
    const std::string words =
        "torchrun --nproc_per_node 8 run.py --recipe llama3_8b_pretrain_config "
        "train.micro_batch_size=1 train.global_batch_size=32 model.seq_length=4096 "
        "optimizer.use_distributed_optimiser=false optimizer.optimizer_cpu_offload=true "
        "optimizer.use_precision_aware_optimizer=true optimizer.main_grads_dtype=bf16 "
        "optimizer.exp_avg_dtype=fp8 optimizer.exp_avg_sq_dtype=torch.uint8 optimizer.lr=1e-4 "
        "optimizer.adam_beta1=0.9\n";
    const ImportedJob job = imported({{"job/run.sh", words}});
    EXPECT_EQ(job.plan.offload, Offload::optimizer);
    EXPECT_EQ(job.network.workload.optimizer.gradients, NumberType::bf16);
    EXPECT_EQ(job.network.workload.optimizer.states, NumberType::int8);
    EXPECT_THAT(names_of_values(job.report.unknown), ElementsAre("optimizer.use_distributed_optimiser"));
    EXPECT_THAT(job.report.no_key, IsEmpty());
}

TEST(ImportedJob, RefusesValuesByTheirOwnName)
{
    EXPECT_THAT(refusal(megatron("--num-layers 4 --hidden-size -8192 --bf16")),
                HasSubstr("hidden-size = -8192 is not positive"));
    EXPECT_THAT(refusal(megatron("--num-layers 20000 --hidden-size 512 --bf16")),
                HasSubstr("num-layers = 20000 is not between 1 and 10000"));
}

TEST(ImportedJob, RefusesWhatMegatronRefuses)
{
    const std::string network = "--num-layers 4 --hidden-size 512 --bf16 ";
    EXPECT_THAT(refusal(megatron(network + "--fp16")), HasSubstr("fp16"));
    EXPECT_THAT(refusal(megatron(network + "--no-position-embedding")), HasSubstr("no-position-embedding"));
    EXPECT_EQ(refusal(megatron(network + "--position-embedding-type rope --no-position-embedding")), "");
    EXPECT_THAT(refusal(trainer("--fp16").text), HasSubstr("fp16"));
}

/// The validate_args() of Megatron-LM.
TEST(ImportedJob, RefusesTheOverlapOfParametersThatAreNotGathered)
{
    const std::string network = "--num-layers 4 --hidden-size 512 --bf16 --overlap-param-gather ";
    EXPECT_THAT(refusal(megatron(network + "--overlap-grad-reduce")),
                HasSubstr("without use-distributed-optimizer"));
    EXPECT_THAT(refusal(megatron(network + "--use-distributed-optimizer")),
                HasSubstr("without overlap-grad-reduce"));
    EXPECT_EQ(refusal(megatron(network + "--overlap-grad-reduce --use-distributed-optimizer")), "");
    EXPECT_EQ(refusal(megatron(network + "--overlap-grad-reduce --use-megatron-fsdp")), "");
    EXPECT_EQ(refusal(megatron(network + "--overlap-grad-reduce --optimizer dist_muon")), "");
}

TEST(ImportedJob, ReadsTheStrategyOfMegatronFsdp)
{
    const auto job = [](const std::string& options) {
        return imported({{"job/run.sh", megatron("--num-layers 4 --hidden-size 512 --bf16 "
                                                 "--use-distributed-optimizer --use-megatron-fsdp " +
                                                 options)}});
    };
    const std::string strategy = "--data-parallel-sharding-strategy ";
    const ImportedJob usual = job("");
    EXPECT_EQ(usual.plan.sharding, Sharding::none);
    EXPECT_THAT(names_of_values(usual.report.defaults), Contains("data-parallel-sharding-strategy"));
    EXPECT_THAT(usual.report.assumed, Contains(HasSubstr("use-megatron-fsdp shards nothing")));
    EXPECT_EQ(job(strategy + "optim").plan.sharding, Sharding::zero1);
    EXPECT_EQ(job(strategy + "optim_grads").plan.sharding, Sharding::zero2);
    EXPECT_EQ(job(strategy + "optim_grads_params").plan.sharding, Sharding::zero3);
}

TEST(ImportedJob, ReportsExpertsThatRunOneAfterTheOther)
{
    const auto notes = [](const std::string& options) {
        return names_of_values(
            imported({{"job/run.sh", megatron("--num-layers 4 --hidden-size 512 --bf16 --num-experts 8 "
                                              "--moe-token-dispatcher-type alltoall " +
                                              options)}})
                .report.no_key);
    };
    EXPECT_THAT(notes(""), Contains("moe-grouped-gemm"));
    EXPECT_THAT(notes("--moe-grouped-gemm"), IsEmpty());
    EXPECT_THAT(notes("--expert-model-parallel-size 4"), Contains("moe-grouped-gemm"));
    EXPECT_THAT(notes("--expert-model-parallel-size 8"), IsEmpty());  // one expert on each GPU
}

/// Its parser has allow_abbrev=False.
TEST(ImportedJob, ReportsAbbreviatedOptionsOfMegatronAsUnknown)
{
    const ImportedJob job = imported(
        {{"job/run.sh", megatron("--num-layers 4 --hidden-size 512 --bf16 --recompute-activation")}});
    EXPECT_EQ(job.plan.recompute, Recompute::none);
    ASSERT_THAT(names_of_values(job.report.unknown), ElementsAre("recompute-activation"));
    EXPECT_THAT(job.report.unknown.front().key, HasSubstr("recompute-activations"));
    EXPECT_THAT(refusal("torchrun pretrain_gpt.py --num-layers 4 --hidden-size 512 --num-attention-heads 8 "
                        "--vocab-size 1000 --max-position-embeddings 512 --micro-batch 1 --seq-length 512\n"),
                HasSubstr("write micro-batch-size"));
    EXPECT_EQ(imported({trainer("--gradient_accumulation 2")}).global_batch, 4 * 8 * 2);
}

/// The machine of a job, as its script states it.
ImportedJob on_own_machine(const std::string& script)
{
    ImportRequest request;
    request.files = {{"job/run.sh", script}};
    return imported_job(request);
}

TEST(ImportedJob, ReadsAllOptionsOfALineOfSlurm)
{
    const std::string command =
        "srun torchrun --nnodes $SLURM_NNODES --nproc-per-node $SLURM_GPUS_ON_NODE pretrain_gpt.py "
        "--num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length 512 --vocab-size 1000 "
        "--max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 64 --train-iters 10 --bf16\n";
    for (const char* directives :
         {"#SBATCH -N 4 --gres=gpu:a100:8", "#SBATCH -N4 --gres=nvme:1,gpu:a100:8",
          "#SBATCH --gres gpu:a100:8 --nodes 4  # not --nodes 2",
          "#SBATCH -J 'a # b' -N4 -G 'a100:32'\n"
          "#SBATCH --gpus-per-node=a100:8",
          "#SBATCH --exclusive --nodes=4 -C \"a100&ib\" --gpus-per-node=8 --time=1:00:00"}) {
        const ImportedJob job = on_own_machine(std::string("#!/bin/bash\n") + directives + "\n" + command);
        EXPECT_EQ(job.gpus, 32) << directives;
        EXPECT_EQ(job.node_gpus, 8) << directives;
        EXPECT_THAT(job.accelerator, HasSubstr("a100")) << directives;
    }
}

TEST(ImportedJob, NotesALauncherThatDiffersFromSlurm)
{
    const auto assumed = [](const std::string& directives, const std::string& nodes) {
        return on_own_machine("#!/bin/bash\n" + directives + "\ntorchrun --nnodes " + nodes + " " +
                              megatron("--num-layers 4 --hidden-size 512 --bf16 --global-batch-size 64")
                                  .substr(std::string("torchrun ").size()))
            .report.assumed;
    };
    EXPECT_THAT(assumed("#SBATCH -N 4", "2"), Contains(HasSubstr("Slurm allocates 4")));
    EXPECT_THAT(assumed("#SBATCH -N 4 --gpus-per-node=8", "2"), Contains(HasSubstr("16 of the 32 GPUs")));
    EXPECT_THAT(assumed("#SBATCH -N 1 --gpus-per-node=8", "2"), Contains(HasSubstr("Slurm allocates 8")));
    for (const char* equal :
         {"#SBATCH -N 2", "#SBATCH -N 2 --gpus-per-node=8", "#SBATCH --gpus-per-node=8"}) {
        EXPECT_THAT(assumed(equal, "2"), Not(Contains(HasSubstr("Slurm allocates")))) << equal;
    }
}

TEST(ImportedJob, ReadsTheGpusOfMaxText)
{
    const auto job = [](const std::string& directives, const std::string& words) {
        return on_own_machine("#!/bin/bash\n" + directives +
                              "\nsrun -N4 python3 -m MaxText.train base.yml per_device_batch_size=2 "
                              "model_name=llama3-70b steps=20 " +
                              words + "\n");
    };
    const ImportedJob many = job("#SBATCH --nodes=4 --gpus-per-node=8 --constraint=h100",
                                 "hardware=gpu_multiprocess attention=cudnn_flash_te");
    EXPECT_EQ(many.gpus, 32);
    EXPECT_EQ(many.node_gpus, 8);
    EXPECT_EQ(many.accelerator, "h100-sxm");
    EXPECT_THAT(names_of_values(many.report.read), Contains("hardware"));
    EXPECT_THAT(names_of_values(many.report.read), Contains("attention"));
    EXPECT_EQ(job("#SBATCH -n 4 --gpus-per-node=8", "hardware=gpu").gpus, 32);  // a process for each node
    EXPECT_FALSE(job("#SBATCH --gpus-per-node=8", "hardware=gpu attention=dot_product")
                     .network.workload.fuses_attention());
    EXPECT_EQ(job("", "compile_topology=v5p-256").accelerator, "tpu-v5p");
}

TEST(ImportedJob, RefusesStagesThatNanotronDoesNotHave)
{
    const auto job = [](const std::string& stage) {
        return JobFile{"job/own.yaml",
                       "parallelism: {dp: 8, pp: 1, tp: 1}\n"
                       "tokens: {sequence_length: 512, micro_batch_size: 2}\n"
                       "model: {model_config: {hidden_size: 512, num_attention_heads: 8}}\n"
                       "optimizer: {zero_stage: " +
                           stage + "}\n"};
    };
    EXPECT_EQ(imported({job("0")}).plan.sharding, Sharding::none);
    EXPECT_EQ(imported({job("1")}).plan.sharding, Sharding::zero1);
    EXPECT_THROW(imported({job("3")}), InputError);
}

TEST(ImportedJob, SaysWhichOfTwoJobsIsRead)
{
    const JobFile large{"job/a.sh", "#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=8\n" +
                                        megatron("--num-layers 4 --hidden-size 512 --bf16")};
    const JobFile small{"job/b.sh",
                        "#!/bin/bash\n#SBATCH --gres=gpu:a100:8\ntorchrun --nproc_per_node 8 "
                        "train.py --max_steps 10\n"};
    for (const std::vector<JobFile>& files :
         {std::vector<JobFile>{large, small}, std::vector<JobFile>{small, large}}) {
        const ImportedJob job = imported(files);
        EXPECT_EQ(job.format, "Megatron-LM");
        EXPECT_EQ(job.accelerator, "h100-sxm");  // not that of the other's directives
        EXPECT_THAT(job.report.assumed, Contains(HasSubstr("job/b.sh:3 (train.py) starts another job")));
    }
    const JobFile wrapper{"job/c.sh", "#!/bin/bash\n#SBATCH --gres=gpu:a100:8\nsrun ./run_train.sh\n"};
    const JobFile wrapped{"job/run_train.sh", megatron("--num-layers 4 --hidden-size 512 --bf16")};
    EXPECT_THAT(imported({wrapper, wrapped}).report.assumed, Not(Contains(HasSubstr("starts another job"))));
}

TEST(ImportedJob, HasTheMachineOfTheJobThatRunsTheCommand)
{
    const std::string train = "srun " + megatron("--num-layers 4 --hidden-size 512 --bf16");
    const std::string other = "sbatch -N 1 --gres=gpu:h100:1 --wrap='python eval.py --a 1'\n";
    const std::string head = "#!/bin/bash\n#SBATCH -N 1 --gres=gpu:a100:8\n";
    for (const std::string& text : {head + train + other, head + other + train}) {
        EXPECT_EQ(imported({{"job/run.sh", text}}).accelerator, "a100-sxm-80gb") << text;
    }
    const std::string step = "#!/bin/bash\n#SBATCH --gres=gpu:a100:8\nsrun --nodes=2 bash inner.sh\n";
    const JobFile inner{"job/inner.sh",
                        "torchrun --nproc_per_node 8 --nnodes ${SLURM_NNODES:-1} pretrain_gpt.py "
                        "--num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 "
                        "--micro-batch-size 1 --vocab-size 1000 --train-iters 10 --num-layers 4 "
                        "--hidden-size 512 --bf16\n"};
    ImportRequest request;
    request.files = {{"job/run.sh", step}, inner};
    EXPECT_EQ(imported_job(request).gpus, 16);
}

TEST(ImportedJob, NamesVariablesInTheNameOfAConfiguration)
{
    EXPECT_THAT(refusal("accelerate launch --config_file conf/$KIND.yaml train.py --max_steps 1"),
                HasSubstr("add --set 'KIND=VALUE'"));
}

TEST(ImportedJob, SaysWhatATrainingByPreferencesHasBeside)
{
    const auto assumed = [](const std::string& program) {
        return imported({{"job/run.sh",
                          "accelerate launch --num_processes 8 " + program +
                              " --per_device_train_batch_size 4 --max_length 512 --bf16 --max_steps 10\n"}})
            .report.assumed;
    };
    EXPECT_THAT(assumed("trl dpo"), Contains(HasSubstr("dpo also has two sequences per sample")));
    EXPECT_THAT(assumed("trl sft"), Not(Contains(HasSubstr("also has"))));
    EXPECT_THAT(imported({axolotl("rl: kto\nmicro_batch_size: 1\n")}).report.assumed,
                Contains(HasSubstr("kto also has passes of a reference model")));
}

TEST(ImportedJob, RefusesValuesOfDeepSpeedThatMismatchTheArguments)
{
    const auto with = [](const std::string& json) {
        return std::vector<JobFile>{trainer("--deepspeed own.json"), {"job/own.json", json}};
    };
    const std::string zero = R"("zero_optimization": {"stage": 2})";
    EXPECT_THROW(imported(with("{" + zero + R"(, "train_batch_size": 64})")), InputError);
    EXPECT_THROW(imported(with("{" + zero + R"(, "train_micro_batch_size_per_gpu": 2})")), InputError);
    EXPECT_THROW(imported(with("{" + zero + R"(, "fp16": {"enabled": true}})")), InputError);
    const ImportedJob job =
        imported(with("{" + zero + R"(, "train_batch_size": 32, "bf16": {"enabled": true}})"));
    EXPECT_EQ(job.global_batch, 32);
    EXPECT_EQ(job.network.workload.optimizer.gradients, NumberType::bf16);
}

TEST(ImportedJob, BoundsStepsByTheNumberOfSamples)
{
    const JobFile factory{"job/own.yaml",
                          "model_name_or_path: model\nstage: sft\nfinetuning_type: full\ncutoff_len: 512\n"
                          "dataset: a,b\nmax_samples: 1000\nval_size: 0.1\nper_device_train_batch_size: 2\n"
                          "gradient_accumulation_steps: 1\nnum_train_epochs: 2\nbf16: true\n"};
    EXPECT_EQ(imported({factory}).steps, 225.0);  // 2 epochs of 0.9 * 2000 samples, 16 a step
}

TEST(ImportedJob, ReadsWhatTorchtitanCompiles)
{
    const auto software = [](const std::string& more) {
        return imported({{"job/own.toml",
                          "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 512\n"
                          "steps = 10\n" +
                              more}})
            .software;
    };
    EXPECT_EQ(software("[compile]\nenable = true\ncomponents = [\"loss\"]\n"), "torchtitan:eager");
    EXPECT_EQ(software("[compile]\nenable = true\n"), "torchtitan:compile");
}

TEST(ImportedJob, ReadsTheScriptThatAScriptStarts)
{
    const JobFile wrapper{"job/c.sh",
                          "#!/bin/bash\n#SBATCH --gres=gpu:a100:8\nsrun bash inner.sh --num-layers 4\n"};
    const JobFile wrapped{"job/inner.sh", megatron("--hidden-size 512 --bf16 $@")};
    for (const std::vector<JobFile>& files :
         {std::vector<JobFile>{wrapper, wrapped}, std::vector<JobFile>{wrapped, wrapper}}) {
        const ImportedJob job = imported(files);
        EXPECT_EQ(job.network.workload.layers(), 4);
        EXPECT_EQ(job.accelerator, "a100-sxm-80gb");
        EXPECT_THAT(job.scripts, ElementsAre("job/inner.sh"));
    }
    EXPECT_THAT(refusal(wrapper.text), HasSubstr("job/run.sh starts inner.sh, which is not there"));
}

}  // namespace
}  // namespace prismopt
