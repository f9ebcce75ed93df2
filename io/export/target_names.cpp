#include "io/export/target_names.hpp"

#include <algorithm>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr std::string_view megatron[] = {
    "tensor-model-parallel-size",
    "pipeline-model-parallel-size",
    "context-parallel-size",
    "cp-comm-type",
    "hierarchical-context-parallel-sizes",
    "expert-model-parallel-size",
    "expert-tensor-parallel-size",
    "num-virtual-stages-per-pipeline-rank",
    "microbatch-group-size-per-virtual-pipeline-stage",
    "pipeline-model-parallel-layout",
    "mtp-num-layers",
    "account-for-embedding-in-pipeline-split",
    "account-for-loss-in-pipeline-split",
    "use-tp-pp-dp-mapping",
    "sequence-parallel",
    "tp-comm-overlap",
    "use-distributed-optimizer",
    "num-distributed-optimizer-instances",
    "use-megatron-fsdp",
    "data-parallel-sharding-strategy",
    "ckpt-format",
    "overlap-grad-reduce",
    "overlap-param-gather",
    "optimizer-cpu-offload",
    "recompute-granularity",
    "recompute-method",
    "recompute-num-layers",
    "recompute-modules",
    "micro-batch-size",
    "global-batch-size",
    "seq-length",
    "max-position-embeddings",
    "position-embedding-type",
    "lr",
    "data-path",
    "tokenizer-type",
    "tokenizer-model",
    "save",
    "load",
    "train-samples",
    "save-interval",
    "bf16",
    "fp8-format",
    "fp8-recipe",
    "fp4-format",
    "first-last-layers-bf16",
    "num-layers-at-start-in-bf16",
    "num-layers-at-end-in-bf16",
    "attention-backend",
    "num-layers",
    "hidden-size",
    "ffn-hidden-size",
    "num-attention-heads",
    "group-query-attention",
    "num-query-groups",
    "kv-channels",
    "padded-vocab-size",
    "swiglu",
    "squared-relu",
    "normalization",
    "untie-embeddings-and-output-weights",
    "disable-bias-linear",
    "attention-dropout",
    "hidden-dropout",
    "num-experts",
    "moe-router-topk",
    "moe-ffn-hidden-size",
    "moe-shared-expert-intermediate-size",
    "moe-layer-freq",
    "moe-token-dispatcher-type",
    "moe-enable-deepep",
    "moe-shared-expert-overlap",
    "overlap-moe-expert-parallel-comm",
    "moe-router-dtype",
    "moe-grouped-gemm",
    "moe-expert-capacity-factor",
    "multi-latent-attention",
    "q-lora-rank",
    "kv-lora-rank",
    "qk-head-dim",
    "qk-pos-emb-head-dim",
    "v-head-dim",
};

constexpr std::string_view bridge[] = {
    "model.tensor_model_parallel_size",
    "model.pipeline_model_parallel_size",
    "model.virtual_pipeline_model_parallel_size",
    "model.microbatch_group_size_per_vp_stage",
    "model.account_for_embedding_in_pipeline_split",
    "model.account_for_loss_in_pipeline_split",
    "model.pipeline_model_parallel_layout",
    "model.mtp_num_layers",
    "model.context_parallel_size",
    "model.hierarchical_context_parallel_sizes",
    "model.cp_comm_type",
    "model.expert_model_parallel_size",
    "model.expert_tensor_parallel_size",
    "model.sequence_parallel",
    "model.recompute_granularity",
    "model.recompute_method",
    "model.recompute_num_layers",
    "model.recompute_modules",
    "model.moe_token_dispatcher_type",
    "model.moe_enable_deepep",
    "model.moe_shared_expert_overlap",
    "model.seq_length",
    "train.micro_batch_size",
    "train.global_batch_size",
    "train.train_samples",
    "checkpoint.save_interval",
    "dist.use_tp_pp_dp_mapping",
    "ddp.use_distributed_optimizer",
    "ddp.overlap_grad_reduce",
    "ddp.overlap_param_gather",
};

constexpr std::string_view torchtitan[] = {
    "parallelism.data_parallel_replicate_degree",
    "parallelism.data_parallel_shard_degree",
    "parallelism.fsdp_reshard_after_forward",
    "parallelism.tensor_parallel_degree",
    "parallelism.enable_async_tensor_parallel",
    "parallelism.pipeline_parallel_degree",
    "parallelism.pipeline_parallel_schedule",
    "parallelism.pipeline_parallel_schedule_csv",
    "parallelism.pipeline_parallel_microbatch_size",
    "parallelism.pipeline_parallel_layers_per_stage",
    "parallelism.pipeline_parallel_first_stage_less_layers",
    "parallelism.pipeline_parallel_last_stage_less_layers",
    "parallelism.module_fqns_per_model_part",
    "parallelism.context_parallel_degree",
    "parallelism.context_parallel_rotate_method",
    "parallelism.expert_parallel_degree",
    "training.local_batch_size",
    "training.global_batch_size",
    "training.seq_len",
    "training.steps",
    "training.compile",
    "training.dataset",
    "model.name",
    "model.flavor",
    "model.tokenizer_path",
    "optimizer.lr",
    "checkpoint.enable_checkpoint",
    "checkpoint.interval",
    "activation_checkpoint.mode",
};

constexpr std::string_view recipe_fields[] = {
    "parallelism.data_parallel_replicate_degree",
    "parallelism.data_parallel_shard_degree",
    "parallelism.fsdp_reshard_after_forward",
    "parallelism.tensor_parallel_degree",
    "parallelism.enable_sequence_parallel",
    "parallelism.pipeline_parallel_degree",
    "parallelism.pipeline_parallel_schedule",
    "parallelism.pipeline_parallel_schedule_csv",
    "parallelism.pipeline_parallel_layers_per_stage",
    "parallelism.pipeline_parallel_first_stage_less_layers",
    "parallelism.pipeline_parallel_last_stage_less_layers",
    "parallelism.pipeline_parallel_module_fqns_per_model_part",
    "parallelism.num_pp_microbatches",
    "training.num_tokens_per_microbatch_per_dp_rank",
    "training.num_tokens_per_train_step",
    "training.max_context_length",
    "training.steps",
    "activation_checkpoint",
};

}  // namespace

// megatron/training/arguments.py at that commit; it names the checkpoints of releases before Megatron Core 0.14 as older ones.
const TargetNames& megatron_names()
{
    static const TargetNames table{
        "Megatron-LM at commit 000c4ac24f61, after the release core_v0.14",
        "https://github.com/NVIDIA/Megatron-LM/blob/000c4ac24f61159c138b0975def722c65245983c/megatron/training/arguments.py",
        megatron};
    return table;
}

// Fields of the classes of training/config.py at that commit, and, below model and ddp, of Megatron Core's TransformerConfig and
// DistributedDataParallelConfig, which they inherit.
const TargetNames& bridge_names()
{
    static const TargetNames table{"Megatron-Bridge at commit 4feb11f80e19 (NeMo's recipes)",
                                   "https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/4feb11f80e19fda2937f983688218300436e2177/"
                                   "src/megatron/bridge/training/"
                                   "config.py",
                                   bridge};
    return table;
}

const TargetNames& torchtitan_names()
{
    static const TargetNames table{
        "torchtitan at commit 6404b932421f",
        "https://github.com/pytorch/torchtitan/blob/6404b932421f5ce382e7dac5ad381b2c17b1373c/torchtitan/config/job_config.py",
        torchtitan};
    return table;
}

// Fields of ParallelismConfig (config/parallelism.py at the commit below) and of TrainingConfig (config/training.py at
// f204eb63c07b5b76df3a00a5d78c11c70272b943); the file is a function that --module and --config name (config/loader.py).
const TargetNames& torchtitan_recipe_names()
{
    static const TargetNames table{
        "torchtitan at commit 15e24313ef2e: configurations in Python, which replaced TOML after v0.2.2 (pull request 2386)",
        "https://github.com/pytorch/torchtitan/blob/15e24313ef2e324a31db0a9e0060d27965c4ef5e/torchtitan/config/parallelism.py",
        recipe_fields};
    return table;
}

void Settings::set(std::string_view name, const std::string& value)
{
    if (std::find(names_.names.begin(), names_.names.end(), name) == names_.names.end()) {
        throw std::logic_error(names_.version + " has no " + std::string(name));
    }
    all_.emplace_back(name, value);
}

void Settings::set(std::string_view name, long value) { set(name, std::to_string(value)); }

}  // namespace prismopt
