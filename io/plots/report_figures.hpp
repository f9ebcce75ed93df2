#pragma once

/// Figures of a study for papers: one of them, with chosen axes and colours.

#include "io/plots/paper_figure.hpp"
#include "io/results/results.hpp"

#include <array>
#include <string>
#include <vector>

namespace prismopt {

inline constexpr std::array<const char*, 5> report_figure_names{"front", "training-times", "step-times",
                                                                "progress", "break-even"};

/// Choice of a figure. Empty: the default of the figure.
struct FigureChoice {
    std::string figure = "front";  // of report_figure_names
    std::string x = {};            // of the front: an objective, a result, or an axis with numbers
    std::string y = {};
    // an axis of the plan, a knob, "cluster", "network", or "machine": cluster with knobs
    std::string colour = {};
};

/// Returns the panels: one, except for break-even, which has one per knob. Throws InputError, with a list of
/// the choices, for unknown names and for options that the figure does not have.
std::vector<PaperFigure> report_figures(const Results& results, const FigureChoice& choice);

/// The data of the figure as CSV. That of break-even has all values of the knobs, also those that are not
/// drawn (varied_worth_csv). Throws InputError as report_figures().
std::string report_figure_csv(const Results& results, const FigureChoice& choice);

}  // namespace prismopt
