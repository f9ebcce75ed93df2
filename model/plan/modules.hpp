#pragma once

/// Modules of a layer that a plan names, to recompute them or to launch them as CUDA graphs.
/// Each operator belongs to some.

#include "model/base/names.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace prismopt {

/// Names of Megatron-Core's --recompute-modules and --cuda-graph-scope (transformer_config.py), and
/// `elementwise`: the results of norms, activations and gates, which other trainers recompute.
/// `alternate_products`: all but the results of attention, of exchanges of tokens and of every second
/// product, which alone are saved (torchtitan, selective_ac_option = "op").
enum class Module {
    core_attn,
    layernorm,
    mla_up_proj,
    mlp,
    moe,
    moe_act,
    shared_experts,
    gdn_norm_out,
    elementwise,
    alternate_products,
    attn,
    moe_router,
    moe_preprocess,
    mamba,
    full_iteration
};
template <>
inline constexpr auto names_of<Module> =
    std::to_array<Named<Module>>({{Module::core_attn, "core_attn"},
                                  {Module::layernorm, "layernorm"},
                                  {Module::mla_up_proj, "mla_up_proj"},
                                  {Module::mlp, "mlp"},
                                  {Module::moe, "moe"},
                                  {Module::moe_act, "moe_act"},
                                  {Module::shared_experts, "shared_experts"},
                                  {Module::gdn_norm_out, "gdn_norm_out"},
                                  {Module::elementwise, "elementwise"},
                                  {Module::alternate_products, "alternate_products"},
                                  {Module::attn, "attn"},
                                  {Module::moe_router, "moe_router"},
                                  {Module::moe_preprocess, "moe_preprocess"},
                                  {Module::mamba, "mamba"},
                                  {Module::full_iteration, "full_iteration"}});

/// A set of modules.
class ModuleSet {
public:
    constexpr ModuleSet() = default;
    constexpr ModuleSet(std::initializer_list<Module> modules)
    {
        for (const Module module : modules) {
            bits_ |= bit(module);
        }
    }

    constexpr bool empty() const { return bits_ == 0; }
    constexpr bool has(Module module) const { return (bits_ & bit(module)) != 0; }
    /// Whether a module is in both sets.
    constexpr bool intersects(const ModuleSet& other) const { return (bits_ & other.bits_) != 0; }
    constexpr ModuleSet& operator|=(const ModuleSet& other)
    {
        bits_ |= other.bits_;
        return *this;
    }
    /// Returns the modules of this set that are in the other, or that are not.
    constexpr ModuleSet within(const ModuleSet& other) const { return ModuleSet(bits_ & other.bits_); }
    constexpr ModuleSet without(const ModuleSet& other) const { return ModuleSet(bits_ & ~other.bits_); }

    constexpr auto operator<=>(const ModuleSet&) const = default;

private:
    constexpr explicit ModuleSet(std::uint32_t bits) : bits_(bits) {}
    static constexpr std::uint32_t bit(Module module) { return std::uint32_t{1} << static_cast<int>(module); }

    std::uint32_t bits_ = 0;
};

inline constexpr auto recomputable_modules = std::to_array<Module>(
    {Module::core_attn, Module::layernorm, Module::mla_up_proj, Module::mlp, Module::moe, Module::moe_act,
     Module::shared_experts, Module::gdn_norm_out, Module::elementwise, Module::alternate_products});
inline constexpr auto graph_modules =
    std::to_array<Module>({Module::attn, Module::mlp, Module::moe_router, Module::moe_preprocess,
                           Module::mamba, Module::full_iteration});

/// Modules whose whole forward pass runs again with their result kept; of the others the result is dropped
/// and made again before it is read (Megatron-Core, CheckpointWithoutOutput in tensor_parallel/random.py).
inline constexpr ModuleSet checkpointed_modules{Module::core_attn, Module::mlp, Module::moe,
                                                Module::shared_experts};

/// "layernorm+moe_act"; "default" for the empty set.
std::string text_of(const ModuleSet& modules);
/// Returns the set of that text with modules from the list only, or nothing.
std::optional<ModuleSet> parse_modules(std::string_view text, std::span<const Module> choices);
/// "core_attn, layernorm, ..."
std::string names_of_modules(std::span<const Module> choices);

}  // namespace prismopt
