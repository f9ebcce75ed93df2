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
            const bool says = row.effect == SettingEffect::read || row.effect == SettingEffect::no_key;
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
    EXPECT_EQ(known_setting(megatron_settings(), "tensor-model-parallel").row, nullptr);
    EXPECT_EQ(known_setting(megatron_settings(), "tensor-model-parallel", true).row->key, "tp");
    EXPECT_EQ(known_setting(megatron_settings(), "num-layers-per", true).row->key, "v");
    // It may be -size or -layout.
    EXPECT_EQ(known_setting(megatron_settings(), "pipeline-model-parallel", true).row, nullptr);
}

TEST(TrainerSettings, HaveTheDefaultsOfTheirProgram)
{
    EXPECT_EQ(usual_value(megatron_settings(), "hidden-dropout"), "0.1");
    EXPECT_EQ(usual_value(megatron_settings(), "swiglu"), "");
    EXPECT_EQ(usual_value(primus_settings(), "swiglu"), "true");
    EXPECT_EQ(usual_value(trl_settings(), "max_length"), "1024");
    EXPECT_EQ(usual_value(axolotl_settings(), "max_length"), "512");
    EXPECT_EQ(usual_value(transformers_settings(), "max_length"), "");
}

}  // namespace

}  // namespace prismopt
