#include "optimizer/study/study_front.hpp"

#include "io/results/plan_results.hpp"
#include "optimizer/parallel/bytes.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/study/measured_plans.hpp"
#include "search/archive.hpp"

#include <algorithm>

namespace prismopt {

FrontPoint front_point(const StudyModel& model, std::uint64_t index, const Prediction& prediction)
{
    FrontPoint point;
    point.index = index;
    point.point = model.designs.space().point(index);
    point.prediction = prediction;
    point.objectives = model.values(prediction);
    return point;
}

FrontDetails::FrontDetails(const StudyModel& model)
    : model_(model), bench_(model.scenario, model.problem), intervals_(model)
{
}

void FrontDetails::add(FrontPoint& point)
{
    add_model_interval(point);
    add_measured_steps(point);
}

void FrontDetails::add_model_interval(FrontPoint& point)
{
    const ModelInterval& interval = intervals_.of(point.index);
    point.model_low = interval.low;
    point.model_high = interval.high;
    point.model_quantiles = interval.quantiles();
    point.model_fitted = interval.fitted ? 1.0 : 0.0;
    point.software_low = interval.software_low;
    point.software_high = interval.software_high;
}

namespace {

/// Whether a step was measured of this very job: the plan, the hardware, and the tokens of its step.
bool is_of(const LearnedStep& step, const LearnedStep& job)
{
    return step.network == job.network && step.design == job.design && step.hardware == job.hardware &&
           step.sequence == job.sequence && step.global_batch == job.global_batch;
}

}  // namespace

void FrontDetails::add_measured_steps(FrontPoint& point)
{
    const std::vector<LearnedStep>& steps = model_.scenario.learned.steps;
    if (steps.empty()) {
        return;
    }
    const Problem& problem = bench_.problem(model_.designs.variant(point.point));
    const LearnedStep job = unmeasured_step(model_.designs, point.point, problem);
    double sum = 0.0;
    int count = 0;
    for (const LearnedStep& step : steps) {
        if (is_of(step, job)) {
            sum += step.measured_s;
            ++count;
        }
    }
    if (count > 0) {
        point.measured_step_s = sum / count;
    }
}

void put_in_order(const StudyModel& model, std::vector<FrontPoint>& front)
{
    struct Compared {
        std::vector<double> values;
        bool keeps = true;
    };
    std::vector<Compared> points;
    for (const FrontPoint& point : front) {
        Compared& compared = points.emplace_back();
        compared.keeps = keeps(model.keeping(point.prediction));
        for (const Estimate& objective : point.objectives) {
            compared.values.push_back(objective.value);
        }
    }
    for (std::size_t i = 0; i < front.size(); ++i) {
        front[i].dominated = std::any_of(points.begin(), points.end(), [&](const Compared& other) {
            return (other.keeps || !points[i].keeps) && dominates(other.values, points[i].values);
        });
    }
    std::stable_sort(front.begin(), front.end(), [](const FrontPoint& a, const FrontPoint& b) {
        return a.objectives.front().value < b.objectives.front().value;
    });
}

namespace {

/// The columns of results files, which are all that is kept of a point.
template <class Use>
void for_each_kept(FrontPoint& point, const Use& use)
{
    use(point.index);
    use(point.point);
    use(point.objectives);
    use(point.prediction.draws);
    use(point.prediction.gpus);
    use(point.prediction.memory.stage);
    const auto use_columns = [&](const auto& columns) {
        for (const auto& column : columns) {
            use(column.of(point));
        }
    };
    use_columns(plan_results<Estimate>());
    use_columns(plan_results<double>());
    use_columns(plan_results<std::vector<double>>());
}

}  // namespace

Message encode(const FullAnswer& answer)
{
    Packer drawn;
    if (answer.drawn) {
        FrontPoint point = *answer.drawn;
        for_each_kept(point, [&](const auto& value) { drawn << value; });
    }
    return (Packer() << encode(answer.answer) << drawn.release()).release();
}

FullAnswer decode_full_answer(std::span<const std::byte> bytes)
{
    Message answer;
    Message drawn;
    Unpacker(bytes) >> answer >> drawn;
    FullAnswer result{decode_answer(answer)};
    if (!drawn.empty()) {
        Unpacker in(drawn);
        for_each_kept(result.drawn.emplace(), [&](auto& value) { in >> value; });
    }
    return result;
}

}  // namespace prismopt
