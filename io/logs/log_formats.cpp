#include "io/logs/log_formats.hpp"

#include "io/logs/structured_lines.hpp"

namespace prismopt {

namespace {

constexpr double mib = 1024.0 * 1024.0;
constexpr double gib = 1024.0 * mib;

}  // namespace

const std::vector<LogFormat>& log_formats()
{
    static const std::vector<LogFormat> list{
        {.name = "megatron",
         .trainers = "Megatron-LM, Megatron-Bridge, MindSpeed-LLM, Primus",
         .step = {"iteration ", "/"},
         .total = {"/", "|"},
         // Primus prints the last interval and the mean of the run: 9800.1/9790.4. The first is read.
         .quantity = {"elapsed time per iteration (ms):", "|/"},
         .kind = StepQuantity::milliseconds,
         .batch = {"global batch size:", "|"},
         .samples = {"consumed samples:", "|"},
         .memory = {"max allocated:", "|"},
         .memory_unit = mib,
         .source = "NVIDIA/Megatron-LM megatron/training/training.py @d98e8a64ddf3; Ascend/MindSpeed-LLM "
                   "mindspeed_llm/training/training.py "
                   "and mindspeed_llm/fsdp2/utils/train_monitor.py @c77308a14bfc; AMD-AGI/Primus "
                   "primus/backends/megatron/patches/training_log/print_rank_last_patches.py @fd1eeabbad15"},
        {.name = "bridge",
         .trainers = "Megatron-Bridge, where it prints only its own line",
         .step = {},
         .quantity = {"Step Time :", "s"},
         .source =
             "NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/train_utils.py @067f987df03b"},
        {.name = "nemo",
         .trainers = "NeMo 2, which prints a line per step",
         .step = {"iteration ", "/"},
         .total = {"/", "|"},
         .quantity = {"train_step_timing in s:", "|\n"},
         .counted_from = 1,
         .batch = {"global_batch_size:", "|\n"},
         .samples = {"consumed_samples:", "|\n"},
         .source = "NVIDIA/NeMo nemo/lightning/pytorch/callbacks/progress_printer.py @8cfedd720346"},
        {.name = "nemo-bar",
         .trainers = "NeMo, Lightning: the progress bar",
         .step = {"| ", "/"},  // of the bar: global_step is rounded to four digits there
         .quantity = {"train_step_timing in s=", ",]"},
         .source = "NVIDIA/NeMo nemo/utils/exp_manager.py @8cfedd720346"},
        {.name = "automodel",
         .trainers = "NeMo AutoModel",
         .step = {"step ", "|"},
         .quantity = {"| tps ", "("},
         .kind = StepQuantity::tokens_per_second,
         .memory = {"| mem ", "G"},
         .memory_unit = gib,
         .source = "NVIDIA-NeMo/Automodel nemo_automodel/recipes/llm/train_ft.py @36044ad3d139"},
        {.name = "torchtitan",
         .trainers = "torchtitan",
         .step = {"step:", "l"},
         .quantity = {"tps:", "t\n"},
         .kind = StepQuantity::tokens_per_second_per_gpu,
         .memory = {"memory:", "G"},
         .memory_unit = gib,
         .source = "pytorch/torchtitan torchtitan/components/metrics.py @b5bcd76c66d0"},
        {.name = "maxtext",
         .trainers = "MaxText",
         .step = {"completed step:", ","},
         .quantity = {"seconds:", ","},
         .mean = false,
         .counted_from = 1,
         .source = "AI-Hypercomputer/maxtext src/maxtext/common/metric_logger.py @e591f30cbbf2"},
        {.name = "deepspeed-pipeline",
         .trainers = "DeepSpeed with pipeline stages",
         .step = {"steps:", "l"},
         .quantity = {"iter time (s):", "s\n"},
         .source = "microsoft/DeepSpeed deepspeed/runtime/pipe/engine.py"},
        {.name = "deepspeed",
         .trainers = "DeepSpeed",
         .step = {"global_step=", ","},
         .quantity = {"CurrSamplesPerSec=", ",\n"},
         .kind = StepQuantity::sequences_per_second,
         .memory = {"MaxMemAllocated=", "G"},
         .memory_unit = gib,
         .source = "microsoft/DeepSpeed deepspeed/utils/timer.py @038beb633758"},
        {.name = "nanotron",
         .trainers = "nanotron",
         .step = {"iteration: ", "/"},
         .total = {"/", "|"},
         .quantity = {"time_per_iteration_ms:", "|\n"},  // elapsed_time_per_iteration_ms in older versions
         .kind = StepQuantity::milliseconds,
         .mean = false,
         .batch = {"global_batch_size:", "|\n"},
         .suffixed = true,
         .source = "huggingface/nanotron src/nanotron/trainer.py, src/nanotron/logging @2411b022"},
        {.name = "verl",
         .trainers = "verl: whole steps, with the generation of samples",
         .mean = false,
         .parse = parse_verl_line,
         .source = "volcengine/verl verl/trainer/ppo/metric_utils.py, verl/utils/tracking.py @b178a3cd"},
        {.name = "composer",
         .trainers = "Composer",
         .step = {"[batch=", "/"},
         .quantity = {"throughput/batches_per_sec:", "\n"},
         .kind = StepQuantity::steps_per_second,
         .step_above = true,
         .source = "mosaicml/composer composer/loggers/console_logger.py, "
                   "composer/callbacks/speed_monitor.py @64051888"},
        {.name = "olmo-core",
         .trainers = "OLMo-core",
         .step = {"[step=", "/"},
         .quantity = {"throughput/device/BPS=", "\n"},
         .kind = StepQuantity::steps_per_second,
         .step_above = true,
         .source =
             "allenai/OLMo-core src/olmo_core/train/callbacks/console_logger.py, speed_monitor.py @fa6c5014"},
        {.name = "mllog",
         .trainers = "MLPerf logs (MLLOG)",
         .parse = parse_mllog_line,
         .parse_batch = mllog_batch,
         .source = "mlcommons/logging mlperf_logging/mllog/mllog.py @7bbf7926; result logs of "
                   "mlcommons/training_results v5.0, v5.1"},
        {.name = "llama-factory",
         .trainers = "LLaMA-Factory: trainer_log.jsonl",
         .kind = StepQuantity::elapsed_seconds,
         .parse = parse_llama_factory_line,
         .source = "hiyouga/LLaMA-Factory src/llamafactory/train/callbacks.py @ff6d4d12"},
        {.name = "hf",
         .trainers = "Transformers' Trainer and what uses it (TRL, Axolotl): the progress bar",
         .kind = StepQuantity::elapsed_seconds,
         .parse = parse_progress_bar,
         .source =
             "huggingface/transformers src/transformers/trainer_callback.py @007360d6; the bar is tqdm's"},
    };
    return list;
}

}  // namespace prismopt
