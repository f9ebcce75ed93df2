#include "io/trainers/trainer_settings.hpp"

#include <array>

namespace prismopt {

namespace {

using enum SettingEffect;

// src/transformers/training_args.py of huggingface/transformers at commit 00349ae8; commands/launch.py
// and utils/dataclasses.py of huggingface/accelerate at 16cb6eb8 (names with "accelerate.");
// deepspeed/runtime/config.py, constants.py and zero/config.py of deepspeedai/DeepSpeed at edaa7221
// (names with "deepspeed_json.").
constexpr auto rows = std::to_array<TrainerSetting>({
    {"model_name_or_path", "workload"},
    {"per_device_train_batch_size", "microbatch", "8"},
    {"per_gpu_train_batch_size", "microbatch"},
    {"gradient_accumulation_steps", "phase.global_batch", "1"},
    {"max_steps", "phase.steps", "-1"},
    {"num_train_epochs", "phase.epochs", "3"},
    {"max_length", "phase.sequence_length"},
    {"max_seq_length", "phase.sequence_length"},
    {"block_size", "phase.sequence_length"},
    {"model_max_length", "phase.sequence_length"},
    {"packing", "data.batching"},
    {"padding_free", "data.batching"},
    {"group_by_length", "batches of similar lengths", "", no_key},
    {"bf16", "workload.precision"},
    {"fp16", "workload.precision"},
    {"torch_dtype", "workload.optimizer"},
    {"dtype", "workload.optimizer"},
    {"gradient_checkpointing", "recompute"},
    {"gradient_checkpointing_kwargs*", "", "", none},
    {"optim", "workload.optimizer", "adamw_torch"},
    {"torch_compile", "software"},
    {"deepspeed", "sharding"},
    {"fsdp", "sharding"},
    {"fsdp_config.fsdp_version", "sharding", "1"},
    {"fsdp_config.reshard_after_forward", "sharding", "true"},
    {"fsdp_config.offload_params", "offload"},
    {"fsdp_config.activation_checkpointing", "recompute"},
    {"fsdp_config.sharding_strategy", "sharding"},
    {"fsdp_config.*", "", "", by_default},
    {"use_liger_kernel", "workload.loss"},
    {"attn_implementation", "kernel"},
    {"use_peft", "workload.method"},
    {"lora_r", "workload.adapter_rank", "16"},
    {"lora_target_modules", "workload.adapter_targets"},
    {"lora_alpha", "", "", none},
    {"lora_dropout", "", "", none},
    {"lora_task_type", "", "", none},
    {"lora_modules_to_save", "layers that are trained beside adapters", "", no_key},
    {"use_rslora", "", "", none},
    {"use_dora", "DoRA instead of LoRA", "", no_key},
    {"load_in_4bit", "workload.frozen_storage"},
    {"load_in_8bit", "workload.frozen_storage"},
    {"use_bnb_nested_quant", "workload.frozen_storage"},
    {"bnb_4bit_quant_type", "", "", none},
    {"num_generations", "phase.global_batch", "8"},
    // accelerate
    {"accelerate.distributed_type", "sharding"},
    {"accelerate.use_fsdp", "sharding"},
    {"accelerate.use_deepspeed", "sharding"},
    {"accelerate.num_processes", "gpus"},
    {"accelerate.num_machines", "gpus"},
    {"accelerate.mixed_precision", "workload.precision"},
    {"accelerate.fsdp_version", "sharding", "1"},
    {"accelerate.fsdp_sharding_strategy", "sharding", "FULL_SHARD"},
    {"accelerate.fsdp_reshard_after_forward", "sharding", "true"},
    {"accelerate.fsdp_activation_checkpointing", "recompute"},
    {"accelerate.fsdp_offload_params", "offload"},
    {"accelerate.fsdp_cpu_ram_efficient_loading", "", "", none},
    {"accelerate.fsdp_*", "", "", by_default},
    {"accelerate.zero_stage", "sharding", "2"},
    {"accelerate.deepspeed_config_file", "sharding"},
    {"accelerate.gradient_accumulation_steps", "phase.global_batch"},
    {"accelerate.offload_optimizer_device", "offload"},
    {"accelerate.offload_param_device", "offload"},
    {"accelerate.parallelism_config_tp_size", "tp", "1"},
    {"accelerate.parallelism_config_cp_size", "cp", "1"},
    {"accelerate.parallelism_config_sp_size", "ulysses", "1"},
    {"accelerate.parallelism_config_dp_replicate_size", "shard_gpus", "1"},
    {"accelerate.parallelism_config_dp_shard_size", "shard_gpus", "1"},
    {"accelerate.parallelism_config*", "", "", by_default},
    {"accelerate.config_file", "", "", none},
    {"accelerate.megatron_lm_*", "Megatron-LM inside accelerate", "", no_key},
    {"accelerate.*", "", "", none},
    // DeepSpeed's JSON
    {"deepspeed_json.train_batch_size", "phase.global_batch"},
    {"deepspeed_json.train_micro_batch_size_per_gpu", "microbatch"},
    {"deepspeed_json.gradient_accumulation_steps", "phase.global_batch"},
    {"deepspeed_json.zero_optimization.stage", "sharding", "0"},
    {"deepspeed_json.zero_optimization.overlap_comm", "dp_overlap"},
    {"deepspeed_json.zero_optimization.offload_optimizer.device", "offload"},
    {"deepspeed_json.zero_optimization.offload_param.device", "offload"},
    {"deepspeed_json.zero_optimization.reduce_bucket_size", "size of buckets", "", no_key},
    {"deepspeed_json.zero_optimization.allgather_bucket_size", "size of buckets", "", no_key},
    {"deepspeed_json.zero_optimization.stage3_prefetch_bucket_size", "size of buckets", "", no_key},
    {"deepspeed_json.zero_optimization.stage3_param_persistence_threshold",
     "small parameters that are not sharded", "", no_key},
    {"deepspeed_json.zero_optimization.stage3_max_live_parameters", "most gathered parameters", "", no_key},
    {"deepspeed_json.zero_optimization.zero_hpz_partition_size",
     "a second copy of parameters in each node (hpZ)", "", no_key},
    {"deepspeed_json.zero_optimization.mics_shard_size", "shard_gpus"},
    {"deepspeed_json.zero_optimization.zero_quantized_*", "exchanges in few bits (ZeRO++)", "", no_key},
    {"deepspeed_json.zero_optimization.*", "", "", none},
    {"deepspeed_json.bf16.enabled", "workload.precision"},
    {"deepspeed_json.fp16.enabled", "workload.precision"},
    {"deepspeed_json.communication_data_type", "workload.optimizer.reduction"},
    {"deepspeed_json.data_types.grad_accum_dtype", "workload.optimizer.gradients"},
    {"deepspeed_json.tensor_parallel.autotp_size", "tp", "0"},
    {"deepspeed_json.sequence_parallel_size", "ulysses", "1"},
    {"deepspeed_json.activation_checkpointing.*", "options of checkpoints that the model must call", "",
     none},
    {"deepspeed_json.autotuning.enabled", "settings that DeepSpeed tunes", "", no_key},
    {"deepspeed_json.*", "", "", none},
    // Neither time nor memory of a step
    {"learning_rate", "", "", none},
    {"lr_*", "", "", none},
    {"warmup_*", "", "", none},
    {"weight_decay", "", "", none},
    {"adam_*", "", "", none},
    {"max_grad_norm", "", "", none},
    {"output_dir", "", "", none},
    {"overwrite_output_dir", "", "", none},
    {"do_train", "", "", none},
    {"do_eval", "", "", none},
    {"eval_*", "", "", none},
    {"evaluation_strategy", "", "", none},
    {"per_device_eval_batch_size", "", "", none},
    {"val_size", "", "", none},
    {"logging_*", "", "", none},
    {"log_*", "", "", none},
    {"report_to", "", "", none},
    {"run_name", "", "", none},
    {"save_*", "", "", none},
    {"push_to_hub", "", "", none},
    {"hub_*", "", "", none},
    {"seed", "", "", none},
    {"data_seed", "", "", none},
    {"dataset*", "", "", none},
    {"datasets*", "", "", none},
    {"train_file", "", "", none},
    {"validation_file", "", "", none},
    {"data_path", "", "", none},
    {"streaming", "", "", none},
    {"dataloader_*", "", "", none},
    {"preprocessing_num_workers", "", "", none},
    {"trust_remote_code", "", "", none},
    {"tokenizer*", "", "", none},
    {"token", "", "", none},
    {"chat_template*", "", "", none},
    {"config", "", "", none},
    {"ddp_timeout", "", "", none},
    {"ddp_find_unused_parameters", "", "", none},
    {"resume_from_checkpoint", "", "", none},
    {"remove_unused_columns", "", "", none},
    {"label_*", "", "", none},
    {"disable_tqdm", "", "", none},
    {"local_rank", "", "", none},
    {"tf32", "", "", none},
    {"include_*", "", "", none},
    {"load_best_model_at_end", "", "", none},
    {"metric_for_best_model", "", "", none},
    {"assistant_only_loss", "", "", none},
    {"completion_only_loss", "", "", none},
});

// trl/trainer/base_config.py, sft_config.py and model_config.py of huggingface/trl at commit f2cd5771.
constexpr auto trl_dialect = std::to_array<SettingDialect>({
    {"gradient_checkpointing", "", "true"},
    {"bf16", "", "true"},
    {"max_length", "", "1024"},
    {"dtype", "", "float32"},
});

// src/llamafactory/hparams/ of hiyouga/LLaMA-Factory at commit ff6d4d12.
constexpr auto factory_dialect = std::to_array<SettingDialect>({
    {"cutoff_len", "max_length", "2048"},
    {"lora_rank", "lora_r", "8"},
    {"lora_target", "lora_target_modules", "all"},
    {"disable_gradient_checkpointing", "gradient_checkpointing", "", true},
    {"gradient_checkpointing", "", "true"},
    {"flash_attn", "attn_implementation"},
    {"neat_packing", "packing"},
    {"enable_liger_kernel", "use_liger_kernel"},
});
constexpr auto factory_only = std::to_array<TrainerSetting>({
    {"stage", "task", "sft"},
    {"finetuning_type", "workload.method", "lora"},
    {"pure_bf16", "workload.optimizer"},
    {"quantization_bit", "workload.frozen_storage"},
    {"double_quantization", "workload.frozen_storage"},
    {"template", "", "", none},
    {"use_mca", "Megatron inside LLaMA-Factory", "", no_key},
    {"use_megatron_bridge", "Megatron inside LLaMA-Factory", "", no_key},
    {"freeze_trainable_layers", "trained layers", "", no_key},
    {"use_unsloth", "kernels of Unsloth", "", no_key},
    {"use_galore", "workload.optimizer", "", no_key},
    {"overwrite_cache", "", "", none},
    {"max_samples", "", "", none},
    {"plot_loss", "", "", none},
    {"media_dir", "", "", none},
    {"image_max_pixels", "", "", none},
    {"video_max_pixels", "", "", none},
});

// swift/arguments and swift/trainers of modelscope/ms-swift at commit 3602360a.
constexpr auto swift_dialect = std::to_array<SettingDialect>({
    {"model", "model_name_or_path"},
    {"per_device_train_batch_size", "", "1"},
    {"gradient_checkpointing", "", "true"},
    {"lora_rank", "lora_r", "8"},
    {"target_modules", "lora_target_modules", "all-linear"},
    {"attn_impl", "attn_implementation"},
});
constexpr auto swift_only = std::to_array<TrainerSetting>({
    {"tuner_type", "workload.method", "lora"},
    {"train_type", "workload.method"},
    {"sequence_parallel_size", "ulysses", "1"},
    {"quant_bits", "workload.frozen_storage"},
    {"quant_method", "", "", none},
    {"template", "", "", none},
    {"system", "", "", none},
    {"freeze_vit", "frozen parts of other modes", "", no_key},
    {"freeze_llm", "frozen parts", "", no_key},
    {"split_dataset_ratio", "", "", none},
    {"model_type", "", "", none},
    {"model_author", "", "", none},
    {"model_name", "", "", none},
    {"use_hf", "", "", none},
});

// src/axolotl/utils/schemas and src/axolotl/utils/config of axolotl-ai-cloud/axolotl at commit 067b021c.
constexpr auto axolotl_dialect = std::to_array<SettingDialect>({
    {"base_model", "model_name_or_path"},
    {"sequence_len", "max_length", "512"},
    {"micro_batch_size", "per_device_train_batch_size", "1"},
    {"num_epochs", "num_train_epochs", "1"},
    {"sample_packing", "packing"},
    {"optimizer", "optim"},
    {"fsdp_version", "fsdp_config.fsdp_version"},
    {"flash_attention", "attn_implementation"},
});
constexpr auto axolotl_only = std::to_array<TrainerSetting>({
    {"adapter", "workload.method"},
    {"lora_target_linear", "workload.adapter_targets"},
    {"batch_size", "phase.global_batch"},
    {"dp_shard_size", "shard_gpus"},
    {"dp_replicate_size", "shard_gpus"},
    {"tensor_parallel_size", "tp", "1"},
    {"context_parallel_size", "cp", "1"},
    {"pad_to_sequence_len", "", "", by_default},
    {"base_model_config", "", "", none},
    {"plugins", "kernels and trainers of plug-ins", "", no_key},
    {"liger_*", "fused kernels (Liger)", "", no_key},
    {"test_datasets*", "", "", none},
    {"shuffle_*", "", "", none},
    {"wandb_*", "", "", none},
    {"mlflow_*", "", "", none},
    {"strict", "", "", none},
    {"special_tokens*", "", "", none},
    {"tokens", "", "", none},
    {"cosine_*", "", "", none},
    {"train_on_inputs", "", "", none},
    {"evals_per_epoch", "", "", none},
    {"saves_per_epoch", "", "", none},
    {"val_set_size", "", "", none},
    {"lora_model_dir", "", "", none},
    {"xformers_attention", "attention of xFormers", "", no_key},
    {"early_stopping_patience", "", "", none},
    {"debug", "", "", none},
});

constexpr auto factory_rows = joined(factory_only, rows);
constexpr auto swift_rows = joined(swift_only, rows);
constexpr auto axolotl_rows = joined(axolotl_only, rows);

// verl/trainer/config and verl/workers of volcengine/verl at commit b178a3cd.
constexpr auto verl_rows = std::to_array<TrainerSetting>({
    {"trainer.nnodes", "gpus", "1"},
    {"trainer.n_gpus_per_node", "gpus", "8"},
    {"trainer.total_training_steps", "phase.steps"},
    {"trainer.total_epochs", "phase.epochs"},
    {"data.train_batch_size", "phase.global_batch", "1024"},
    {"data.max_prompt_length", "phase.sequence_length", "512"},
    {"data.max_response_length", "phase.sequence_length", "512"},
    {"actor_rollout_ref.model.path", "workload"},
    {"actor_rollout_ref.model.enable_gradient_checkpointing", "recompute", "true"},
    {"actor_rollout_ref.model.use_remove_padding", "", "", by_default},
    {"actor_rollout_ref.model.use_liger", "workload.loss"},
    {"actor_rollout_ref.model.lora_rank", "workload.adapter_rank", "0"},
    {"actor_rollout_ref.actor.strategy", "sharding", "fsdp"},
    {"actor_rollout_ref.actor.ppo_mini_batch_size", "phase.global_batch", "256"},
    {"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "microbatch"},
    {"actor_rollout_ref.actor.ppo_epochs", "phase.steps", "1"},
    {"actor_rollout_ref.actor.use_dynamic_bsz", "data.batching"},
    {"actor_rollout_ref.actor.ppo_max_token_len_per_gpu", "data.batching", "16384"},
    {"actor_rollout_ref.actor.ulysses_sequence_parallel_size", "ulysses", "1"},
    {"actor_rollout_ref.actor.fsdp_config.fsdp_size", "shard_gpus", "-1"},
    {"actor_rollout_ref.actor.fsdp_config.reshard_after_forward", "sharding", "true"},
    {"actor_rollout_ref.actor.fsdp_config.param_offload", "offload"},
    {"actor_rollout_ref.actor.fsdp_config.optimizer_offload", "offload"},
    {"actor_rollout_ref.actor.fsdp_config.model_dtype", "workload.optimizer", "fp32"},
    {"actor_rollout_ref.rollout.n", "phase.global_batch", "1"},
    {"actor_rollout_ref.actor.megatron.*", "the Megatron backend of verl", "", no_key},
    {"actor_rollout_ref.actor.*", "", "", none},
    {"actor_rollout_ref.rollout.*", "", "", none},
    {"actor_rollout_ref.ref.*", "", "", none},
    {"actor_rollout_ref.hybrid_engine", "", "", none},
    {"critic.*", "a critic, another network", "", no_key},
    {"reward_model.*", "", "", none},
    {"custom_reward_function.*", "", "", none},
    {"algorithm.*", "", "", none},
    {"data.*", "", "", none},
    {"trainer.*", "", "", none},
    {"ray_*", "", "", none},
});

}  // namespace

const TrainerSettings& transformers_settings()
{
    static constexpr TrainerSettings table{"Hugging Face Trainer", rows};
    return table;
}

const TrainerSettings& trl_settings()
{
    static constexpr TrainerSettings table{"TRL", rows, trl_dialect};
    return table;
}

const TrainerSettings& llama_factory_settings()
{
    static constexpr TrainerSettings table{"LLaMA-Factory", factory_rows, factory_dialect};
    return table;
}

const TrainerSettings& swift_settings()
{
    static constexpr TrainerSettings table{"ms-swift", swift_rows, swift_dialect};
    return table;
}

const TrainerSettings& axolotl_settings()
{
    static constexpr TrainerSettings table{"Axolotl", axolotl_rows, axolotl_dialect};
    return table;
}

const TrainerSettings& verl_settings()
{
    static constexpr TrainerSettings table{"verl", verl_rows};
    return table;
}

}  // namespace prismopt
