#pragma once

/// Reads the step times of a job from the log of its trainer, as the text arrives.

#include "io/logs/log_formats.hpp"
#include "io/logs/out_of_memory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A step, or the mean of the steps since the line before.
struct LoggedStep {
    std::int64_t number = 0;  // of the last step that it covers; the first step of a job is 1
    double seconds = 0.0;     // per step
    std::int64_t steps = 1;   // averaged
    bool restarted = false;   // the numbers went back: the job has restarted before this step
    std::int64_t line = 0;
    std::int64_t first = 0;  // number on the first of several lines; 0: `number`
    std::int64_t lines = 1;  // of the log that it comes from
    double sequences = 0.0;  // in its global batch, stated or by the samples so far; 0: the log has neither
    double samples = 0.0;    // sequences since the start of the training; 0: the log does not state them
};

/// Settings of a reader.
struct LogOptions {
    std::string path;     // for messages
    std::string trainer;  // a name of log_formats(), "numbers" or "csv"; empty: found from the first lines
    double tokens_per_step = 0.0;  // of the plan, for trainers that print tokens or sequences per second
    double sequences_per_step = 0.0;
    int gpus = 0;
};

/// Reads a log in any chunks. A line that is not complete waits for its end; colours are removed; a carriage
/// return ends a line, as progress bars write it. Of logs with the output of several ranks (torchrun's
/// "[rank0]:", "[default0]:", srun's "0:"), the rank of the first step is read.
class LogReader {
public:
    /// Throws InputError for an unknown trainer.
    explicit LogReader(LogOptions options);

    /// Reads more text. Throws InputError (file, line, what to do) for values that cannot be step times, and
    /// for tables with fields that are not numbers.
    void add(std::string_view text);
    /// The text has ended: reads the last line also without its end, unless reading stopped in the middle of
    /// the text. More text may follow, as after a pause of a growing file.
    void finish(bool stopped = false);

    /// The steps since the last call, in the order of the log.
    std::vector<LoggedStep> drain();

    /// The form that is read; empty if none is known yet.
    const std::string& trainer() const { return trainer_; }
    std::int64_t lines() const { return line_; }
    /// Largest memory of a GPU that the log shows, in bytes; 0: none.
    double peak_memory() const { return peak_memory_; }
    /// Steps of the whole training by the last line that states them; 0: none does.
    double total_steps() const { return total_steps_; }
    /// The first error of any rank that states a lack of memory.
    const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }
    /// Times the numbers of steps went back.
    int restarts() const { return restarts_.all; }
    /// Those of them that follow a line of Slurm by which a job ended at its time limit.
    int restarts_at_time_limits() const { return restarts_.at_time_limits; }
    /// Whether the lines have numbers of steps, without which restarts do not show.
    bool numbers_steps() const { return numbers_steps_; }

private:
    struct Line {
        std::string text;
        std::int64_t number = 0;
    };
    struct Found {
        std::optional<double> step;
        double quantity = 0.0;
        std::size_t end = 0;  // of what was read
        double sequences = 0.0;
        double samples = 0.0;
        int total = 0;
    };
    /// Sequences until the end of a step, as a line states them.
    struct SampleCount {
        std::int64_t step = 0;
        double sequences = 0.0;
    };
    /// A line with the time since the start.
    struct Elapsed {
        std::int64_t step = 0;
        double seconds = 0.0;
    };
    /// Steps of lines with the time since the start that are not averaged yet.
    struct ElapsedLines {
        std::optional<Elapsed> averaged;  // up to here
        Elapsed last;
        std::int64_t first = 0;  // step of the first line
        std::int64_t count = 0;
        bool restarted = false;  // among them
    };
    /// What lines without a step time have stated.
    struct Stated {
        std::optional<std::string> rank;   // prefix of the lines that are read
        std::optional<double> step_above;  // on a line of its own
        double batch = 0.0;                // on a line of its own
        int total = 0;                     // steps of the bar that is read
    };
    /// Columns of CSV; -1: none.
    struct Columns {
        int time = -1;
        double time_unit = 1.0;
        int step = -1;
    };
    struct Restarts {
        int all = 0;
        int at_time_limits = 0;
        bool at_time_limit = false;  // a line says so, since which the job has not gone on for long
        double since_limit_s = 0.0;  // time of the steps since that line

        void add();
        void go_on(double seconds);
    };
    /// Numbers of the lines with steps.
    struct StepNumbers {
        bool seen = false;
        std::int64_t last = 0;
        std::int64_t interval = 0;  // steps between lines; 0: not known yet
    };
    /// How far the numbers went before each restart.
    struct Progress {
        std::int64_t largest = 0;    // number of a step
        std::int64_t first_new = 0;  // the first one beyond what was the largest
        bool goes_on = true;         // beyond it, since the last restart
        int equal = 0;               // restarts in succession that began again at first_new

        void restart(std::int64_t number);
        void advance(std::int64_t number);
    };

    void read_line(std::string_view text);
    void choose(bool at_end);
    static bool recognised(const std::string& line);
    void read(const Line& line);
    void read_stated(const std::string& text);
    void read_table_line(const Line& line);
    void read_number(const Line& line);
    void read_header(const Line& line, const std::vector<std::string>& fields);
    void read_fields(const Line& line, const std::vector<std::string>& fields);
    static std::optional<Found> find(const LogFormat& format, std::string_view text);
    void add_step(std::optional<double> number, double seconds, bool mean, LoggedStep step);
    void add_elapsed(Elapsed now, LoggedStep step);
    void average_elapsed(const LoggedStep& step);
    double step_number(double stated) const;
    double batch_of(const Found& found) const;
    double seconds(StepQuantity kind, double quantity, std::int64_t line) const;
    double batch_by_samples(const LoggedStep& step) const;
    void refuse_ranks(const LoggedStep& step);
    [[noreturn]] void refuse(std::int64_t line, const std::string& text) const;
    [[noreturn]] void refuse_columns(std::int64_t line, const std::vector<std::string>& header) const;

    LogOptions options_;
    std::string trainer_;
    const LogFormat* format_ = nullptr;
    std::string partial_;
    std::vector<Line> waiting_;       // lines before the trainer is known that some form recognises
    std::optional<Line> first_line_;  // with content
    std::int64_t line_ = 0;
    Stated stated_;
    SampleCount samples_;  // of the last step
    ElapsedLines elapsed_;
    Columns columns_;
    StepNumbers numbers_;
    Progress progress_;
    double peak_memory_ = 0.0;
    double total_steps_ = 0.0;
    std::optional<OutOfMemory> out_of_memory_;
    Restarts restarts_;
    bool numbers_steps_ = false;
    std::vector<LoggedStep> steps_;
};

}  // namespace prismopt
