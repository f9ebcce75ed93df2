#include "model/plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

template <class Enum>
struct Names;

template <>
struct Names<Schedule> {
    static constexpr std::array<std::pair<Schedule, std::string_view>, 10> list{{{Schedule::gpipe, "gpipe"},
                                                                                 {Schedule::one_f_one_b, "1f1b"},
                                                                                 {Schedule::interleaved, "interleaved"},
                                                                                 {Schedule::zb_h1, "zb_h1"},
                                                                                 {Schedule::zb_h2, "zb_h2"},
                                                                                 {Schedule::zb_v, "zb_v"},
                                                                                 {Schedule::v_half, "v_half"},
                                                                                 {Schedule::v_min, "v_min"},
                                                                                 {Schedule::dualpipe, "dualpipe"},
                                                                                 {Schedule::dualpipe_v, "dualpipe_v"}}};
};
template <>
struct Names<Recompute> {
    static constexpr std::array<std::pair<Recompute, std::string_view>, 3> list{
        {{Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}}};
};
template <>
struct Names<Sharding> {
    static constexpr std::array<std::pair<Sharding, std::string_view>, 4> list{
        {{Sharding::none, "none"}, {Sharding::zero1, "zero1"}, {Sharding::zero2, "zero2"}, {Sharding::zero3, "zero3"}}};
};
template <>
struct Names<LayerSplit> {
    static constexpr std::array<std::pair<LayerSplit, std::string_view>, 2> list{
        {{LayerSplit::layers, "layers"}, {LayerSplit::slots, "slots"}}};
};
template <>
struct Names<DataParallelOverlap> {
    static constexpr std::array<std::pair<DataParallelOverlap, std::string_view>, 2> list{
        {{DataParallelOverlap::off, "off"}, {DataParallelOverlap::on, "on"}}};
};
template <>
struct Names<TensorParallelOverlap> {
    static constexpr std::array<std::pair<TensorParallelOverlap, std::string_view>, 2> list{
        {{TensorParallelOverlap::off, "off"}, {TensorParallelOverlap::on, "on"}}};
};
template <>
struct Names<Offload> {
    static constexpr std::array<std::pair<Offload, std::string_view>, 3> list{
        {{Offload::none, "none"}, {Offload::optimizer, "optimizer"}, {Offload::activations, "activations"}}};
};
template <>
struct Names<ContextExchange> {
    static constexpr std::array<std::pair<ContextExchange, std::string_view>, 2> list{
        {{ContextExchange::all_gather, "all-gather"}, {ContextExchange::ring, "ring"}}};
};
template <>
struct Names<PostValidation> {
    static constexpr std::array<std::pair<PostValidation, std::string_view>, 2> list{
        {{PostValidation::off, "off"}, {PostValidation::on, "on"}}};
};
template <>
struct Names<Crossing> {
    static constexpr std::array<std::pair<Crossing, std::string_view>, 5> list{{{Crossing::by_order, "by-order"},
                                                                                {Crossing::dp, "dp"},
                                                                                {Crossing::pp, "pp"},
                                                                                {Crossing::pp_interleaved, "pp-interleaved"},
                                                                                {Crossing::none, "none"}}};
};
template <>
struct Names<NodeOrder> {
    static constexpr std::array<std::pair<NodeOrder, std::string_view>, 5> list{{{NodeOrder::as_listed, "as-listed"},
                                                                                 {NodeOrder::packed, "packed"},
                                                                                 {NodeOrder::spread, "spread"},
                                                                                 {NodeOrder::first_stage, "first-stage"},
                                                                                 {NodeOrder::last_stage, "last-stage"}}};
};
template <>
struct Names<PlacementOrder> {
    static constexpr std::array<std::pair<PlacementOrder, std::string_view>, 2> list{
        {{PlacementOrder::tp_pp_dp, "tp-pp-dp"}, {PlacementOrder::tp_dp_pp, "tp-dp-pp"}}};
};

template <class Enum>
std::string_view name_of(Enum value)
{
    const auto& list = Names<Enum>::list;
    return std::find_if(list.begin(), list.end(), [&](const auto& row) { return row.first == value; })->second;
}

}  // namespace

std::string_view name(Schedule value) { return name_of(value); }
std::string_view name(Recompute value) { return name_of(value); }
std::string_view name(Sharding value) { return name_of(value); }
std::string_view name(LayerSplit value) { return name_of(value); }
std::string_view name(DataParallelOverlap value) { return name_of(value); }
std::string_view name(ContextExchange value) { return name_of(value); }
std::string_view name(PostValidation value) { return name_of(value); }
std::string_view name(TensorParallelOverlap value) { return name_of(value); }
std::string_view name(Offload value) { return name_of(value); }
std::string_view name(PlacementOrder value) { return name_of(value); }
std::string_view name(Crossing value) { return name_of(value); }
std::string_view name(NodeOrder value) { return name_of(value); }

template <class Enum>
std::optional<Enum> parse(std::string_view text)
{
    for (const auto& [value, label] : Names<Enum>::list) {
        if (label == text) {
            return value;
        }
    }
    return std::nullopt;
}

template <class Enum>
std::string choices()
{
    std::string text;
    for (const auto& row : Names<Enum>::list) {
        text += (text.empty() ? "" : ", ") + std::string(row.second);
    }
    return text;
}

template std::optional<Schedule> parse(std::string_view);
template std::optional<Recompute> parse(std::string_view);
template std::optional<Sharding> parse(std::string_view);
template std::optional<LayerSplit> parse(std::string_view);
template std::optional<DataParallelOverlap> parse(std::string_view);
template std::optional<ContextExchange> parse(std::string_view);
template std::optional<PostValidation> parse(std::string_view);
template std::optional<TensorParallelOverlap> parse(std::string_view);
template std::optional<Offload> parse(std::string_view);
template std::optional<PlacementOrder> parse(std::string_view);
template std::optional<Crossing> parse(std::string_view);
template std::optional<NodeOrder> parse(std::string_view);

template std::string choices<Schedule>();
template std::string choices<Recompute>();
template std::string choices<Sharding>();
template std::string choices<LayerSplit>();
template std::string choices<DataParallelOverlap>();
template std::string choices<ContextExchange>();
template std::string choices<PostValidation>();
template std::string choices<TensorParallelOverlap>();
template std::string choices<Offload>();
template std::string choices<PlacementOrder>();
template std::string choices<Crossing>();
template std::string choices<NodeOrder>();

}  // namespace prismopt
