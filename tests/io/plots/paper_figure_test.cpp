#include "io/plots/paper_figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace prismopt {

namespace {

using testing::HasSubstr;
using testing::Not;

PaperFigure two_series()
{
    FigureSeries first{"25 GB/s", {exact_point(0.0, 0.0), exact_point(10.0, 1.0)}, SeriesStyle::marks};
    FigureSeries second{"50 GB/s", {exact_point(5.0, 0.5)}, SeriesStyle::line_with_marks};
    second.points.front().y_low = 0.1;
    second.points.front().y_high = 0.9;
    second.points.front().hollow = true;
    return {.x = {.name = "cost", .unit = "M USD", .title = "cost"},
            .y = {.name = "mfu", .unit = "", .title = "MFU"},
            .legend = "link",
            .series = {first, second},
            .hollow = "dominated"};
}

TEST(PaperFigure, IsAsWideAsAColumn)
{
    const std::string svg = figures_svg({two_series()});
    EXPECT_THAT(svg, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"85mm\""));
    for (const char* text :
         {">cost (M USD)<", ">MFU<", ">link:<", ">25 GB/s<", ">50 GB/s<", ">hollow: dominated<"}) {
        EXPECT_THAT(svg, HasSubstr(text));
    }
}

TEST(PaperFigure, DistinguishesSeriesWithoutColours)
{
    const std::string svg = figures_svg({two_series()});
    EXPECT_THAT(svg, HasSubstr("<circle"));
    EXPECT_THAT(svg, HasSubstr("fill=\"#fff\" stroke=\"#d55e00\""));  // the second is a hollow square
}

TEST(PaperFigure, PutsPanelsBelowEachOther)
{
    const auto height = [](const std::string& svg) {
        return std::stod(svg.substr(svg.find("height=\"") + 8));
    };
    const double one = height(figures_svg({two_series()}));
    EXPECT_NEAR(height(figures_svg({two_series(), two_series()})), 2.0 * one, 0.11);
}

TEST(PaperFigure, OmitsWhatIsNotFinite)
{
    PaperFigure figure = two_series();
    figure.series[0].points.push_back(exact_point(1.0, std::numeric_limits<double>::quiet_NaN()));
    figure.series[0].points[0].x_high = std::numeric_limits<double>::infinity();
    const std::string svg = figures_svg({figure, PaperFigure{}});
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(PaperFigure, LabelsLogarithmicAxes)
{
    PaperFigure figure = two_series();
    figure.x.logarithmic = true;
    figure.series = {{"", {exact_point(1000.0, 1.0), exact_point(100'000.0, 2.0)}, SeriesStyle::line}};
    const std::string svg = figures_svg({figure});
    for (const char* text : {">1000<", ">10,000<", ">100,000<"}) {
        EXPECT_THAT(svg, HasSubstr(text));
    }
    EXPECT_TRUE(reads_better_logarithmic(8.0, 16384.0));
    EXPECT_FALSE(reads_better_logarithmic(8192.0, 16384.0));
    EXPECT_FALSE(reads_better_logarithmic(0.0, 16384.0));
}

TEST(PaperFigure, WritesExactlyWhatItDraws)
{
    EXPECT_EQ(figure_csv({two_series()}),
              "link,point,cost (M USD),cost_low (M USD),cost_high (M USD),mfu,mfu_low,mfu_high,dominated\n"
              "25 GB/s,,0,0,0,0,0,0,0\n"
              "25 GB/s,,10,10,10,1,1,1,0\n"
              "50 GB/s,,5,5,5,0.5,0.1,0.9,1\n");
}

}  // namespace

}  // namespace prismopt
