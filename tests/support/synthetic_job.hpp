#pragma once

#include "model/calibrate/synthetic_job.hpp"  // the validation of written laws uses it too
