#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace prismopt {

/// Where an input is wrong.
struct InputPlace {
    std::string file;  // empty: not in a file
    int line = 0;      // from 1; 0: the file as a whole

    std::string text() const { return line > 0 ? file + ":" + std::to_string(line) : file; }
};

/// Invalid input; shown to the user, exit code 2. The message has file, line, value, reason and remedy.
class InputError : public std::runtime_error {
public:
    /// A message in one text: only what() is filled.
    using std::runtime_error::runtime_error;
    /// The message is "file:line: reason; remedy", without what is empty.
    InputError(InputPlace place, std::string reason, std::string remedy)
        : std::runtime_error((place.file.empty() ? "" : place.text() + ": ") + reason +
                             (remedy.empty() ? "" : "; " + remedy)),
          place_(std::move(place)), reason_(std::move(reason)), remedy_(std::move(remedy))
    {
    }

    const InputPlace& place() const { return place_; }
    const std::string& reason() const { return reason_; }
    const std::string& remedy() const { return remedy_; }  // what to write instead

private:
    InputPlace place_;
    std::string reason_;
    std::string remedy_;
};

/// No plan of the space of a scenario is feasible. The message has the reasons with
/// their counts, and the closest plan.
class NoFeasiblePlan : public InputError {
public:
    using InputError::InputError;
};

}  // namespace prismopt
