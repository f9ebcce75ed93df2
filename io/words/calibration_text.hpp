#pragma once

/// Sentences for what a calibration notes.

#include "model/calibration/calibration.hpp"

#include <string>

namespace prismopt {

std::string note_text(const CalibrationNote& note);

}  // namespace prismopt
