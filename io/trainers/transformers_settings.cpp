#include "io/trainers/deepspeed_settings.hpp"
#include "io/trainers/trainer_settings.hpp"

#include <array>

namespace prismopt {

namespace {

using enum SettingEffect;

// src/transformers/training_args.py of huggingface/transformers at commit 00349ae8; commands/launch.py,
// commands/config/config_args.py and utils/dataclasses.py of huggingface/accelerate at 16cb6eb8 (names with
// "accelerate.").
constexpr auto shared_rows = std::to_array<TrainerSetting>({
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
    // training_args.py, fsdp_config, and FSDPConfig of Axolotl (src/axolotl/utils/schemas/fsdp.py)
    {"fsdp_config", "sharding"},
    {"fsdp_config.fsdp_version", "sharding", "1"},
    {"fsdp_config.reshard_after_forward", "sharding", "true"},
    {"fsdp_config.offload_params", "offload"},
    {"fsdp_config.cpu_offload", "offload"},
    {"fsdp_config.activation_checkpointing", "recompute"},
    {"fsdp_config.sharding_strategy", "sharding"},
    {"fsdp_config.auto_wrap_policy", "", "", by_default},
    {"fsdp_config.transformer_layer_cls_to_wrap", "", "", by_default},
    {"fsdp_config.min_num_params", "", "", by_default},
    {"fsdp_config.backward_prefetch", "", "", by_default},
    {"fsdp_config.backward_prefetch_policy", "", "", by_default},
    {"fsdp_config.forward_prefetch", "", "", by_default},
    {"fsdp_config.limit_all_gathers", "", "", by_default},
    {"fsdp_config.use_orig_params", "", "", by_default},
    {"fsdp_config.mixed_precision_policy", "", "", by_default},
    {"fsdp_config.sync_module_states", "", "", none},
    {"fsdp_config.cpu_ram_efficient_loading", "", "", none},
    {"fsdp_config.cpu_offload_pin_memory", "", "", by_default},
    {"fsdp_config.state_dict_type", "", "", none},
    {"fsdp_config.final_state_dict_type", "", "", none},
    {"fsdp_config.xla", "FSDP of PyTorch/XLA", "false", by_default},
    {"fsdp_config.xla_fsdp_v2", "FSDP of PyTorch/XLA", "false", by_default},
    {"fsdp_config.xla_fsdp_grad_ckpt", "FSDP of PyTorch/XLA", "false", by_default},
    {"fsdp_config.xla_fsdp_settings.*", "FSDP of PyTorch/XLA", "", no_key},
    {"fsdp_min_num_params", "", "", by_default},
    {"fsdp_transformer_layer_cls_to_wrap", "", "", by_default},
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
    {"accelerate.fsdp_auto_wrap_policy", "", "", by_default},
    {"accelerate.fsdp_transformer_layer_cls_to_wrap", "", "", by_default},
    {"accelerate.fsdp_min_num_params", "", "", by_default},
    {"accelerate.fsdp_backward_prefetch", "", "", by_default},
    {"accelerate.fsdp_backward_prefetch_policy", "", "", by_default},
    {"accelerate.fsdp_forward_prefetch", "", "", by_default},
    {"accelerate.fsdp_use_orig_params", "", "", by_default},
    {"accelerate.fsdp_sync_module_states", "", "", none},
    {"accelerate.fsdp_cpu_ram_efficient_loading", "", "", none},
    {"accelerate.fsdp_state_dict_type", "", "", none},
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
    {"accelerate.parallelism_config_cp_backend", "", "", by_default},
    {"accelerate.parallelism_config_cp_comm_strategy", "context_exchange"},
    {"accelerate.parallelism_config_sp_backend", "", "", by_default},
    {"accelerate.parallelism_config_sp_seq_length", "", "", none},
    {"accelerate.parallelism_config_sp_seq_length_is_variable", "", "", none},
    {"accelerate.parallelism_config_sp_attn_implementation", "kernels of sequence parallelism", "", no_key},
    {"accelerate.use_parallelism_config", "", "", by_default},
    {"accelerate.zero3_init_flag", "", "", none},
    {"accelerate.zero3_save_16bit_model", "", "", none},
    {"accelerate.offload_optimizer_nvme_path", "", "", none},
    {"accelerate.offload_param_nvme_path", "", "", none},
    {"accelerate.gradient_clipping", "", "", none},
    {"accelerate.deepspeed_hostfile", "", "", none},
    {"accelerate.deepspeed_exclusion_filter", "", "", none},
    {"accelerate.deepspeed_inclusion_filter", "", "", none},
    {"accelerate.deepspeed_multinode_launcher", "", "", none},
    {"accelerate.deepspeed_moe_layer_cls_names", "", "", none},
    {"accelerate.dynamo_backend", "compiled kernels", "no", by_default},
    {"accelerate.dynamo_*", "compiled kernels", "", no_key},
    {"accelerate.fp8_*", "recipe of FP8", "", no_key},
    {"accelerate.use_megatron_lm", "Megatron-LM inside accelerate", "", no_key},
    {"accelerate.megatron_lm_*", "Megatron-LM inside accelerate", "", no_key},
    {"accelerate.tpu_*", "", "", none},
    {"accelerate.mpirun_*", "", "", none},
    {"accelerate.ipex_*", "", "", none},
    {"accelerate.aws_*", "", "", none},
    {"accelerate.rdzv_*", "", "", none},
    {"accelerate.config_file", "", "", none},
    {"accelerate.compute_environment", "", "", none},
    {"accelerate.debug", "", "", none},
    {"accelerate.quiet", "", "", none},
    {"accelerate.q", "", "", none},
    {"accelerate.multi_gpu", "", "", by_default},
    {"accelerate.cpu", "", "", none},
    {"accelerate.use_cpu", "", "", none},
    {"accelerate.use_xpu", "", "", none},
    {"accelerate.tpu", "", "", none},
    {"accelerate.gpu_ids", "", "", none},
    {"accelerate.same_network", "", "", none},
    {"accelerate.machine_rank", "", "", none},
    {"accelerate.main_process_ip", "", "", none},
    {"accelerate.main_process_port", "", "", none},
    {"accelerate.main_training_function", "", "", none},
    {"accelerate.num_cpu_threads_per_process", "", "", none},
    {"accelerate.enable_cpu_affinity", "", "", none},
    {"accelerate.downcast_bf16", "", "", none},
    {"accelerate.command_file", "", "", none},
    {"accelerate.commands", "", "", none},
    {"accelerate.vm", "", "", none},
    {"accelerate.env", "", "", none},
    {"accelerate.tee", "", "", none},
    {"accelerate.t", "", "", none},
    {"accelerate.log_dir", "", "", none},
    {"accelerate.role", "", "", none},
    {"accelerate.max_restarts", "", "", none},
    {"accelerate.monitor_interval", "", "", none},
    {"accelerate.module", "", "", none},
    {"accelerate.m", "", "", none},
    {"accelerate.no_python", "", "", none},
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
    {"val_size", "phase.steps"},
    {"logging_*", "", "", none},
    {"log_*", "", "", none},
    {"report_to", "", "", none},
    {"run_name", "", "", none},
    {"save_*", "", "", none},
    {"push_to_hub", "", "", none},
    {"hub_*", "", "", none},
    {"neftune_noise_alpha", "", "", none},
    {"model_type", "", "", none},
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
constexpr auto rows = joined(shared_rows, deepspeed_json_rows);

// training_args.py of transformers and src/axolotl/utils/schemas/validation.py of Axolotl drop "fsdp_";
// commands/launch.py of accelerate adds it to the keys of its section.
constexpr auto prefixes = std::to_array<SettingPrefix>({
    {"fsdp_config.fsdp_", "fsdp_config."},
    {"accelerate.fsdp_config.", "accelerate."},
    {"accelerate.fsdp_config.", "accelerate.fsdp_"},
    {"accelerate.deepspeed_config.", "accelerate."},
    {"accelerate.parallelism_config.", "accelerate."},
    {"accelerate.megatron_lm_config.", "accelerate."},
    {"accelerate.dynamo_config.", "accelerate."},
    {"accelerate.fp8_config.", "accelerate.fp8_"},
    {"accelerate.ipex_config.", "accelerate.ipex_"},
    {"accelerate.mpirun_config.", "accelerate.mpirun_"},
    deepspeed_json_prefix,
});

constexpr auto trainer_dialect = std::to_array<SettingDialect>({
    {"fsdp_config.version", "fsdp_config.fsdp_version"},
});

// trl/trainer/base_config.py, sft_config.py and model_config.py of huggingface/trl at commit f2cd5771.
constexpr auto trl_dialect = std::to_array<SettingDialect>({
    {"fsdp_config.version", "fsdp_config.fsdp_version"},
    {"gradient_checkpointing", "", "true"},
    {"bf16", "", "true"},
    {"max_length", "", "1024"},
    {"dtype", "", "float32"},
});

// src/llamafactory/hparams/ of hiyouga/LLaMA-Factory at commit ff6d4d12.
constexpr auto factory_dialect = std::to_array<SettingDialect>({
    {"fsdp_config.version", "fsdp_config.fsdp_version"},
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
    {"max_samples", "phase.steps"},  // of each data set
    {"dataset", "", "", none},
    {"plot_loss", "", "", none},
    {"media_dir", "", "", none},
    {"image_max_pixels", "", "", none},
    {"video_max_pixels", "", "", none},
});

// swift/arguments and swift/trainers of modelscope/ms-swift at commit 3602360a.
constexpr auto swift_dialect = std::to_array<SettingDialect>({
    {"fsdp_config.version", "fsdp_config.fsdp_version"},
    {"model", "model_name_or_path"},
    {"per_device_train_batch_size", "", "1"},
    {"gradient_checkpointing", "", "true"},
    {"lora_rank", "lora_r", "8"},
    {"target_modules", "lora_target_modules", "all-linear"},
    {"attn_impl", "attn_implementation"},
});
constexpr auto swift_only = std::to_array<TrainerSetting>({
    {"rlhf_type", "task"},
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
    {"fsdp_config.version", "fsdp_config.fsdp_version"},
    {"sequence_parallel_degree", "context_parallel_size"},  // its name before context_parallel_size
    {"flash_attention", "attn_implementation"},
});
constexpr auto axolotl_only = std::to_array<TrainerSetting>({
    {"rl", "task"},
    {"adapter", "workload.method"},
    {"lora_target_linear", "workload.adapter_targets"},
    {"batch_size", "phase.global_batch"},
    {"dp_shard_size", "shard_gpus"},
    {"dp_replicate_size", "shard_gpus"},
    {"tensor_parallel_size", "tp", "1"},
    {"context_parallel_size", "cp", "1"},
    {"pad_to_sequence_len", "", "", by_default},
    {"base_model_config", "", "", none},
    // src/axolotl/integrations/liger/args.py and cut_cross_entropy/args.py
    {"plugins", "workload.loss"},
    {"liger_fused_linear_cross_entropy", "workload.loss"},
    {"liger_cross_entropy", "workload.loss"},
    {"cut_cross_entropy", "workload.loss", "true"},
    {"liger_rope", "fused kernels (Liger)", "false", by_default},
    {"liger_rms_norm", "fused kernels (Liger)", "false", by_default},
    {"liger_layer_norm", "fused kernels (Liger)", "false", by_default},
    {"liger_swiglu", "fused kernels (Liger)", "false", by_default},
    {"liger_glu_activation", "fused kernels (Liger)", "false", by_default},
    {"liger_use_token_scaling", "", "", none},
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
    // verl/trainer/config/actor/actor.yaml, dp_actor.yaml and engine/fsdp.yaml
    {"actor_rollout_ref.actor.fsdp_config.offload_policy", "offload"},
    {"actor_rollout_ref.actor.fsdp_config.wrap_policy.*", "", "", by_default},
    {"actor_rollout_ref.actor.fsdp_config.forward_prefetch", "", "", by_default},
    {"actor_rollout_ref.actor.fsdp_config.use_orig_params", "", "", by_default},
    {"actor_rollout_ref.actor.fsdp_config.use_torch_compile", "compiled kernels", "true", by_default},
    {"actor_rollout_ref.actor.fsdp_config.entropy_from_logits_with_chunking", "entropy in chunks", "false",
     by_default},
    {"actor_rollout_ref.actor.fsdp_config.entropy_checkpointing", "entropy that is recomputed", "false",
     by_default},
    {"actor_rollout_ref.actor.fsdp_config.mixed_precision.*", "types of FSDP", "", no_key},
    {"actor_rollout_ref.actor.fsdp_config.forward_only", "", "", none},
    {"actor_rollout_ref.actor.fsdp_config.strategy", "", "", by_default},
    {"actor_rollout_ref.actor.entropy_from_logits_with_chunking", "entropy in chunks", "false", by_default},
    {"actor_rollout_ref.actor.entropy_checkpointing", "entropy that is recomputed", "false", by_default},
    {"actor_rollout_ref.actor.use_torch_compile", "compiled kernels", "true", by_default},
    {"actor_rollout_ref.actor.use_fused_kernels", "fused kernels of the loss", "false", by_default},
    {"actor_rollout_ref.actor.use_remove_padding", "", "", by_default},
    {"actor_rollout_ref.actor.ppo_micro_batch_size", "microbatch of all GPUs", "", no_key},
    {"actor_rollout_ref.actor.use_kl_loss", "", "", none},
    {"actor_rollout_ref.actor.kl_loss_*", "", "", none},
    {"actor_rollout_ref.actor.clip_ratio*", "", "", none},
    {"actor_rollout_ref.actor.policy_loss.*", "", "", none},
    {"actor_rollout_ref.actor.loss_agg_mode", "", "", none},
    {"actor_rollout_ref.actor.loss_scale_factor", "", "", none},
    {"actor_rollout_ref.actor.entropy_coeff", "", "", none},
    {"actor_rollout_ref.actor.grad_clip", "", "", none},
    {"actor_rollout_ref.actor.shuffle", "", "", none},
    {"actor_rollout_ref.actor.data_loader_seed", "", "", none},
    {"actor_rollout_ref.actor.optim.*", "", "", none},
    {"actor_rollout_ref.actor.checkpoint.*", "", "", none},
    {"actor_rollout_ref.actor.profiler.*", "", "", none},
    {"actor_rollout_ref.actor.profile.*", "", "", none},
    {"actor_rollout_ref.actor.megatron.*", "the Megatron backend of verl", "", no_key},
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

// HfArgumentParser in src/transformers/hf_argparser.py takes abbreviations, as argparse does; the options of
// Axolotl are those of click, which does not.
const TrainerSettings& transformers_settings()
{
    static constexpr TrainerSettings table{.program = "Hugging Face Trainer",
                                           .rows = rows,
                                           .dialect = trainer_dialect,
                                           .prefixes = prefixes,
                                           .abbreviations = true};
    return table;
}

const TrainerSettings& trl_settings()
{
    static constexpr TrainerSettings table{
        .program = "TRL", .rows = rows, .dialect = trl_dialect, .prefixes = prefixes, .abbreviations = true};
    return table;
}

const TrainerSettings& llama_factory_settings()
{
    static constexpr TrainerSettings table{.program = "LLaMA-Factory",
                                           .rows = factory_rows,
                                           .dialect = factory_dialect,
                                           .prefixes = prefixes,
                                           .abbreviations = true};
    return table;
}

const TrainerSettings& swift_settings()
{
    static constexpr TrainerSettings table{.program = "ms-swift",
                                           .rows = swift_rows,
                                           .dialect = swift_dialect,
                                           .prefixes = prefixes,
                                           .abbreviations = true};
    return table;
}

const TrainerSettings& axolotl_settings()
{
    static constexpr TrainerSettings table{"Axolotl", axolotl_rows, axolotl_dialect, prefixes};
    return table;
}

const TrainerSettings& verl_settings()
{
    static constexpr TrainerSettings table{"verl", verl_rows};
    return table;
}

}  // namespace prismopt
