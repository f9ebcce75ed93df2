#include "optimizer/numerics/numerics_study.hpp"

#include "io/base/json_number.hpp"
#include "model/numerics/accumulation.hpp"
#include "model/numerics/linear.hpp"
#include "optimizer/numerics/training_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

void add(Json& row, const std::string& name, const Deviation& of)
{
    row[name + "_rms"] = json_number<Json>(of.rms);
    row[name + "_p50"] = json_number<Json>(of.p50);
    row[name + "_p99"] = json_number<Json>(of.p99);
    row[name + "_max"] = json_number<Json>(of.largest);
}

std::string tile_text(const AttentionCase& at)
{
    return at.kernel == AttentionMethod::plain ? "-" : fmt::format("{}x{}", at.tile.queries, at.tile.keys);
}

Json row_of(const AttentionResult& result)
{
    const AttentionCase& at = result.at;
    Json row{
        {"format", at.format.name},  {"rounding", name(at.rounding)}, {"arithmetic", name(at.arithmetic)},
        {"kernel", name(at.kernel)}, {"tile", tile_text(at)},         {"sequence", at.sequence},
        {"head", at.head},           {"causal", at.causal},           {"inputs", name(at.elements)}};
    add(row, "forward", result.forward);
    add(row, "backward", result.backward);
    return row;
}

Json rows_of(const AttentionGrid& grid, std::uint64_t seed)
{
    Json rows = Json::array();
    for (const AttentionResult& result : attention_results(grid, seed)) {
        rows.push_back(row_of(result));
    }
    return rows;
}

std::vector<NumberFormat> formats(std::initializer_list<const char*> names)
{
    std::vector<NumberFormat> list;
    for (const char* name : names) {
        list.push_back(*number_format(name));
    }
    return list;
}

std::vector<NumberFormat> all_formats() { return {number_formats.begin(), number_formats.end()}; }

Json attention_rows(std::uint64_t seed)
{
    return rows_of({.formats = all_formats(), .arithmetics = {Arithmetic::fp32_accumulation}}, seed);
}

Json rounded_rows(std::uint64_t seed)
{
    return rows_of({.formats = formats({"fp32", "fp16", "bf16"}),
                    .arithmetics = {Arithmetic::all_rounded},
                    .tiles = {{128, 64}},
                    .elements = {Elements::normal, Elements::uniform},
                    .causal = false},
                   seed);
}

Json length_rows(std::uint64_t seed)
{
    return rows_of({.formats = formats({"bf16"}),
                    .tiles = {{128, 64}},
                    .sequences = {256, 512, 1024, 2048, 4096},
                    .elements = {Elements::uniform},
                    .causal = false},
                   seed);
}

Json tile_rows(std::uint64_t seed)
{
    return rows_of({.formats = formats({"bf16"}),
                    .kernels = {AttentionMethod::flash},
                    .tiles = {{64, 64}, {128, 64}, {64, 128}, {128, 128}},
                    .elements = {Elements::uniform},
                    .causal = false},
                   seed);
}

Json linear_rows(std::uint64_t seed)
{
    constexpr std::size_t size = 1024;
    Json rows = Json::array();
    for (const Elements elements : {Elements::normal, Elements::outliers}) {
        const LinearInputs<float> in = random_linear(size, size, size, seed, elements);
        const LinearInputs<double> wide = widened(in);
        const Matrix<double> output = linear_output(wide, ExactArithmetic());
        const LinearGradients<double> gradients = linear_gradients(wide, ExactArithmetic());
        for (const NumberFormat& format : number_formats) {
            for (const Rounding rounding : {Rounding::nearest_even, Rounding::stochastic}) {
                if (rounding == Rounding::stochastic &&
                    (format.scaling == Scaling::none || elements != Elements::normal)) {
                    // operands of these inputs are exact or nearly so;
                    // recipes round gradients of few bits that way
                    continue;
                }
                const Emulated arithmetic(format, Arithmetic::fp32_accumulation, {rounding, seed});
                const LinearGradients<float> emulated = linear_gradients(in, arithmetic);
                DeviationCount both;
                both.add(emulated.x, gradients.x);
                both.add(emulated.weights, gradients.weights);
                Json row{{"format", format.name}, {"rounding", name(rounding)}, {"inputs", name(elements)}};
                add(row, "forward", deviation(linear_output(in, arithmetic), output));
                add(row, "gradients", both.summary());
                rows.push_back(row);
            }
        }
    }
    return rows;
}

Json sum_rows(std::uint64_t seed)
{
    Json rows = Json::array();
    for (const char* format : {"bf16", "fp8-e4m3"}) {
        for (const Accumulator& accumulator : accumulators) {
            for (const std::size_t terms : {256U, 1024U, 4096U, 16384U}) {
                Json row{{"format", format}, {"sums", accumulator.name}, {"terms", terms}};
                add(row, "sum", sum_deviation(*number_format(format), accumulator, terms, seed));
                rows.push_back(row);
            }
        }
    }
    return rows;
}

Json chain_rows(std::uint64_t seed)
{
    Json rows = Json::array();
    for (const Accumulator& accumulator : accumulators) {
        const std::vector<Deviation> after = chain_deviations(*number_format("bf16"), accumulator, {}, seed);
        for (const std::size_t products : {1U, 2U, 4U, 8U}) {
            Json row{{"format", "bf16"}, {"sums", accumulator.name}, {"products", products}};
            add(row, "output", after[products - 1]);
            rows.push_back(row);
        }
    }
    return rows;
}

Json training_rows(std::uint64_t seed)
{
    constexpr int steps = 200;
    constexpr int states = 5;
    constexpr int seeds = 3;
    Json rows = Json::array();
    for (const PairDistances& pair : weight_distances({}, steps, states, seeds, seed)) {
        for (const WeightDistance& at : pair.at) {
            rows.push_back({{"change", pair.name},
                            {"step", at.step},
                            {"wasserstein", json_number<Json>(at.wasserstein)},
                            {"largest", json_number<Json>(at.largest)},
                            {"loss", json_number<Json>(at.loss)}});
        }
    }
    return rows;
}

/// The rows of a table with these values; empty if the table is not there.
std::vector<Json> rows_with(const std::vector<NumericsTable>& tables, const std::string& table,
                            const Json& values)
{
    std::vector<Json> found;
    for (const NumericsTable& of : tables) {
        for (const Json& row : of.rows) {
            const bool equal =
                of.name == table &&
                std::all_of(values.items().begin(), values.items().end(), [&](const auto& item) {
                    return row.contains(item.key()) && row[item.key()] == item.value();
                });
            if (equal) {
                found.push_back(row);
            }
        }
    }
    return found;
}

/// "a < b < c" of one column, with what is true between neighbours.
std::string sequence_text(const std::vector<Json>& rows, const std::string& label, const std::string& column)
{
    std::string text;
    for (const Json& row : rows) {
        const std::string at = row[label].is_string() ? row[label].get<std::string>() : row[label].dump();
        text += fmt::format("{}{}: {:.2e}", text.empty() ? "" : ", ", at, row[column].get<double>());
    }
    return text;
}

double ratio(const Json& a, const Json& b, const std::string& column)
{
    return a[column].get<double>() / b[column].get<double>();
}

}  // namespace

const std::vector<NumericsExperiment>& numerics_experiments()
{
    static const std::vector<NumericsExperiment> list{
        {"attention", "Attention by format, as kernels compute it",
         "One causal head of 128, sequence 2,048, normal inputs. FP32 sums and softmax; operands of products "
         "are rounded to the "
         "format. Scores and probabilities of plain attention are written to memory, in bf16 where the "
         "format needs scale "
         "factors.",
         attention_rows},
        {"rounded", "Attention with every intermediate rounded",
         "As in the paper: the result of each operation on a tensor is rounded. One head of 128, sequence "
         "2,048, not causal.",
         rounded_rows},
        {"length", "Attention by sequence length",
         "One head of 128, not causal, inputs uniform between 0 and 1.", length_rows},
        {"tiles", "Flash attention by tile (queries x keys)",
         "One head of 128, sequence 2,048, not causal, inputs uniform between 0 and 1.", tile_rows},
        {"linear", "Linear layers by format",
         "1,024 tokens, 1,024 inputs, 1,024 outputs. FP32 sums, results stored in bf16 where the format "
         "needs scale factors. "
         "Gradients: of inputs and weights.",
         linear_rows},
        {"sums", "Sums in few bits",
         "One product of 64 rows and 64 columns by number of terms, before its result is stored. fp22: 14 "
         "significant bits, "
         "truncated after each 32 products, as FP8 products of Hopper.",
         sum_rows},
        {"chains", "Chains of products", "64 rows, width 1,024, results stored in bf16 between the products.",
         chain_rows},
        {"training", "Weights of a small network over training",
         "Two layers of attention, width 32, Adam; means of 3 seeds. Wasserstein-1 distance between the "
         "distributions of the "
         "weights, and the largest difference of a weight, relative to the RMS of the reference's weights; "
         "loss of the changed "
         "training in nats.",
         training_rows},
    };
    return list;
}

std::string numerics_experiment_names()
{
    std::string names;
    for (const NumericsExperiment& experiment : numerics_experiments()) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", experiment.name);
    }
    return names;
}

NumericsTable run_experiment(const NumericsExperiment& experiment, std::uint64_t seed)
{
    return {experiment.name, experiment.title, experiment.note, experiment.rows(seed)};
}

NumericsTable attention_table(const AttentionGrid& grid, std::uint64_t seed)
{
    return {"attention", "Attention", "", rows_of(grid, seed)};
}

NumericsTable paper_table(const std::vector<NumericsTable>& tables)
{
    NumericsTable table{"paper", "Beside Golden et al., arXiv 2405.02803", "", Json::array()};
    const auto state = [&table](const std::string& statement, const std::string& here) {
        table.rows.push_back({{"statement", statement}, {"here", here}});
    };
    const Json rounded{{"arithmetic", "all-rounded"}, {"inputs", "uniform"}};
    const auto with = [&](const std::string& name, Json more) {
        more.update(rounded);
        return rows_with(tables, name, more);
    };
    if (const auto rows = with("rounded", {{"kernel", "flash"}}); !rows.empty()) {
        state("figure 3: deviation falls as the mantissa grows",
              sequence_text(rows, "format", "forward_max"));
    }
    const auto flash = with("rounded", {{"kernel", "flash"}, {"format", "bf16"}});
    const auto plain = with("rounded", {{"kernel", "plain"}, {"format", "bf16"}});
    if (!flash.empty() && !plain.empty()) {
        state("figure 4: flash about 10 times plain (its baseline), bf16, forward",
              fmt::format("{:.1f} times (maximum), {:.1f} times (RMS)",
                          ratio(flash[0], plain[0], "forward_max"),
                          ratio(flash[0], plain[0], "forward_rms")));
    }
    if (const auto rows = with("length", {{"kernel", "flash"}}); !rows.empty()) {
        state("figure 5: grows with the sequence", sequence_text(rows, "sequence", "forward_max"));
    }
    if (const auto rows = with("tiles", {}); !rows.empty()) {
        state("figure 6: larger tiles deviate less; so do more keys than queries",
              sequence_text(rows, "tile", "forward_rms"));
    }
    const auto changed = [&](const char* change) {
        return rows_with(tables, "training", {{"change", change}});
    };
    const auto attention = changed("flash instead of plain attention, fp16");
    const auto other = changed("other initial weights");
    if (!attention.empty()) {
        const auto times = [&](const char* change) {
            const auto low = changed(change);
            std::string text;
            for (std::size_t at = 0; at < attention.size(); ++at) {
                text += fmt::format("{}{}: {:.1f}", at == 0 ? "" : ", ", attention[at]["step"].get<int>(),
                                    ratio(low[at], attention[at], "wasserstein"));
            }
            return text;
        };
        state("figure 7: distances grow over training", sequence_text(attention, "step", "wasserstein"));
        state("figure 8: flash moves weights 2 to 5 times less than low precision",
              fmt::format(
                  "fp16 in products and weights, by step: {} times less; in products alone: {} times less",
                  times("fp16 instead of fp32 in products and weights"),
                  times("fp16 instead of fp32 in products")));
        state("figure 8: flash moves weights no more than other initial weights",
              fmt::format("fp16, last step: {:.3f} of that",
                          ratio(attention.back(), other.back(), "wasserstein")));
    }
    return table;
}

}  // namespace prismopt
