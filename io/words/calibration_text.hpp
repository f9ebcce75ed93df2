#pragma once

/// Sentences for what a calibration notes, and for what it cannot fit.

#include "model/calibration/calibration.hpp"

#include <string>

namespace prismopt {

std::string note_text(const CalibrationNote& note);
std::string unknown_text(UnknownComponent why);
std::string not_fitted_text(const NotFitted& why);

}  // namespace prismopt
