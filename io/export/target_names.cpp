#include "io/export/target_names.hpp"

#include <stdexcept>

namespace prismopt {

// megatron/training/arguments.py at that commit; it names the checkpoints of releases before
// Megatron Core 0.14 as older ones.
const TargetNames& megatron_names()
{
    static const TargetNames table{"Megatron-LM at commit 000c4ac24f61, after the release core_v0.14",
                                   "https://github.com/NVIDIA/Megatron-LM/blob/"
                                   "000c4ac24f61159c138b0975def722c65245983c/megatron/training/arguments.py",
                                   megatron_settings()};
    return table;
}

// Fields of the classes of training/config.py at that commit, and, below model and ddp, of Megatron Core's
// TransformerConfig and DistributedDataParallelConfig, which they inherit.
const TargetNames& bridge_names()
{
    static const TargetNames table{
        "Megatron-Bridge at commit 4feb11f80e19 (NeMo's recipes)",
        "https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/4feb11f80e19fda2937f983688218300436e2177/"
        "src/megatron/bridge/training/"
        "config.py",
        bridge_settings()};
    return table;
}

const TargetNames& torchtitan_names()
{
    static const TargetNames table{"torchtitan at commit 6404b932421f",
                                   "https://github.com/pytorch/torchtitan/blob/"
                                   "6404b932421f5ce382e7dac5ad381b2c17b1373c/torchtitan/config/job_config.py",
                                   torchtitan_settings()};
    return table;
}

// Fields of ParallelismConfig (config/parallelism.py at the commit below) and of TrainingConfig
// (config/training.py at f204eb63c07b5b76df3a00a5d78c11c70272b943); the file is a function that --module and
// --config name (config/loader.py).
const TargetNames& torchtitan_recipe_names()
{
    static const TargetNames table{
        "torchtitan at commit 15e24313ef2e: configurations in Python, which replaced TOML after v0.2.2 (pull "
        "request 2386)",
        "https://github.com/pytorch/torchtitan/blob/15e24313ef2e324a31db0a9e0060d27965c4ef5e/torchtitan/"
        "config/parallelism.py",
        torchtitan_settings()};
    return table;
}

void Settings::set(std::string_view name, const std::string& value)
{
    if (known_setting(names_.settings, name).row == nullptr) {
        throw std::logic_error(names_.version + " has no " + std::string(name));
    }
    all_.emplace_back(name, value);
}

void Settings::set(std::string_view name, long value) { set(name, std::to_string(value)); }

}  // namespace prismopt
