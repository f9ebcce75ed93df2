#include "io/trainers/trainer_settings.hpp"

#include <array>

namespace prismopt {

namespace {

using enum SettingEffect;

// megatron/training/arguments.py and argument_utils.py, core/model_parallel_config.py, core/transformer/transformer_config.py of
// NVIDIA/Megatron-LM at commit d98e8a64. Names with a trailing * are families that change neither time nor memory of a step.
constexpr auto rows = std::to_array<TrainerSetting>({
    // The plan
    {"tensor-model-parallel-size", "tp", "1"},
    {"pipeline-model-parallel-size", "pp", "1"},
    {"context-parallel-size", "cp", "1"},
    {"cp-comm-type", "context_exchange", "p2p"},
    {"hierarchical-context-parallel-sizes", "ulysses"},
    {"expert-model-parallel-size", "ep", "1"},
    {"expert-tensor-parallel-size", "etp"},  // by default the tensor-parallel degree
    {"num-layers-per-virtual-pipeline-stage", "v"},
    {"num-virtual-stages-per-pipeline-rank", "v"},
    {"virtual-pipeline-model-parallel-size", "v"},
    {"microbatch-group-size-per-virtual-pipeline-stage", "group"},
    {"pipeline-model-parallel-layout", "layout"},
    {"decoder-first-pipeline-num-layers", "layout"},
    {"decoder-last-pipeline-num-layers", "layout"},
    {"account-for-embedding-in-pipeline-split", "split"},
    {"account-for-loss-in-pipeline-split", "split"},
    {"sequence-parallel", "sequence_parallel"},
    {"use-distributed-optimizer", "sharding"},
    {"num-distributed-optimizer-instances", "shard_gpus", "1"},
    {"use-megatron-fsdp", "sharding"},
    {"data-parallel-sharding-strategy", "sharding", "optim_grads_params"},
    {"use-torch-fsdp2", "sharding"},
    {"torch-fsdp2-no-reshard-after-forward", "sharding"},
    {"overlap-grad-reduce", "dp_overlap"},
    {"overlap-param-gather", "dp_overlap"},
    {"tp-comm-overlap", "tp_overlap"},
    {"use-tp-pp-dp-mapping", "order"},
    {"micro-batch-size", "microbatch"},
    {"optimizer-cpu-offload", "offload"},
    {"optimizer-offload-fraction", "part of the optimizer states in host memory", "1.0", no_key},
    {"cpu-offloading-num-layers", "offload", "0"},
    {"fine-grained-activation-offloading", "offload"},
    {"recompute-granularity", "recompute"},
    {"recompute-activations", "recompute"},
    {"recompute-method", "recomputed_layers"},
    {"recompute-num-layers", "recomputed_layers", "1"},
    {"recompute-modules", "recompute_modules", "core_attn"},
    {"moe-token-dispatcher-type", "dispatch", "allgather"},
    {"moe-flex-dispatcher-backend", "dispatch", "deepep"},
    {"moe-enable-deepep", "dispatch"},
    {"moe-shared-expert-overlap", "expert_overlap"},
    {"overlap-moe-expert-parallel-comm", "expert_overlap"},
    {"cuda-graph-impl", "cuda_graphs", "none"},
    {"cuda-graph-modules", "cuda_graphs"},
    {"cuda-graph-scope", "cuda_graphs"},
    {"enable-cuda-graph", "cuda_graphs"},
    {"external-cuda-graph", "cuda_graphs"},
    // The run
    {"global-batch-size", "phase.global_batch"},  // by default micro-batch-size times replicas
    {"seq-length", "phase.sequence_length"},
    {"encoder-seq-length", "phase.sequence_length"},
    {"train-iters", "phase.steps"},
    {"train-samples", "phase.steps"},
    {"rampup-batch-size", "a growing batch at the beginning (learning.ramp)", "", no_key},
    {"step-batch-size-schedule", "a growing batch (learning.ramp)", "", no_key},
    {"save-interval", "checkpoint_interval", "", none},
    // The network
    {"num-layers", "workload.layers"},
    {"hidden-size", "workload.hidden"},
    {"ffn-hidden-size", "workload.feed_forward"},
    {"num-attention-heads", "workload.heads"},
    {"kv-channels", "workload.head"},
    {"group-query-attention", "workload.kv_heads"},
    {"num-query-groups", "workload.kv_heads", "1"},
    {"max-position-embeddings", "workload.positions"},
    {"position-embedding-type", "workload.positions", "learned_absolute"},
    {"use-rotary-position-embeddings", "workload.positions"},
    {"vocab-size", "workload.vocabulary"},
    {"padded-vocab-size", "workload.vocabulary"},
    {"make-vocab-size-divisible-by", "workload.vocabulary", "128"},
    {"swiglu", "workload.activation"},
    {"squared-relu", "workload.activation"},
    {"quick-geglu", "workload.activation"},
    {"normalization", "workload.normalisation", "LayerNorm"},
    {"qk-layernorm", "query_key_norm"},
    {"disable-bias-linear", "bias"},
    {"add-qkv-bias", "bias"},
    {"untie-embeddings-and-output-weights", "workload.tied_embedding"},
    {"hidden-dropout", "workload.dropout", "0.1"},
    {"attention-dropout", "workload.dropout", "0.1"},
    {"window-size", "window"},
    {"window-attn-skip-freq", "layers with a window"},
    {"attention-backend", "kernel", "auto"},
    {"transformer-impl", "software.release", "transformer_engine"},
    {"use-mcore-models", "", "", by_default},
    {"bf16", "workload.precision"},
    {"fp16", "workload.precision"},
    {"fp8-format", "workload.precision"},
    {"fp8-recipe", "workload.precision", "delayed"},
    {"fp8-param-gather", "parameters in 8 bits for the all-gather", "", no_key},
    {"fp4-format", "workload.precision"},
    {"first-last-layers-bf16", "bf16_first, bf16_last"},
    {"num-layers-at-start-in-bf16", "bf16_first", "1"},
    {"num-layers-at-end-in-bf16", "bf16_last", "1"},
    {"accumulate-allreduce-grads-in-fp32", "workload.optimizer.gradients"},
    {"grad-reduce-in-bf16", "workload.optimizer.reduction"},
    {"use-precision-aware-optimizer", "workload.optimizer"},
    {"main-grads-dtype", "workload.optimizer.gradients", "fp32"},
    {"main-params-dtype", "workload.optimizer.master", "fp32"},
    {"exp-avg-dtype", "workload.optimizer.states", "fp32"},
    {"exp-avg-sq-dtype", "workload.optimizer.states", "fp32"},
    {"optimizer", "workload.optimizer.kind", "adam"},
    {"num-experts", "experts.count"},
    {"moe-router-topk", "experts.active", "2"},
    {"moe-ffn-hidden-size", "experts.inner"},
    {"moe-layer-freq", "layers with experts", "1"},
    {"moe-shared-expert-intermediate-size", "experts.shared"},
    {"moe-shared-expert-gate", "experts.shared_gate"},
    {"moe-latent-size", "experts.latent"},
    {"moe-expert-capacity-factor", "experts.capacity"},
    {"moe-router-num-groups", "experts.node_limit"},
    {"moe-router-group-topk", "experts.node_limit"},
    {"multi-latent-attention", "latent_attention"},
    {"q-lora-rank", "latent_attention.query_rank"},
    {"kv-lora-rank", "latent_attention.key_value_rank", "32"},
    {"qk-head-dim", "latent_attention.plain", "128"},
    {"qk-pos-emb-head-dim", "latent_attention.rotary", "64"},
    {"v-head-dim", "latent_attention.value", "128"},
    {"mtp-num-layers", "workload.predictions"},
    {"hybrid-layer-pattern", "a network of several kinds of layers: describe it (docs/networks.md)"},
    {"hybrid-override-pattern", "a network of several kinds of layers: describe it (docs/networks.md)"},
    // What no key states
    {"defer-embedding-wgrad-compute", "gradients of the embedding in the bubble", "", no_key},
    {"delay-wgrad-compute", "gradients of weights beside exchanges of tokens", "", no_key},
    {"ddp-bucket-size", "size of buckets", "", no_key},
    {"ddp-average-in-collective", "", "", by_default},
    {"ddp-pad-buckets-for-high-nccl-busbw", "size of buckets", "", no_key},
    {"ddp-num-buckets", "size of buckets", "", no_key},
    {"overlap-param-gather-with-optimizer-step", "all-gathers beside the optimizer step", "", no_key},
    {"tp-comm-bulk*", "parts of the tensor-parallel overlap", "", no_key},
    {"tp-comm-split*", "parts of the tensor-parallel overlap", "", no_key},
    {"tp-comm-overlap-*", "parts of the tensor-parallel overlap", "", no_key},
    {"disable-tp-comm*", "parts of the tensor-parallel overlap", "", no_key},
    {"moe-token-drop-policy", "", "probs", none},
    {"moe-pad-expert-input-to-capacity", "experts padded to their capacity", "", no_key},
    {"moe-permute-fusion", "fused permutation of tokens", "", no_key},
    {"moe-router-fusion", "fused router", "", no_key},
    {"cross-entropy-loss-fusion", "workload.loss"},
    {"cross-entropy-fusion-impl", "workload.loss"},
    {"moe-grouped-gemm", "", "", by_default},
    {"moe-use-legacy-grouped-gemm", "", "", by_default},
    {"distribute-saved-activations", "saved activations shared among tensor-parallel GPUs", "", no_key},
    {"use-nccl-ub", "registered buffers of NCCL", "", no_key},
    {"nccl-ub", "registered buffers of NCCL", "", no_key},
    {"manual-gc*", "pauses of Python's garbage collection", "", no_key},
    {"deterministic-mode", "deterministic kernels", "", no_key},
    {"empty-unused-memory-level", "memory freed between steps", "", no_key},
    {"freeze*", "frozen parts", "", no_key},
    {"encoder-tensor-model-parallel-size", "a separate encoder", "", no_key},
    {"encoder-pipeline-model-parallel-size", "a separate encoder", "", no_key},
    {"no-overlap-p2p-communication", "exchanges of interleaved stages that wait", "", no_key},
    {"overlap-p2p-comm", "", "", by_default},
    {"overlap-p2p-communication-warmup-flush", "exchanges beside compute in warm-up and flush", "", no_key},
    {"batch-p2p-communication", "", "", by_default},
    {"reset-attention-mask", "attention within documents only", "", no_key},
    {"create-attention-mask-in-dataloader", "", "", none},
    // Neither time nor memory of a step
    {"lr*", "", "", none},
    {"min-lr", "", "", none},
    {"weight-decay*", "", "", none},
    {"start-weight-decay", "", "", none},
    {"end-weight-decay", "", "", none},
    {"clip-grad", "", "", none},
    {"adam-*", "", "", none},
    {"sgd-momentum", "", "", none},
    {"muon-*", "", "", none},
    {"decoupled-*", "", "", none},
    {"override-opt-param-scheduler", "", "", none},
    {"use-checkpoint-*", "", "", none},
    {"warmup", "", "", none},
    {"seed", "", "", none},
    {"data-*", "", "", none},
    {"train-data-path", "", "", none},
    {"valid-data-path", "", "", none},
    {"test-data-path", "", "", none},
    {"per-split-data-args-path", "", "", none},
    {"split", "", "", none},
    {"mock-data", "", "", none},
    {"dataloader-type", "", "", none},
    {"num-workers", "", "", none},
    {"num-dataset-builder-threads", "", "", none},
    {"no-create-attention-mask-in-dataloader", "", "", none},
    {"no-mmap-bin-files", "", "", none},
    {"reset-position-ids", "", "", none},
    {"eod-mask-loss", "", "", none},
    {"tokenizer-*", "", "", none},
    {"tiktoken-*", "", "", none},
    {"vocab-file", "", "", none},
    {"merge-file", "", "", none},
    {"vocab-extra-ids", "", "", none},
    {"null-tokenizer-*", "", "", none},
    {"save*", "", "", none},
    {"load*", "", "", none},
    {"no-save-*", "", "", none},
    {"no-load-*", "", "", none},
    {"finetune", "", "", none},
    {"pretrained-checkpoint", "", "", none},
    {"ckpt-*", "", "", none},
    {"use-dist-ckpt", "", "", none},
    {"use-persistent-ckpt-worker", "", "", none},
    {"dist-ckpt-*", "", "", none},
    {"async-save", "", "", none},
    {"auto-detect-ckpt-format", "", "", none},
    {"non-persistent-*", "", "", none},
    {"exit-*", "", "", none},
    {"eval-*", "", "", none},
    {"skip-train", "", "", none},
    {"test-mode", "", "", none},
    {"log-*", "", "", none},
    {"logging-level", "", "", none},
    {"no-log-*", "", "", none},
    {"timing-log-*", "", "", none},
    {"tensorboard-*", "", "", none},
    {"wandb-*", "", "", none},
    {"profile*", "", "", none},
    {"record-memory-history", "", "", none},
    {"use-pytorch-profiler", "", "", none},
    {"distributed-backend", "", "", none},
    {"distributed-timeout-*", "", "", none},
    {"local-rank", "", "", none},
    {"lazy-mpu-init", "", "", none},
    {"init-method-std", "", "", none},
    {"init-method-xavier-uniform", "", "", none},
    {"norm-epsilon", "", "", none},
    {"apply-layernorm-1p", "", "", none},
    {"norm-1p", "", "", none},
    {"apply-query-key-layer-scaling", "", "", none},
    {"attention-softmax-in-fp32", "", "", none},
    {"rotary-*", "", "", none},
    {"no-rope-freq", "", "", none},
    {"rope-*", "", "", none},
    {"use-rope-scaling", "", "", none},
    {"mrope-section", "", "", none},
    {"yarn-*", "", "", none},
    {"mscale*", "", "", none},
    {"beta-fast", "", "", none},
    {"beta-slow", "", "", none},
    {"original-max-position-embeddings", "", "", none},
    {"cache-mla-latents", "", "", none},
    {"mtp-loss-scaling-factor", "", "", none},
    {"initial-loss-scale", "", "", none},
    {"min-loss-scale", "", "", none},
    {"loss-scale*", "", "", none},
    {"hysteresis", "", "", none},
    {"check-for-nan-in-loss-and-grad", "", "", none},
    {"no-check-for-nan-in-loss-and-grad", "", "", none},
    {"check-for-*", "", "", none},
    {"rerun-mode", "", "", none},
    {"router-*", "", "", none},
    {"moe-router-*", "", "", none},
    {"moe-aux-loss-coeff", "", "", none},
    {"moe-z-loss-coeff", "", "", none},
    {"moe-input-jitter-eps", "", "", none},
    {"moe-per-layer-logging", "", "", none},
    {"moe-apply-probs-on-input", "", "", none},
    {"fp8-margin", "", "", none},
    {"fp8-interval", "", "", none},
    {"fp8-amax-*", "", "", none},
    {"no-fp8-wgrad", "gradients of weights in 16 bits", "", no_key},
    {"DDP-impl", "", "", by_default},
    {"no-async-tensor-model-parallel-allreduce", "", "", by_default},
    {"no-masked-softmax-fusion", "fusions that are off", "", no_key},
    {"no-bias-*-fusion", "fusions that are off", "", no_key},
    {"no-bias-swiglu-fusion", "fusions that are off", "", no_key},
    {"no-bias-gelu-fusion", "fusions that are off", "", no_key},
    {"no-bias-dropout-fusion", "fusions that are off", "", no_key},
    {"no-rope-fusion", "fusions that are off", "", no_key},
    {"no-gradient-accumulation-fusion", "fusions that are off", "", no_key},
    {"no-persist-layer-norm", "fusions that are off", "", no_key},
    {"use-flash-attn*", "", "", by_default},
    {"use-cpu-initialization", "", "", none},
    {"no-barrier-with-level-1-timing", "", "", none},
    {"barrier-with-L1-time", "", "", none},
    {"enable-experimental", "", "", none},
    {"calculate-per-token-loss", "", "", none},
    {"use-sharp", "", "", none},
    {"high-priority-stream-groups", "", "", none},
    {"disable-jit-fuser", "", "", none},
    {"is-hybrid-model", "", "", none},
    {"spec", "", "", none},
    {"yaml-cfg", "settings in another file: give it as one more FILE", "", no_key},
});

constexpr auto deepspeed_dialect = std::to_array<SettingDialect>({
    {"num-key-value-heads", "num-query-groups"},
    {"topk", "moe-router-topk", "1"},
    {"moe-expert-parallel-size", "expert-model-parallel-size"},
    {"moe-train-capacity-factor", "moe-expert-capacity-factor", "1.0"},
    {"transformer-impl", "", "local"},
});

// megatron/arguments.py of deepspeedai/Megatron-DeepSpeed at commit 4efb479d, beside those of Megatron-LM.
constexpr auto deepspeed_only = std::to_array<TrainerSetting>({
    {"deepspeed", "software"},
    {"pad-vocab-size-to", "workload.vocabulary"},  // of bigscience-workshop/Megatron-DeepSpeed
    {"embed-layernorm", "a norm behind the embedding", "", no_key},
    {"pp-partition-method", "split"},
    {"kill-switch-path", "", "", none},
    {"abort-on-unmet-fused-kernel-constraints", "", "", none},
    {"train-weighted-split-paths-path", "", "", none},
    {"valid-weighted-split-paths-path", "", "", none},
    {"valid-num-workers", "", "", none},
    {"deepspeed_config", "sharding"},
    {"zero-stage", "sharding", "1"},
    {"no-pipeline-parallel", "pp"},
    {"ds-sequence-parallel-size", "ulysses", "1"},
    {"checkpoint-activations", "recompute"},
    {"deepspeed-activation-checkpointing", "recompute"},
    {"checkpoint-num-layers", "", "1", none},
    {"enable-zbh1-pipeline", "schedule"},
    {"train-tokens", "phase.steps"},
    {"expert-interval", "layers with experts", "2"},
    {"disable-moe-token-dropping", "experts.capacity"},
    {"moe-eval-capacity-factor", "", "", none},
    {"moe-min-capacity", "", "", none},
    {"moe-loss-coeff", "", "", none},
    {"mlp-type", "", "standard", none},
    {"cpu-optimizer", "offload"},
    {"partition-activations", "saved activations shared among tensor-parallel GPUs", "", no_key},
    {"synchronize-each-layer", "", "", none},
    {"deepscale*", "", "", none},
    {"universal-checkpoint", "", "", none},
    {"use-rotary-position-embeddings", "workload.positions"},
    {"memory-centric-tiled-linear", "products in tiles", "", no_key},
});

constexpr auto slime_only = std::to_array<TrainerSetting>({
    {"actor-num-nodes", "gpus", "1"},
    {"actor-num-gpus-per-node", "gpus", "8"},
    {"num-rollout", "phase.steps"},
    {"num-epoch", "phase.steps"},
    {"rollout-batch-size", "phase.steps"},
    {"n-samples-per-prompt", "phase.steps", "1"},
    {"num-steps-per-rollout", "phase.global_batch"},
    {"rollout-max-response-len", "phase.sequence_length"},
    {"rollout-max-prompt-len", "phase.sequence_length"},
    {"use-dynamic-batch-size", "data.batching"},
    {"max-tokens-per-gpu", "data.batching"},
    {"colocate", "", "", none},
    {"rollout-*", "", "", none},
    {"prompt-data", "", "", none},
    {"input-key", "", "", none},
    {"label-key", "", "", none},
    {"apply-chat-template*", "", "", none},
    {"rm-type", "", "", none},
    {"reward-*", "", "", none},
    {"balance-data", "", "", none},
    {"advantage-estimator", "", "", none},
    {"use-kl-loss", "", "", none},
    {"kl-*", "", "", none},
    {"entropy-coef", "", "", none},
    {"eps-clip*", "", "", none},
    {"sglang-*", "", "", none},
    {"hf-checkpoint", "", "", none},
    {"ref-load", "", "", none},
    {"megatron-to-hf-mode", "", "", none},
    {"n-samples-per-eval-prompt", "", "", none},
});

template <std::size_t A, std::size_t B>
constexpr std::array<TrainerSetting, A + B> joined(const std::array<TrainerSetting, A>& a, const std::array<TrainerSetting, B>& b)
{
    std::array<TrainerSetting, A + B> all{};
    for (std::size_t i = 0; i < A + B; ++i) {
        all[i] = i < A ? a[i] : b[i - A];
    }
    return all;
}
constexpr auto deepspeed_rows = joined(deepspeed_only, rows);
constexpr auto slime_rows = joined(slime_only, rows);

// src/megatron/bridge/training/config.py, models/gpt_provider.py and recipes/common.py of NVIDIA-NeMo/Megatron-Bridge at commit 067f987d.
constexpr auto bridge_dialect = std::to_array<SettingDialect>({
    {"share-embeddings-and-output-weights", "untie-embeddings-and-output-weights", "", true},
    {"model.fp8", "fp8-format"},
    {"use-distributed-optimizer", "", "true"},
    {"overlap-grad-reduce", "", "true"},
    {"overlap-param-gather", "", "true"},
    {"dataset.seq_length", "seq-length"},
    {"dataset.sequence_length", "seq-length"},
    {"comm_overlap.tp_comm_overlap", "tp-comm-overlap"},
    {"micro-batch-size", "", "2"},
    {"global-batch-size", "", "32"},
    {"train-iters", "", "300000"},
    {"microbatch-group-size-per-vp-stage", "microbatch-group-size-per-virtual-pipeline-stage"},
});
constexpr auto bridge_only = std::to_array<TrainerSetting>({
    {"recipe", "workload.model"},
    {"mode", "", "", none},
    {"dataset", "", "", none},
    {"nodes", "gpus"},
    {"gpus-per-node", "gpus"},
    {"mixed-precision", "workload.precision", "bf16_mixed"},
    {"num-epochs", "phase.steps"},
    {"peft", "workload.method"},
    {"peft.dim", "workload.adapter_rank", "32"},
    {"should-pad-vocab", "", "false", none},
    {"dataset.*", "", "", none},
    {"checkpoint.*", "", "", none},
    {"logger.*", "", "", none},
    {"scheduler.*", "", "", none},
    {"optimizer.*", "", "", none},
    {"tokenizer.*", "", "", none},
    {"rng.*", "", "", none},
    {"validation.*", "", "", none},
    {"profiling.*", "", "", none},
    {"eval-*", "", "", none},
});
constexpr auto bridge_rows = joined(bridge_only, rows);
constexpr auto bridge_sections =
    std::to_array<std::string_view>({"model.", "train.", "ddp.", "dist.", "comm_overlap.", "mixed_precision.", "validation."});

// examples/nlp/language_modeling/conf/megatron_gpt_config.yaml of NVIDIA/NeMo at commit 8cfedd72.
constexpr auto nemo1_dialect = std::to_array<SettingDialect>({
    {"model.micro_batch_size", "micro-batch-size", "4"},
    {"model.global_batch_size", "global-batch-size", "8"},
    {"model.encoder_seq_length", "encoder-seq-length", "512"},
    {"share-embeddings-and-output-weights", "untie-embeddings-and-output-weights", "", true},
    {"activations-checkpoint-granularity", "recompute-granularity"},
    {"activations-checkpoint-method", "recompute-method"},
    {"activations-checkpoint-num-layers", "recompute-num-layers"},
    {"bias", "disable-bias-linear", "", true},
    {"trainer.max_steps", "train-iters"},
    {"trainer.precision", "precision"},
    {"ub-tp-comm-overlap", "tp-comm-overlap"},
    {"model.optim.name", "optim-name"},
    {"attention-dropout", "attention-dropout", "0.1"},
});
constexpr auto nemo1_only = std::to_array<TrainerSetting>({
    {"trainer.devices", "gpus", "1"},
    {"trainer.num_nodes", "gpus", "1"},
    {"trainer.accumulate_grad_batches", "", "1", none},
    {"trainer.*", "", "", none},
    {"precision", "workload.precision"},
    {"activation", "workload.activation", "gelu"},
    {"optim-name", "sharding", "fused_adam"},
    {"fp8", "workload.precision"},
    {"fsdp", "sharding"},
    {"mcore_gpt", "", "", by_default},
    {"transformer-engine", "", "", by_default},
    {"tokenizer*", "", "", none},
    {"optim*", "", "", none},
    {"name", "", "", none},
    {"exp_manager*", "", "", none},
    {"run*", "", "", none},
    {"restore-from-path", "", "", none},
    {"data.*", "", "", none},
    {"layernorm-epsilon", "", "", none},
    {"bias-*fusion", "", "", by_default},
    {"bias-activation-fusion", "", "", by_default},
    {"bias-dropout-add-fusion", "", "", by_default},
    {"masked-softmax-fusion", "", "", by_default},
    {"gradient-as-bucket-view", "", "", by_default},
    {"megatron-amp-O2", "", "", by_default},
    {"grad-allreduce-chunk-size-mb", "size of buckets", "", no_key},
    {"nsys-profile*", "", "", none},
    {"resume-from-checkpoint", "", "", none},
    {"pre-process", "", "", none},
    {"post-process", "", "", none},
    {"persist-layer-norm", "", "", by_default},
    {"gc-interval", "", "", none},
    {"native-amp-*", "", "", none},
});
constexpr auto nemo1_rows = joined(nemo1_only, rows);
constexpr auto nemo1_sections = std::to_array<std::string_view>({"model."});

// primus/configs/modules/megatron and models/megatron of AMD-AGI/Primus at commit fd1eeabb.
constexpr auto primus_dialect = std::to_array<SettingDialect>({
    {"untie-embeddings-and-output-weights", "", "true"},
    {"add-bias-linear", "disable-bias-linear", "", true},
    {"disable-bias-linear", "", "true"},
    {"swiglu", "", "true"},
    {"use-distributed-optimizer", "", "true"},
    {"seq-length", "", "1024"},
    {"global-batch-size", "", "16"},
    {"micro-batch-size", "", "2"},
    {"bf16", "", "true"},
});
constexpr auto primus_only = std::to_array<TrainerSetting>({
    {"exp_name", "", "", none},
    {"work_group", "", "", none},
    {"user_name", "", "", none},
    {"workspace", "", "", none},
    {"modules.pre_trainer.framework", "", "", by_default},
    {"modules.pre_trainer.config", "", "", by_default},
    {"modules.pre_trainer.model", "workload.model"},
    {"stderr-sink-level", "", "", none},
    {"platform*", "", "", none},
});
constexpr auto primus_rows = joined(primus_only, rows);
constexpr auto primus_sections = std::to_array<std::string_view>({"modules.pre_trainer.overrides."});

}  // namespace

const TrainerSettings& megatron_settings()
{
    static constexpr TrainerSettings table{"Megatron-LM", rows, {}};
    return table;
}

const TrainerSettings& megatron_deepspeed_settings()
{
    static constexpr TrainerSettings table{"Megatron-DeepSpeed", deepspeed_rows, deepspeed_dialect};
    return table;
}

const TrainerSettings& slime_settings()
{
    static constexpr TrainerSettings table{"slime", slime_rows, {}};
    return table;
}

const TrainerSettings& bridge_settings()
{
    static constexpr TrainerSettings table{"Megatron-Bridge", bridge_rows, bridge_dialect, bridge_sections};
    return table;
}

const TrainerSettings& nemo1_settings()
{
    static constexpr TrainerSettings table{"NeMo 1", nemo1_rows, nemo1_dialect, nemo1_sections};
    return table;
}

const TrainerSettings& primus_settings()
{
    static constexpr TrainerSettings table{"Primus", primus_rows, primus_dialect, primus_sections};
    return table;
}

}  // namespace prismopt
