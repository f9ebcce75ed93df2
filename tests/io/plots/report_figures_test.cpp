#include "io/plots/report_figures.hpp"

#include "io/base/input_error.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double seconds_of_a_day = 86400.0;

std::string refusal_of(const Results& results, const FigureChoice& choice)
{
    try {
        report_figures(results, choice);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(ReportFigures, DrawTheObjectivesByDefault)
{
    const Results results = sample_results();
    const PaperFigure figure = report_figures(results, {}).at(0);
    EXPECT_EQ(figure.x.name, "training_time_p99");
    EXPECT_EQ(figure.x.unit, "days");
    EXPECT_EQ(figure.y.name, "gpus");
    ASSERT_EQ(figure.series.size(), 1u);
    ASSERT_EQ(figure.series[0].points.size(), results.front.size());
    const FigurePoint& first = figure.series[0].points[0];
    const Estimate& time = results.front[0].objectives[0];
    EXPECT_EQ(first.id, std::to_string(results.front[0].index));
    EXPECT_DOUBLE_EQ(first.x, time.value / seconds_of_a_day);
    EXPECT_DOUBLE_EQ(first.x_low, time.low / seconds_of_a_day);
    EXPECT_DOUBLE_EQ(first.x_high, time.high / seconds_of_a_day);
}

TEST(ReportFigures, HaveAxesOfAnyResult)
{
    const Results results = sample_results();
    const PaperFigure figure =
        report_figures(results, {.figure = "front", .x = "cost", .y = "mfu", .colour = {}}).at(0);
    EXPECT_EQ(figure.x.unit, "M USD");
    EXPECT_EQ(figure.y.unit, "%");
    EXPECT_EQ(figure.y.title, "model FLOP utilisation");
    EXPECT_DOUBLE_EQ(figure.series[0].points[0].x, results.front[0].prediction.cost_usd.value / 1e6);
    EXPECT_DOUBLE_EQ(figure.series[0].points[0].y, results.front[0].prediction.mfu * 100.0);
    const PaperFigure of_axis =
        report_figures(results, {.figure = "front", .x = "tp", .y = {}, .colour = {}}).at(0);
    EXPECT_EQ(of_axis.x.title, "tp");
}

TEST(ReportFigures, ColourByAnAxis)
{
    Results results = sample_results();
    results.front.push_back(results.front[0]);
    results.front.back().point[1] = 1 - results.front[0].point[1];
    const PaperFigure figure =
        report_figures(results, {.figure = "front", .x = {}, .y = {}, .colour = "tp"}).at(0);
    EXPECT_EQ(figure.legend, "tp");
    std::vector<std::string> labels;
    for (const FigureSeries& series : figure.series) {
        labels.push_back(series.label);
    }
    EXPECT_THAT(labels, ElementsAre("4", "8"));
}

TEST(ReportFigures, ColourByHardwareParameters)
{
    Results results = sample_results();
    results.axes.push_back(
        {.name = "variant",
         .ordered = false,
         .labels = {"cluster.bandwidth=100GB/s node.group=8", "cluster.bandwidth=50GB/s node.group=72"}});
    for (std::size_t i = 0; i < results.front.size(); ++i) {
        results.front[i].point.push_back(static_cast<int>(i % 2));
    }
    results.front.push_back(results.front[0]);
    results.front.back().point.back() = 1;
    const auto labels = [&](const std::string& colour) {
        const PaperFigure figure =
            report_figures(results, {.figure = "front", .x = {}, .y = {}, .colour = colour}).at(0);
        std::vector<std::string> found;
        for (const FigureSeries& series : figure.series) {
            found.push_back(series.label);
        }
        return found;
    };
    EXPECT_THAT(labels("cluster.bandwidth"), ElementsAre("50 GB/s", "100 GB/s"));
    EXPECT_THAT(labels("machine"), ElementsAre("100 GB/s, group 8", "50 GB/s, group 72"));
    const PaperFigure figure =
        report_figures(results, {.figure = "front", .x = "cluster.bandwidth", .y = {}, .colour = {}}).at(0);
    EXPECT_EQ(figure.x.unit, "GB/s");
}

TEST(ReportFigures, OfDistributionsHaveIntervalsOfQuantiles)
{
    const Results results = sample_results();
    const PaperFigure figure =
        report_figures(results, {.figure = "training-times", .x = {}, .y = {}, .colour = {}}).at(0);
    EXPECT_EQ(figure.series[0].label, "16,384 GPUs");
    const auto& points = figure.series[0].points;
    const auto p99 =
        std::find_if(points.begin(), points.end(), [](const FigurePoint& p) { return p.y == 0.99; });
    ASSERT_NE(p99, points.end());
    EXPECT_DOUBLE_EQ(p99->x_low, results.front[0].prediction.training.p99.low / seconds_of_a_day);
    for (const char* name : {"step-times", "progress"}) {
        EXPECT_EQ(report_figures(results, {.figure = name, .x = {}, .y = {}, .colour = {}}).size(), 1u);
    }
}

TEST(ReportFigures, RefuseWhatTheyDoNotKnow)
{
    const Results results = sample_results();
    EXPECT_THAT(refusal_of(results, {.figure = "fornt", .x = {}, .y = {}, .colour = {}}),
                AllOf(HasSubstr("did you mean 'front'"), HasSubstr("choose from front, training-times")));
    EXPECT_THAT(refusal_of(results, {.figure = "front", .x = "cots", .y = {}, .colour = {}}),
                AllOf(HasSubstr("--x cots"), HasSubstr("did you mean 'cost'"),
                      HasSubstr("choose from training_time_p99, gpus, ")));
    EXPECT_THAT(refusal_of(results, {.figure = "front", .x = {}, .y = "schedule", .colour = {}}),
                HasSubstr("--y schedule"));
    EXPECT_THAT(refusal_of(results, {.figure = "front", .x = {}, .y = {}, .colour = "linc"}),
                HasSubstr("choose from gpus, tp, "));
    EXPECT_THAT(refusal_of(results, {.figure = "progress", .x = "cost", .y = {}, .colour = {}}),
                HasSubstr("has no effect on --figure progress"));
    EXPECT_THAT(refusal_of(results, {.figure = "break-even", .x = {}, .y = {}, .colour = {}}),
                HasSubstr("no [[knob]]"));
}

}  // namespace

}  // namespace prismopt
