#include "optimizer/preview/setting_changes.hpp"

#include <array>

namespace prismopt {

namespace {

/// A setting, and whether a workload could have it and has it not.
struct SettingRow {
    const char* text;
    const char* price;
    bool (*is_new)(const Workload&);
    void (*set)(Workload&);
};

bool has_moments(const Workload& w) { return w.trains() && w.optimizer.kind != Optimizer::adafactor; }

bool has_wide_parameters(const Workload& w)
{
    return w.precision == Precision::fp32 || w.precision == Precision::tf32;
}

void train_adapters(Workload& w)
{
    w.method = Method::lora;
    w.adapter_rank = 16;
    w.frozen_ends = true;
    for (LayerDescription& kind : w.kinds) {
        kind.frozen = true;
    }
}

bool has_other_loss(const Workload& w, LossKernel kernel)
{
    return w.trains() && w.vocabulary > 0 && w.loss != kernel;
}

constexpr const char* changes_updates = "changes the updates of parameters";

constexpr std::array rows{
    SettingRow{"[workload] loss = \"chunked\"", "",
               [](const Workload& w) { return has_other_loss(w, LossKernel::chunked); },
               [](Workload& w) { w.loss = LossKernel::chunked; }},
    SettingRow{"[workload] loss = \"fused-linear\"", "",
               [](const Workload& w) { return has_other_loss(w, LossKernel::fused_linear); },
               [](Workload& w) { w.loss = LossKernel::fused_linear; }},
    SettingRow{"[workload] optimizer = { states = \"int8\" }", changes_updates,
               [](const Workload& w) { return has_moments(w) && w.optimizer.states == NumberType::fp32; },
               [](Workload& w) { w.optimizer.states = NumberType::int8; }},
    SettingRow{"[workload] optimizer = { states = \"bf16\" }", changes_updates,
               [](const Workload& w) { return has_moments(w) && w.optimizer.states == NumberType::fp32; },
               [](Workload& w) { w.optimizer.states = NumberType::bf16; }},
    SettingRow{"[workload] optimizer = { gradients = \"bf16\" }", changes_updates,
               [](const Workload& w) { return w.trains() && w.optimizer.gradients == NumberType::fp32; },
               [](Workload& w) { w.optimizer.gradients = NumberType::bf16; }},
    SettingRow{"[workload] optimizer = { master = \"none\" }", changes_updates,
               [](const Workload& w) {
                   return w.trains() && w.optimizer.master != MasterCopy::none && !has_wide_parameters(w);
               },
               [](Workload& w) { w.optimizer.master = MasterCopy::none; }},
    SettingRow{"[workload] frozen_storage = \"nf4\"", "rounds the frozen weights",
               [](const Workload& w) {
                   return w.adapter_rank > 0 && w.frozen_storage == FrozenStorage::bf16 &&
                          !has_wide_parameters(w);
               },
               [](Workload& w) { w.frozen_storage = FrozenStorage::nf4; }},
    SettingRow{"[workload] method = \"lora\", adapter_rank = 16", "trains adapters only",
               [](const Workload& w) { return w.trains() && w.adapter_rank == 0 && !w.captured; },
               train_adapters},
};

}  // namespace

std::vector<SettingChange> setting_changes(const Scenario& scenario)
{
    std::vector<SettingChange> changes;
    for (const SettingRow& row : rows) {
        if (row.is_new(scenario.workload)) {
            SettingChange change{row.text, row.price, scenario};
            row.set(change.scenario.workload);
            changes.push_back(std::move(change));
        }
    }
    return changes;
}

}  // namespace prismopt
