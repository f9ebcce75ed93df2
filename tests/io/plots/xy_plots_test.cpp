#include "io/plots/xy_plots.hpp"

#include "io/report/report.hpp"
#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace prismopt {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(XyPlots, HaveRoundTicks)
{
    EXPECT_THAT(round_ticks(0.0, 10.0, 5), ElementsAre(0.0, 2.0, 4.0, 6.0, 8.0, 10.0));
    EXPECT_THAT(round_ticks(71.0, 129.0, 6), ElementsAre(80.0, 90.0, 100.0, 110.0, 120.0));
    EXPECT_THAT(round_ticks(-0.12, 0.11, 4), ElementsAre(-0.1, 0.0, 0.1));
}

/// 5 % of the range is free on each side of 340 by 260.
TEST(XyPlots, PlaceValuesAndWhiskers)
{
    const double unsupported = std::numeric_limits<double>::infinity();
    const Plot plot{"a < b",
                    "x",
                    "y",
                    {{"marks", {{0.0, 0.0, 0.0, unsupported, 0.0, 0.5}, plot_point(1.0, 1.0)}, false}}};
    const std::string svg = plots_svg({plot});
    // 76 + 340 * 0.05 / 1.1, 300 - 260 * 0.05 / 1.1.
    EXPECT_THAT(svg, HasSubstr("<circle cx=\"91.5\" cy=\"288.2\""));
    EXPECT_THAT(svg, HasSubstr("<circle cx=\"400.5\" cy=\"51.8\""));
    EXPECT_THAT(svg, HasSubstr("M91.5 288.2V170.0"));  // up to the middle
    EXPECT_THAT(svg, HasSubstr("a &lt; b"));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(XyPlots, OmitWhatIsNotFinite)
{
    const Plot plot{
        "t",
        "x",
        "y",
        {{"", {plot_point(0.0, std::numeric_limits<double>::quiet_NaN()), plot_point(1.0, 2.0)}, true}}};
    const std::string svg = plots_svg({plot, {"empty", "x", "y", {}}});
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, HasSubstr("<polyline points=\"246.0,170.0 \""));
}

TEST(SvgReport, HoldsFrontDistributionsAndProgress)
{
    const std::string svg = svg_report(sample_results());
    for (const char* text : {"Pareto front", "Distribution of the training time, this cluster", "hypervolume",
                             "30: 16384 GPUs, tp 8", "(days)"}) {
        EXPECT_THAT(svg, HasSubstr(text));
    }
    Results empty = sample_results();
    empty.front.clear();
    EXPECT_THAT(svg_report(empty), HasSubstr("</svg>"));
    Results stopped = sample_results();
    stopped.provisional = true;
    stopped.study.nodes_known = false;
    EXPECT_THAT(svg_report(stopped), HasSubstr("Distribution of the step time, fleet"));
    EXPECT_THAT(svg_report(stopped), HasSubstr("Provisional front"));
    EXPECT_THAT(svg_report(stopped), Not(HasSubstr("Pareto front")));
}

}  // namespace

}  // namespace prismopt
