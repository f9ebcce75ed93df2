#include "optimizer/numerics/training_cases.hpp"

#include "model/base/parallel.hpp"
#include "model/numerics/deviation.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace prismopt {

namespace {

constexpr std::uint64_t other_weights = 1'000'000;  // added to the seed of the initial weights

TrainingChoice choice(const char* format, AttentionMethod kernel = AttentionMethod::plain,
                      MasterWeights master = MasterWeights::fp32)
{
    return {.format = *number_format(format), .kernel = kernel, .master = master};
}

double root_mean_square(const std::vector<float>& values)
{
    double sum = 0.0;
    for (const float x : values) {
        sum += static_cast<double>(x) * x;
    }
    return std::sqrt(sum / static_cast<double>(values.size()));
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b)
{
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - b[i]));
    }
    return largest;
}

}  // namespace

std::vector<NamedChoice> training_choices()
{
    constexpr auto plain = AttentionMethod::plain;
    constexpr auto flash = AttentionMethod::flash;
    TrainingChoice other = choice("fp32");
    other.weight_seed += other_weights;
    return {{"fp32", choice("fp32")},
            {"fp16", choice("fp16")},
            {"bf16", choice("bf16")},
            {"fp32, other initial weights", other},
            {"fp16, flash", choice("fp16", flash)},
            {"bf16, flash", choice("bf16", flash)},
            {"fp16 weights", choice("fp16", plain, MasterWeights::as_stored)},
            {"bf16 weights", choice("bf16", plain, MasterWeights::as_stored)},
            {"fp8-e4m3", choice("fp8-e4m3")},
            {"mxfp8-e4m3", choice("mxfp8-e4m3")},
            {"mxfp8-e4m3-up", choice("mxfp8-e4m3-up")},
            {"nvfp4", choice("nvfp4")}};
}

std::vector<TrainingPair> training_pairs()
{
    return {{"other initial weights", "fp32, other initial weights", "fp32"},
            {"flash instead of plain attention, fp16", "fp16, flash", "fp16"},
            {"flash instead of plain attention, bf16", "bf16, flash", "bf16"},
            {"fp16 instead of fp32 in products", "fp16", "fp32"},
            {"bf16 instead of fp32 in products", "bf16", "fp32"},
            {"fp16 instead of fp32 in products and weights", "fp16 weights", "fp32"},
            {"bf16 instead of fp32 in products and weights", "bf16 weights", "fp32"},
            {"fp8-e4m3 instead of bf16 in products", "fp8-e4m3", "bf16"},
            {"mxfp8-e4m3 instead of bf16 in products", "mxfp8-e4m3", "bf16"},
            {"mxfp8-e4m3-up instead of bf16 in products", "mxfp8-e4m3-up", "bf16"},
            {"nvfp4 instead of bf16 in products", "nvfp4", "bf16"}};
}

std::vector<PairDistances> weight_distances(const TrainingShape& shape, int steps, int states, int seeds,
                                            std::uint64_t seed)
{
    std::vector<int> at;
    for (int k = 1; k <= states; ++k) {
        at.push_back(steps * k / states);
    }
    const std::vector<NamedChoice> choices = training_choices();
    const auto count = static_cast<std::size_t>(seeds);
    std::vector<std::vector<TrainingState>> trained(choices.size() * count);  // [choice * count + seed]
    parallel_for(static_cast<std::int64_t>(trained.size()), [&](int, std::int64_t i) {
        const auto run = static_cast<std::size_t>(i);
        TrainingChoice of = choices[run / count].choice;
        const std::uint64_t own = seed * count + run % count;
        of.weight_seed += own;
        trained[run] = train(shape, of, at, own);
    });
    const auto runs_of = [&](const std::string& name) {
        const auto found = std::find_if(choices.begin(), choices.end(),
                                        [&](const NamedChoice& of) { return of.name == name; });
        return std::span(trained).subspan(static_cast<std::size_t>(found - choices.begin()) * count, count);
    };
    std::vector<PairDistances> result;
    for (const TrainingPair& pair : training_pairs()) {
        const auto with = runs_of(pair.choice);
        const auto without = runs_of(pair.reference);
        PairDistances distances{pair.name, std::vector<WeightDistance>(at.size())};
        for (std::size_t k = 0; k < at.size(); ++k) {
            WeightDistance& mean = distances.at[k];
            mean.step = at[k];
            for (std::size_t s = 0; s < count; ++s) {
                const std::vector<float>& weights = with[s][k].weights;
                const std::vector<float>& others = without[s][k].weights;
                const double unit = root_mean_square(others) * seeds;
                mean.wasserstein += wasserstein_distance(weights, others) / unit;
                mean.largest += largest_difference(weights, others) / unit;
                mean.loss += with[s][k].loss / seeds;
            }
        }
        result.push_back(std::move(distances));
    }
    return result;
}

}  // namespace prismopt
