#include "io/words/calibration_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace prismopt {

namespace {

struct NoteWords {
    std::string operator()(const TrendNote& trend) const
    {
        return fmt::format(
            "steps take {:.3g} % {} at the end than at the beginning; all steps are used, and slow changes "
            "count as drift",
            100.0 * std::abs(trend.change), trend.change > 0.0 ? "longer" : "less");
    }
    std::string operator()(const SlowShare& share) const
    {
        const char* what = share.key == "gpu" ? "GPU" : "node";
        return fmt::format(
            "{} of {} {}s {} permanently slow; the distribution of {} includes this as slow_probability, for "
            "a "
            "random sample of {}s. For a job on exactly these nodes, remove slow_probability and slow_excess "
            "and write in [cluster], with the node's number: slow_nodes = [{{ node = 0, factor = {:.3g} }}]",
            share.slow, share.all, what, share.slow == 1 ? "is" : "are", share.key, what, 1.0 + share.excess);
    }
    std::string operator()(const ThrottlingGpu& slow) const
    {
        return fmt::format("{} is slow in {:.2g} % of steps, by {:.2g} %", slow.gpu, 100.0 * slow.share,
                           100.0 * slow.excess);
    }
    std::string operator()(const GrowthNote& growth) const
    {
        return fmt::format(
            "long times of collectives grow in number as members^{:.2f} ({:.2f} to {:.2f}, 95 %{}); the "
            "distributions hold for {:.3g} members{}",
            growth.exponent, growth.low, growth.high,
            growth.measured ? "" : ", not measured: give several numbers of members", growth.members,
            growth.carried ? "" : "; --members N carries them to others");
    }
    std::string operator()(const FastNote& fast) const
    {
        return fmt::format(
            "{} takes {:.3g} % less than its peers' median{}; if the numbers are throughputs rather than "
            "times, it is slow: name the column throughput",
            fast.gpu, 100.0 * fast.less,
            fast.more > 0 ? fmt::format(", {} more as significantly", fast.more) : "");
    }
    std::string operator()(const std::string& text) const { return text; }
};

struct NotFittedWords {
    std::string operator()(UnknownComponent why) const { return unknown_text(why); }
    std::string operator()(const FewUnits& few) const
    {
        return fmt::format(
            "differences between {} are not significant, but there are too few measurements to call them "
            "zero",
            few.between);
    }
    std::string operator()(const OncePerStep& once) const
    {
        return fmt::format("only operations that occur once per step ({})", once.kinds);
    }
    std::string operator()(const OperationsOnly&) const
    {
        return "the trace has one duration per operation, not per kernel; see operation";
    }
    std::string operator()(const RunsOnly& runs) const
    {
        return fmt::format(
            "benchmark runs do not resolve single kernels, whose variation averages out; about the median of "
            "their GPU, runs vary by {:.3g} %; prismopt calibrate, {}",
            100.0 * runs.spread, runs.source);
    }
};

}  // namespace

std::string note_text(const CalibrationNote& note) { return std::visit(NoteWords{}, note); }

std::string unknown_text(UnknownComponent why)
{
    switch (why) {
        case UnknownComponent::single_step: return "a single step does not show how steps vary";
        case UnknownComponent::single_gpu: return "with a single GPU, the shared part cannot be separated";
        case UnknownComponent::no_recurrence: return "no compute kernels that recur in every step";
        case UnknownComponent::own_kernels: return "no kernels that run on several GPUs";
        case UnknownComponent::no_freedom: return "the trace cannot determine it";
        case UnknownComponent::no_interval: return "a single step gives no confidence interval";
    }
    return "";
}

std::string not_fitted_text(const NotFitted& why) { return std::visit(NotFittedWords{}, why); }

}  // namespace prismopt
