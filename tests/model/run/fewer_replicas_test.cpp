/// Jobs that continue with fewer replicas, judged by closed forms and by a simulation of its own, from event
/// to event with draws of the standard library.

#include "model/run/failure_model.hpp"

#include "tests/support/failure_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace prismopt {
namespace {

struct Fault {
    double rate;  // of the job, exponential gaps
    double detection;
    double restart;
    double repair;  // exactly this long
    int nodes;
    bool whole_job = false;  // no node fails
};
struct ReplicatedJob {
    int nodes;
    int replicas;
    int spares;
    bool state_in_each;
    double interval;
    double write;
    double switch_time;
    std::vector<Fault> faults;
};

/// One run: whatever happens next is the earliest of what may, and gaps without
/// memory are drawn anew each time.
class EventRun {
public:
    EventRun(const ReplicatedJob& job, double productive, std::mt19937_64& random) : job_(job)
    {
        enum class Doing { resuming, working, writing } doing = Doing::working;
        double left = 0.0;  // of resuming or writing
        while (true) {
            const double speed = static_cast<double>(whole()) / job.replicas;
            const bool writes_next = due_ < productive - 1e-6;
            const double goal = writes_next ? due_ : productive;
            const double ends_in = doing == Doing::working ? (goal - done_) / speed : left;
            double next = ends_in;
            const auto back = std::min_element(away_.begin(), away_.end());
            const bool returns = back != away_.end() && *back - now < next;
            if (returns) {
                next = *back - now;
            }
            const Fault* fails = nullptr;
            for (const Fault& fault : job.faults) {
                const double gap = std::exponential_distribution<>(fault.rate)(random);
                if (gap < next) {
                    fails = &fault;
                }
                next = std::min(next, gap);
            }
            now += next;
            done_ += doing == Doing::working ? next * speed : 0.0;
            left -= next;
            if (fails != nullptr) {
                const double resume = doing == Doing::resuming ? left : 0.0;
                left = std::max(resume, fail(*fails));
                doing = Doing::resuming;
            } else if (returns) {
                away_.erase(back);
            } else if (doing == Doing::resuming) {
                doing = Doing::working;
                left = done_ >= due_ ? job.write : 0.0;
                if (done_ >= due_) {
                    doing = Doing::writing;
                }
            } else if (doing == Doing::writing) {
                saved_ = done_;
                due_ = done_ + job.interval;
                doing = Doing::working;
            } else if (!writes_next) {
                return;
            } else {
                done_ = due_;
                left = job.write;
                doing = Doing::writing;
            }
        }
    }

    double now = 0.0;

private:
    int there() const
    {
        return std::min(job_.nodes, job_.nodes + job_.spares - static_cast<int>(away_.size()));
    }
    int whole() const { return there() / (job_.nodes / job_.replicas); }  // of whole nodes each

    /// Returns how long the job takes to resume.
    double fail(const Fault& fault)
    {
        const int failed = std::min(fault.nodes, there());
        const int intact = whole() - (failed * job_.replicas + job_.nodes - 1) / job_.nodes;
        if (!fault.whole_job) {
            away_.insert(away_.end(), static_cast<std::size_t>(failed), now + fault.repair);
        }
        now += fault.detection;
        std::erase_if(away_, [this](double when) { return when <= now; });
        const bool goes_on = !fault.whole_job && whole() > 0;
        while (whole() == 0) {
            const auto back = std::min_element(away_.begin(), away_.end());
            now = *back;
            away_.erase(back);
        }
        if (!(goes_on && job_.state_in_each && intact > 0)) {
            done_ = saved_;
        }
        due_ = saved_ + job_.interval;
        return goes_on ? std::min(job_.switch_time, fault.restart) : fault.restart;
    }

    const ReplicatedJob& job_;
    double done_ = 0.0;
    double saved_ = 0.0;
    double due_ = job_.interval;
    std::vector<double> away_;
};

FailureModel replicated(const ReplicatedJob& job)
{
    Reliability r;
    r.checkpoint_interval = Seconds{job.interval};
    r.checkpoint_write = Seconds{job.write};
    r.spares = job.spares;
    r.recovery = Recovery::fewer_replicas;
    r.switch_time = Seconds{job.switch_time};
    for (const Fault& fault : job.faults) {
        Cause& cause = r.causes.emplace_back();
        cause.of = fault.whole_job ? RateOf::job : fault.nodes > 1 ? RateOf::unit : RateOf::node;
        cause.unit_nodes = fault.nodes;
        cause.rate = PerSecond{fault.whole_job ? fault.rate : fault.rate * fault.nodes / job.nodes};
        cause.detection = Seconds{fault.detection};
        cause.restart = Seconds{fault.restart};
        cause.repair = Seconds{fault.whole_job ? 0.0 : fault.repair};
        cause.repair_cv = 1e-9;
    }
    return failure_model(r, {.nodes = job.nodes,
                             .gpus = 8 * job.nodes,
                             .replicas = job.replicas,
                             .state_in_each = job.state_in_each});
}

/// Means of both, four standard errors of their difference; and what prunes stays below.
TEST(FewerReplicas, AreThoseOfAPlainSimulation)
{
    constexpr int runs = 1000;
    constexpr double productive = 15 * day;
    std::mt19937_64 random(11);
    for (const int replicas : {2, 4, 16}) {
        for (const int spares : {0, 2}) {
            for (const bool state_in_each : {false, true}) {
                for (const double repair : {3 * hour, 2 * day}) {
                    const ReplicatedJob job{16,
                                            replicas,
                                            spares,
                                            state_in_each,
                                            hour,
                                            2 * minute,
                                            90.0,
                                            {{1.0 / (9 * hour), 3 * minute, 25 * minute, repair, 1},
                                             {1.0 / (3 * day), 5 * minute, 40 * minute, repair, 4},
                                             {1.0 / (2 * day), minute, 30 * minute, 0.0, 1, true}}};
                    double sum = 0.0;
                    double squares = 0.0;
                    for (int run = 0; run < runs; ++run) {
                        const double seconds = EventRun(job, productive, random).now;
                        sum += seconds;
                        squares += seconds * seconds;
                    }
                    const double mean = sum / runs;
                    const double error = std::sqrt((squares / runs - mean * mean) / runs);
                    const FailureModel model = replicated(job);
                    const Simulated fast = simulate(productive, model, runs);
                    EXPECT_NEAR(fast.mean, mean, 4.0 * std::hypot(fast.error, error))
                        << replicas << ' ' << spares << ' ' << state_in_each << ' ' << repair;
                    EXPECT_LE(least_mean_training_time(productive, model), mean + 4.0 * error);
                    std::vector<double> sorted = fast.runs.seconds;
                    std::sort(sorted.begin(), sorted.end());
                    EXPECT_LE(least_training_time_quantile(productive, model, 0.95),
                              sorted[static_cast<std::size_t>(0.97 * runs)]);
                }
            }
        }
    }
}

/// Nodes that fail and come back are a queue with a server for each: Poisson numbers, whatever
/// the repair times (Takacs 1962, ch. 3.2). With a node per replica and nothing else lost, the
/// speed is the share that is there.
TEST(FewerReplicas, LoseTheShareInRepair)
{
    const double load = 3.0;  // nodes in repair on average
    const ReplicatedJob job{100, 100, 0,   true,
                            1e9, 0.0, 0.0, {{load / (6 * hour), 0.0, 20 * minute, 6 * hour, 1}}};
    const double work = 400 * day;
    const Simulated s = simulate(work, replicated(job), 256);
    // At the start all nodes are there: on average `load` more than later, for as long as a repair takes.
    const double begun = load / 100.0 * 0.5 * 6 * hour;
    EXPECT_NEAR(s.mean, (work - begun) / (1.0 - load / 100.0), 4.0 * s.error + 1e-5 * work);
    EXPECT_NEAR(s.runs.cause[0].waiting_gpu_s, s.mean - work, 1e-6 * work);
    EXPECT_EQ(s.runs.cause[0].rework_gpu_s, 0.0);
}

/// A surviving replica holds the state: nothing is done twice, as with checkpoints at each moment
/// (renewal for short intervals).
TEST(FewerReplicas, RepeatNoWorkIfOneHoldsTheState)
{
    const double rate = 1.0 / (4 * hour);
    ReplicatedJob job{16, 4, enough_spares, true, hour, 0.0, 15 * minute, {{rate, 5 * minute, hour, 0.0, 1}}};
    const double work = 60 * day;
    const FailureModel model = replicated(job);
    EXPECT_FALSE(model.memoryless());
    const Simulated s = simulate(work, model, 2000);
    EXPECT_NEAR(s.mean, work * std::exp(rate * 15 * minute) * (1.0 + rate * 5 * minute), 4.0 * s.error);
    EXPECT_LE(least_mean_training_time(work, model), s.mean);
}

/// Spares that never run out leave no replica out: with sharded state each history is that of hot spares.
TEST(FewerReplicas, AreHotSparesIfNoneIsMissing)
{
    for (const int spares : {enough_spares, 1000}) {
        ReplicatedJob job{16,
                          4,
                          spares,
                          false,
                          hour,
                          2 * minute,
                          90.0,
                          {{1.0 / (5 * hour), 3 * minute, 25 * minute, hour, 1},
                           {1.0 / day, 5 * minute, 40 * minute, hour, 4}}};
        const FailureModel fewer = replicated(job);
        job.replicas = 1;
        const FailureModel hot = replicated(job);
        const std::vector<double> a = simulate(20 * day, fewer, 130).runs.seconds;
        const std::vector<double> b = simulate(20 * day, hot, 130).runs.seconds;
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_NEAR(a[i], b[i], 1e-9 * b[i]);
        }
    }
}

/// A replica is all that holds a network; its state is its own unless it is sharded beyond.
TEST(FewerReplicas, AreThoseOfThePlan)
{
    ParallelPlan plan{.tp = 2, .pp = 2, .dp = 8};
    plan.sharding = Sharding::none;
    EXPECT_EQ(job_size(plan, 4).replicas, 8);
    EXPECT_TRUE(job_size(plan, 4).state_in_each);
    plan.sharding = Sharding::zero1;
    EXPECT_FALSE(job_size(plan, 4).state_in_each);
    plan.ep = 8;  // experts are spread over four of dp
    EXPECT_EQ(job_size(plan, 4).replicas, 2);
    plan.shard_gpus = 4;
    EXPECT_TRUE(job_size(plan, 4).state_in_each);
    plan.dp = 4;
    EXPECT_EQ(job_size(plan, 4).replicas, 1);
}

}  // namespace
}  // namespace prismopt
