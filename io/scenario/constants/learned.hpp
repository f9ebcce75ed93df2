#pragma once

/// What was learned from steps measured on a cluster: an overlay of the catalog's constants, as
/// `prismopt learn` writes it and `[cluster] learned` names it. docs/shortlist.md.

#include "io/scenario/constants/fitted_model.hpp"
#include "model/calibration/posterior/memory_error.hpp"
#include "model/hardware/hardware.hpp"
#include "model/plan/plan.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// A factor by a posterior. Deviations are of its logarithm.
struct LearnedFactor {
    std::string name;  // of a constant: FittedModel's; of a time: the network's
    double factor = 1.0;
    double before = 0.0;  // deviation of the catalog's fit
    double after = 0.0;   // deviation given the measurements
};

/// A measured step and how the catalog's prediction depends on the constants.
struct LearnedStep {
    std::string network;
    std::string design;          // of the plan in the first phase, in words
    ParallelPlan plan;           // what PlanTraits are made from
    std::string hardware;        // of the study's variant, as hardware_text(); empty: it had none
    int sequence = 0;            // tokens, of the first phase; 0: an earlier version did not write it
    int global_batch = 0;        // sequences; 0: as above
    double measured_s = 0.0;     // mean
    double log_ratio = 0.0;      // of measured over predicted time, by the catalog's constants
    double deviation = 0.0;      // of its noise
    bool own_plan_only = false;  // contradicts other plans, and carries no information about them
    // of log(step time), by the logarithm of a constant, where not zero
    std::vector<std::pair<std::string, double>> gradient;
};

/// Measurements that were learned, and of which study.
struct LearnedOrigin {
    std::string program;   // version that wrote it
    std::string date;      // ISO 8601, UTC
    std::string study;     // name
    std::string results;   // file
    std::string measured;  // file
    std::string measured_digest;
    int rows = 0;  // of measured
};

/// Whether a plan fitted into memory.
struct LearnedTrial {
    std::string network;
    std::string design;  // of the whole plan, in words
    bool ran = false;
    // log(capacity / predicted peak); NaN: the peak was measured.
    double limit = std::numeric_limits<double>::quiet_NaN();
};

struct Learned {
    std::vector<LearnedOrigin> origins;  // from the first to the last, each going on from those before it

    // What it is of:
    std::string accelerator;
    std::string stack;
    int domain = 0;   // GPUs of the innermost tier
    std::string fit;  // fit_digest() of the constants that it refers to

    std::vector<LearnedFactor> constants;  // that the cluster uses
    std::vector<LearnedFactor> times;      // of all plans of a network
    std::vector<LearnedStep> steps;
    std::vector<LearnedTrial> trials;
    MemoryError memory;

    std::string digest;  // of its text

    bool empty() const { return digest.empty(); }
    /// Factor of the step times of a network; 1 if none was measured.
    double time_of(const std::string& network) const;
};

/// Hexadecimal CRC-64 of a text.
std::string digest_of(const std::string& text);
/// That of the catalog's fit and discrepancy: what was learned relative to other constants does not apply.
std::string fit_digest();

/// Name of a constant in files: its first entry and its key.
std::string name_of(const FittedConstant& constant);

std::string learned_text(const Learned& learned);
/// Throws InputError, with line and column, for text that learned_text() did not
/// write. `path` is for messages.
Learned parse_learned(const std::string& text, const std::string& path);

/// The name of the accelerator; of one that the user describes also a digest of what is not learned, which
/// distinguishes it from another of the name.
std::string identity_of(const Accelerator& accelerator);

/// Why it does not apply to a cluster; empty: it does.
std::string not_of(const Learned& learned, const Cluster& cluster);

/// Whether the value of `[cluster] learned` is the overlay itself rather than the name of its file.
bool is_learned_text(const std::string& value);
/// Text of a scenario with the content of the file that `[cluster] learned` names inserted on one
/// line, so that the stored and hashed text does not depend on other files. `path`: of the scenario;
/// the file is relative to its folder.
std::string with_learned_file(const std::string& text, const std::string& path);

}  // namespace prismopt
