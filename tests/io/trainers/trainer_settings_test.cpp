#include "io/trainers/trainer_settings.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace prismopt {

namespace {

std::vector<TrainerSettings> all_tables()
{
    return {megatron_settings(),   megatron_deepspeed_settings(),
            slime_settings(),      bridge_settings(),
            nemo1_settings(),      primus_settings(),
            torchtitan_settings(), transformers_settings(),
            trl_settings(),        llama_factory_settings(),
            swift_settings(),      axolotl_settings(),
            maxtext_settings(),    nanotron_settings(),
            verl_settings()};
}

TEST(TrainerSettings, SayWhatTheyGive)
{
    for (const TrainerSettings& table : all_tables()) {
        for (const TrainerSetting& row : table.rows) {
            const bool differs = row.effect == SettingEffect::by_default && !row.usual.empty();
            const bool says =
                row.effect == SettingEffect::read || row.effect == SettingEffect::no_key || differs;
            EXPECT_EQ(row.key.empty() && says, false) << table.program << " " << row.name;
        }
        for (const SettingDialect& dialect : table.dialect) {
            EXPECT_NE(known_setting(table, dialect.of.empty() ? dialect.name : dialect.of).row, nullptr)
                << table.program << " " << dialect.name;
        }
    }
}

TEST(TrainerSettings, FindNamesInAnySpelling)
{
    EXPECT_EQ(known_setting(megatron_settings(), "tensor_model_parallel_size").row->key, "tp");
    EXPECT_EQ(known_setting(bridge_settings(), "model.tensor_model_parallel_size").row->key, "tp");
    EXPECT_EQ(known_setting(megatron_settings(), "lr-warmup-samples").row->effect, SettingEffect::none);
}

/// Options of programs whose parser takes abbreviations, and no other names.
TEST(TrainerSettings, FindAbbreviatedOptionsWhereTheProgramDoes)
{
    EXPECT_EQ(known_setting(megatron_settings(), "tensor-model-parallel", true).row, nullptr);
    EXPECT_EQ(known_setting(megatron_deepspeed_settings(), "micro-batch", true).row, nullptr);
    EXPECT_EQ(known_setting(axolotl_settings(), "gradient_accumulation", true).row, nullptr);
    EXPECT_EQ(known_setting(bridge_settings(), "tensor-model-parallel", true).row->key, "tp");
    EXPECT_EQ(known_setting(bridge_settings(), "tensor-model-parallel").row, nullptr);  // of a file
    // It may be -size or -layout.
    EXPECT_EQ(known_setting(bridge_settings(), "pipeline-model-parallel", true).row, nullptr);
    EXPECT_EQ(known_setting(transformers_settings(), "gradient_accumulation", true).row->key,
              "phase.global_batch");
    EXPECT_EQ(known_setting(transformers_settings(), "accelerate.num_proc", true).row, nullptr);
}

TEST(TrainerSettings, GuessMisspeltNames)
{
    EXPECT_EQ(likely_setting(megatron_settings(), "micro-batch"), "micro-batch-size");
    EXPECT_EQ(likely_setting(megatron_settings(), "sequence_paralel"), "sequence-parallel");
    EXPECT_EQ(likely_setting(bridge_settings(), "model.recompute_metod"), "recompute-method");
    EXPECT_EQ(likely_setting(megatron_settings(), "own-option"), "");
    EXPECT_EQ(likely_setting(megatron_settings(), "tp"), "");
}

TEST(TrainerSettings, FindNamesWithOtherPrefixes)
{
    EXPECT_EQ(known_setting(axolotl_settings(), "fsdp_config.fsdp_offload_params").row->key, "offload");
    EXPECT_EQ(known_setting(axolotl_settings(), "fsdp_config.fsdp_version").row->key, "sharding");
    EXPECT_EQ(known_setting(transformers_settings(), "accelerate.fsdp_config.offload_params").row->key,
              "offload");
    EXPECT_EQ(known_setting(transformers_settings(), "accelerate.deepspeed_config.zero_stage").row->key,
              "sharding");
    EXPECT_EQ(known_setting(megatron_deepspeed_settings(), "deepspeed_json.bfloat16.enabled").row->key,
              "workload.precision");
    EXPECT_EQ(known_setting(bridge_settings(), "optimizer.main_grads_dtype").row->key,
              "workload.optimizer.gradients");
}

TEST(TrainerSettings, DoNotDeclareMisspeltNamesHarmless)
{
    for (const char* name :
         {"deepspeed_json.zero_optimisation.stage", "deepspeed_json.zero_optimization.prefetch_bucket",
          "deepspeed_json.zero_optimization.offload_optmizer.device", "fsdp_config.fsdp_ofload_parms",
          "accelerate.fsdp_config.fsdp_bogus", "accelerate.mixed_precison"}) {
        EXPECT_EQ(known_setting(axolotl_settings(), name).row, nullptr) << name;
    }
    EXPECT_EQ(known_setting(bridge_settings(), "optimizer.use_distributed_optimiser", true).row, nullptr);
    EXPECT_EQ(known_setting(verl_settings(), "actor_rollout_ref.actor.fsdp_config.param_ofload").row,
              nullptr);
    EXPECT_EQ(known_setting(nanotron_settings(), "optimizer.zero_stag").row, nullptr);
    EXPECT_EQ(known_setting(nemo1_settings(), "model.optim.nam").row, nullptr);
    EXPECT_EQ(known_setting(megatron_deepspeed_settings(), "deepspeed_json.fp", true).row, nullptr);
}

TEST(TrainerSettings, HaveTheDefaultsOfTheirProgram)
{
    EXPECT_EQ(usual_value(megatron_settings(), "hidden-dropout"), "0.1");
    EXPECT_EQ(usual_value(megatron_settings(), "swiglu"), "");
    EXPECT_EQ(usual_value(megatron_settings(), "data-parallel-sharding-strategy"), "no_shard");
    EXPECT_EQ(usual_value(primus_settings(), "swiglu"), "true");
    EXPECT_EQ(usual_value(trl_settings(), "max_length"), "1024");
    EXPECT_EQ(usual_value(axolotl_settings(), "max_length"), "512");
    EXPECT_EQ(usual_value(transformers_settings(), "max_length"), "");
}

}  // namespace

}  // namespace prismopt
