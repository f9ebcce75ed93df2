#pragma once

/// A pipeline's step in the plainest terms: <random>, double precision, one draw after another. Shares
/// nothing with the program but the list of its distributions: neither schedules, nor tables, nor generator.

#include "tests/support/draw_statistics.hpp"
#include "tests/support/pipeline_case.hpp"

#include "model/step/sample/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace prismopt {

/// One-forward-one-backward (PipeDream-Flush, arXiv 2006.09503) with p stages and m microbatches.
class PlainPipeline {
public:
    PlainPipeline(int p, int m, const PipelineNoise& noise, std::uint64_t seed)
        : p_(p), m_(m), compute_(lognormal_of(noise.compute)), stage_(lognormal_of(noise.stage)),
          spatial_(lognormal_of(noise.spatial)), transfer_(lognormal_of(noise.transfer)), random_(seed),
          forward_end_(static_cast<std::size_t>(p) * m), backward_end_(forward_end_.size())
    {
        for (int s = 0; s < p; ++s) {
            orders_.push_back(order_of(s));
        }
    }

    /// A step of another fleet.
    double seconds()
    {
        // Nothing here waits for a later time than it must, so stages may take turns in
        // any order that makes progress.
        std::vector<std::size_t> place(p_, 0);
        std::vector<double> free(p_, 0.0);
        std::vector<double> factor(p_);
        for (double& f : factor) {
            f = stage_(random_) * spatial_(random_);
        }
        std::fill(forward_end_.begin(), forward_end_.end(), not_yet);
        std::fill(backward_end_.begin(), backward_end_.end(), not_yet);
        for (int left = 2 * p_ * m_; left > 0;) {
            for (int s = 0; s < p_; ++s) {
                while (place[s] < orders_[s].size()) {
                    const Visit visit = orders_[s][place[s]];
                    std::vector<double>& ends = visit.forward ? forward_end_ : backward_end_;
                    const int giver = visit.forward ? s - 1 : s + 1;
                    double start = free[s];
                    if (giver >= 0 && giver < p_) {
                        const double sent = ends[giver * m_ + visit.microbatch];
                        if (sent == not_yet) {
                            break;
                        }
                        start = std::max(start, sent + transfer_s * transfer_(random_));
                    }
                    free[s] =
                        start + (visit.forward ? forward_s : backward_s) * factor[s] * compute_(random_);
                    ends[s * m_ + visit.microbatch] = free[s];
                    ++place[s];
                    --left;
                }
            }
        }
        return *std::max_element(free.begin(), free.end());
    }

private:
    struct Visit {
        bool forward;
        int microbatch;
    };
    static constexpr double not_yet = -1.0;

    /// Mean one: log X is normal with variance log(1 + cv^2) and minus half of it as mean.
    /// Constants vary by nothing to speak of.
    static std::lognormal_distribution<double> lognormal_of(double cv)
    {
        const double variance = std::log1p(cv * cv);
        return std::lognormal_distribution<double>(-0.5 * variance, std::max(std::sqrt(variance), 1e-12));
    }

    std::vector<Visit> order_of(int stage) const
    {
        const int ahead = std::min(p_ - 1 - stage, m_);
        std::vector<Visit> order;
        for (int i = 0; i < ahead; ++i) {
            order.push_back({true, i});
        }
        for (int i = ahead; i < m_; ++i) {
            order.push_back({true, i});
            order.push_back({false, i - ahead});
        }
        for (int i = m_ - ahead; i < m_; ++i) {
            order.push_back({false, i});
        }
        return order;
    }

    int p_;
    int m_;
    std::lognormal_distribution<double> compute_;
    std::lognormal_distribution<double> stage_;
    std::lognormal_distribution<double> spatial_;
    std::lognormal_distribution<double> transfer_;
    std::mt19937_64 random_;
    std::vector<std::vector<Visit>> orders_;
    std::vector<double> forward_end_;  // [stage * m + microbatch]
    std::vector<double> backward_end_;
};

/// Sorted draws, by two threads with a seed each.
inline std::vector<double> plain_pipeline_draws(int p, int m, const PipelineNoise& noise, std::size_t draws)
{
    std::vector<double> seconds(draws);
    const auto fill = [&](std::size_t from, std::size_t to, std::uint64_t seed) {
        PlainPipeline pipeline(p, m, noise, seed);
        std::generate(seconds.begin() + static_cast<std::ptrdiff_t>(from),
                      seconds.begin() + static_cast<std::ptrdiff_t>(to), [&] { return pipeline.seconds(); });
    };
    std::thread other(fill, draws / 2, draws, 2);
    fill(0, draws / 2, 1);
    other.join();
    return sorted(std::move(seconds));
}

struct PlainCase {
    const char* name;
    PipelineNoise noise;
};
inline std::vector<PlainCase> plain_cases()
{
    return {{"ops 5 %", {0.05, 0.0, 0.0, 0.30}},
            {"ops 30 %", {0.30, 0.0, 0.0, 0.30}},
            {"ops 5 %, stages 3 %, spatial 2 %", {0.05, 0.03, 0.02, 0.30}}};
}

/// The same by the sampler; `draws` is a multiple of the block size.
inline std::vector<double> sampled_pipeline(int p, int m, const PipelineNoise& noise, int draws)
{
    const ExecutionGraph graph = pipeline_graph({Schedule::one_f_one_b, p, m, 1}, 1, noise);
    return sorted(sample_steps(graph, pipeline_tables(noise), {0, draws, 1}, {.seed = 21}));
}

/// How many joint standard errors the share of `reference` up to the quantile of `draws` is off; both sorted.
inline double score_of_quantile(const std::vector<double>& draws, const std::vector<double>& reference,
                                double p)
{
    const auto end = std::upper_bound(reference.begin(), reference.end(), sorted_quantile(draws, p));
    const auto n = static_cast<double>(reference.size());
    const double error = std::sqrt(p * (1.0 - p) * (1.0 / n + 1.0 / static_cast<double>(draws.size())));
    return (static_cast<double>(end - reference.begin()) / n - p) / error;
}

}  // namespace prismopt
