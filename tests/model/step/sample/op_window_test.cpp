#include "model/step/sample/op_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr int stages = 3;
constexpr int microbatches = 4;
constexpr int slots = 12;
constexpr int distributions = 5;
constexpr int ops_in_window = 40;
constexpr int plans_together = 6;  // some in fours, some alone

/// Which parts a window has: every loop of run_window() is one of these.
struct Kind {
    bool one_distribution;
    bool communicates;
    bool factors;
    bool microbatch;
};

class Windows : public testing::TestWithParam<Kind> {
protected:
    /// One plan's distributions, factors and ends of ops.
    struct Plan {
        std::vector<OpSpread> distribution;
        std::vector<Floats> compute_factor, transfer_factor, microbatch, slot, gathered, reduce,
            gradients_end;
        Floats communication_factor;
        bool exchanges = true;
        bool overlapped = true;

        PipelineRun run(const Kind& kind)
        {
            PipelineRun run;
            run.distribution = distribution.data();
            if (kind.factors) {
                run.compute_factor = compute_factor.data();
                run.communication_factor = &communication_factor;
                run.transfer_factor = transfer_factor.data();
            }
            run.microbatch = kind.microbatch ? microbatch.data() : nullptr;
            run.overlapped = overlapped;
            run.gathered = exchanges ? gathered.data() : nullptr;
            run.reduce = exchanges ? reduce.data() : nullptr;
            run.slot = slot.data();
            run.gradients_end = gradients_end.data();
            return run;
        }
    };

    Windows()
    {
        standard = {distribution_of(1.0), distribution_of(2.0)};
        for (int i = 0; i < ops_in_window; ++i) {
            ProgramOp op;
            op.stage = static_cast<std::uint16_t>(below(stages));
            op.microbatch = static_cast<std::uint16_t>(below(microbatches));
            op.stage_chunk = op.stage;
            op.distribution = below(distributions);
            op.first_of_chunk = below(8) == 0;
            op.last_of_chunk = below(8) == 0;
            op.in = static_cast<std::int32_t>(below(slots));
            op.before = static_cast<std::int32_t>(below(slots));
            op.out = static_cast<std::int32_t>(1 + below(slots - 1));
            ops.push_back(op);
            draws.push_back({row(0.0F, 1.0F), row(0.0F, 1.0F), row(1.0F, 0.3F)});
        }
        for (int i = 0; i < plans_together; ++i) {
            plans.push_back(random_plan());
            plans.back().exchanges = i % 3 != 1;
            plans.back().overlapped = i % 2 == 0;
        }
    }

    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }

    Floats row(float mean, float deviation)
    {
        std::normal_distribution<float> normal(mean, deviation);
        Floats row;
        for (float& x : row.at) {
            x = normal(random);
        }
        return row;
    }

    std::vector<Floats> rows(int n, float mean, float deviation)
    {
        std::vector<Floats> rows;
        rows.reserve(n);
        for (int i = 0; i < n; ++i) {
            rows.push_back(row(mean, deviation));
        }
        return rows;
    }

    /// What its values are does not matter here.
    static StandardDistribution distribution_of(double scale)
    {
        return StandardDistribution([=](double p, bool upper) { return scale * (upper ? 1.0 - p : p - 1.0); },
                                    StandardDistribution::node_probabilities());
    }

    Plan random_plan()
    {
        Plan plan;
        std::uniform_real_distribution<float> seconds(0.1F, 1.0F);
        for (int i = 0; i < distributions; ++i) {
            const StandardDistribution* shared = &standard.front();
            const StandardDistribution* own = &standard[below(2)];
            plan.distribution.push_back({seconds(random), seconds(random), seconds(random), seconds(random),
                                         seconds(random), GetParam().one_distribution ? shared : own,
                                         GetParam().one_distribution ? shared : own,
                                         static_cast<int>(below(2))});
        }
        plan.compute_factor = rows(stages, 1.0F, 0.1F);
        plan.transfer_factor = rows(2, 1.0F, 0.1F);
        plan.microbatch = rows(microbatches, 1.0F, 0.1F);
        plan.slot = rows(slots, 3.0F, 1.0F);
        plan.gathered = rows(stages, 3.0F, 1.0F);
        plan.reduce = rows(stages, 3.0F, 1.0F);
        plan.gradients_end = rows(stages, 3.0F, 1.0F);
        plan.communication_factor = row(1.0F, 0.1F);
        return plan;
    }

    /// The window in one draw of one plan, number by number.
    void run_by_hand(Plan& plan, int l) const
    {
        const Kind kind = GetParam();
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const ProgramOp& op = ops[i];
            const OpSpread& distribution = plan.distribution[op.distribution];
            const auto draw = [&](const StandardDistribution* of, float z) {
                return kind.one_distribution ? z : (*of)(z);
            };
            const float transfer_s = kind.factors ? distribution.transfer_s *
                                                        plan.transfer_factor[distribution.transfer_tier].at[l]
                                                  : distribution.transfer_s;
            const float arrival = std::fma(transfer_s, draws[i].transfer.at[l], plan.slot[op.in].at[l]);
            float free = plan.slot[op.before].at[l];
            if (op.first_of_chunk && plan.exchanges) {
                free = std::max(free, plan.gathered[op.stage_chunk].at[l]);
            }
            float compute = std::fma(distribution.compute_spread_s,
                                     draw(distribution.compute_distribution, draws[i].compute.at[l]),
                                     distribution.compute_s);
            if (kind.microbatch) {
                compute *= plan.microbatch[op.microbatch].at[l];
            }
            float end = std::max(arrival, free);
            end = kind.factors ? std::fma(compute, plan.compute_factor[op.stage].at[l], end) : end + compute;
            if (kind.communicates) {
                const float z = draw(distribution.communication_distribution, draws[i].communication.at[l]);
                const float communication =
                    std::fma(distribution.communication_spread_s, z, distribution.communication_s);
                end = kind.factors ? std::fma(communication, plan.communication_factor.at[l], end)
                                   : end + communication;
            }
            plan.slot[op.out].at[l] = end;
            if (op.last_of_chunk && plan.exchanges) {
                float& gradients = plan.gradients_end[op.stage].at[l];
                gradients = (plan.overlapped ? std::max(gradients, end) : gradients) +
                            plan.reduce[op.stage_chunk].at[l];
            }
        }
    }

    std::mt19937_64 random{7};
    std::vector<StandardDistribution> standard;
    std::vector<ProgramOp> ops;
    std::vector<OpDraws> draws;
    std::vector<Plan> plans;
};

/// Bit for bit: no lane and no way through the loops has arithmetic of its own.
TEST_P(Windows, GiveWhatIsCalculatedByHand)
{
    std::vector<Plan> by_hand = plans;
    std::vector<PipelineRun> runs;
    for (Plan& plan : plans) {
        runs.push_back(plan.run(GetParam()));
    }
    std::vector<const PipelineRun*> running;
    running.reserve(runs.size());
    for (const PipelineRun& run : runs) {
        running.push_back(&run);
    }
    const StandardDistribution* shared = GetParam().one_distribution ? &standard.front() : nullptr;
    run_window(ops, draws.data(), {shared, shared, GetParam().communicates}, running);
    for (std::size_t p = 0; p < plans.size(); ++p) {
        for (int l = 0; l < lanes; ++l) {
            run_by_hand(by_hand[p], l);
            for (int s = 0; s < slots; ++s) {
                ASSERT_EQ(plans[p].slot[s].at[l], by_hand[p].slot[s].at[l])
                    << "plan " << p << ", slot " << s << ", lane " << l;
            }
            for (int s = 0; s < stages; ++s) {
                ASSERT_EQ(plans[p].gradients_end[s].at[l], by_hand[p].gradients_end[s].at[l])
                    << "plan " << p << ", stage " << s << ", lane " << l;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Windows,
                         testing::Values(Kind{true, false, false, false}, Kind{true, false, true, false},
                                         Kind{true, false, true, true}, Kind{true, true, false, false},
                                         Kind{true, true, true, false}, Kind{true, true, true, true},
                                         Kind{false, false, false, false}, Kind{false, false, true, false},
                                         Kind{false, false, true, true}, Kind{false, true, false, false},
                                         Kind{false, true, true, false}, Kind{false, true, true, true}),
                         [](const auto& of) {
                             const Kind& kind = of.param;
                             return std::string(kind.one_distribution ? "one_distribution"
                                                                      : "own_distributions") +
                                    (kind.communicates ? "_communicates" : "") +
                                    (kind.factors ? "_factors" : "") +
                                    (kind.microbatch ? "_microbatches" : "");
                         });

}  // namespace
}  // namespace prismopt
