#include "io/authoring/shell/shell_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismopt {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ShellScript script_of(const std::string& text, const std::map<std::string, std::string>& given = {})
{
    return read_shell_script(text, "job.sh", ShellInputs{given, {}});
}

/// The words of the last command.
std::vector<std::string> last_words(const std::string& text,
                                    const std::map<std::string, std::string>& given = {})
{
    std::vector<std::string> words;
    const ShellScript script = script_of(text, given);
    for (const ShellWord& word : script.commands.back().words) {
        words.push_back(word.text);
    }
    return words;
}

std::vector<std::string> missing_of(const std::string& text)
{
    std::vector<std::string> names;
    const ShellScript script = script_of(text);
    for (const ShellWord& word : script.commands.back().words) {
        names.insert(names.end(), word.missing.begin(), word.missing.end());
    }
    return names;
}

TEST(ShellScript, SubstitutesVariablesAndDefaults)
{
    EXPECT_THAT(last_words("A=1\nB=${A}2\nrun $A ${B} ${C:-3} ${A:-4} ${C-5} ${A:+6} ${C:+7}"),
                ElementsAre("run", "1", "12", "3", "1", "5", "6"));
    EXPECT_THAT(last_words("A='two words'\nrun $A \"$A\" '$A' \\$A"),
                ElementsAre("run", "two", "words", "two words", "$A", "$A"));
    EXPECT_THAT(last_words("A=\nrun \"$A\" $A ${A:-x} ${A-y}"), ElementsAre("run", "", "x"));
    EXPECT_THAT(last_words("run ${1:-usual}"), ElementsAre("run", "usual"));
}

TEST(ShellScript, ReadsArrays)
{
    EXPECT_THAT(last_words("A=(\n  --x 1  # don't stop\n  \"--y 2\"\n)\nA+=(--z)\nrun \"${A[@]}\""),
                ElementsAre("run", "--x", "1", "--y 2", "--z"));
    EXPECT_THAT(last_words("A=(\"--y 2\")\nrun ${A[@]}"), ElementsAre("run", "--y", "2"));
    EXPECT_THAT(last_words("A=()\nrun \"${A[@]}\" ."), ElementsAre("run", "."));
}

TEST(ShellScript, Calculates)
{
    EXPECT_THAT(last_words("N=4\nrun $((N*8)) $(( ($N + 2) / 4 - 7 % 4 )) $(( -N ))"),
                ElementsAre("run", "32", "-2", "-4"));
    EXPECT_THAT(missing_of("run $((N*8))"), ElementsAre("N"));
    EXPECT_THAT(missing_of("run $((1/0))"), ElementsAre("$((1/0))"));
    EXPECT_THAT(missing_of("run $((9223372036854775807*2))"), ElementsAre("$((9223372036854775807*2))"));
}

/// The words of the last command of a script with this one beside it: `inner`, in job/inner.sh.
std::vector<std::string> last_words_with(const std::string& inner, const std::string& text)
{
    const auto read = [](const std::string& name, const void* from) -> std::optional<ShellFile> {
        const std::string& own = *static_cast<const std::string*>(from);
        return name.ends_with("inner.sh") ? std::optional(ShellFile{"job/inner.sh", own}) : std::nullopt;
    };
    const ShellScript script = read_shell_script(text, "job.sh", ShellInputs{{}, {}, read, &inner});
    std::vector<std::string> words;
    for (const ShellWord& word : script.commands.back().words) {
        words.push_back(word.text);
    }
    EXPECT_TRUE(script.not_started.empty() || words.back() == "absent.sh");
    return words;
}

TEST(ShellScript, ReadsScriptsThatItStarts)
{
    const std::string run = "run $1 ${2:-usual} $# \"$@\"";
    for (const char* start :
         {"bash inner.sh a", "./inner.sh a", "sh -x ./inner.sh a", "$UNKNOWN/inner.sh a"}) {
        EXPECT_THAT(last_words_with(run, start), ElementsAre("run", "a", "usual", "1", "a")) << start;
    }
    EXPECT_THAT(last_words_with(run, "srun -N 4 bash inner.sh a 'b c'"),
                ElementsAre("srun", "-N", "4", "run", "a", "b", "c", "2", "a", "b c"));
    EXPECT_THAT(last_words_with(run, "srun -N 4 ./inner.sh a b"),
                ElementsAre("srun", "-N", "4", "run", "a", "b", "2", "a", "b"));
    EXPECT_THAT(last_words_with("run $A $B", "A=1\nexport B=2\nA=3 bash inner.sh"),
                ElementsAre("run", "3", "2"));
    EXPECT_THAT(last_words_with("A=2\nrun", "A=1\nbash inner.sh\nafter $A $1"),
                ElementsAre("after", "1", ""));
    EXPECT_THAT(last_words_with("shift\nrun $1 $# $@", "bash inner.sh a b c"),
                ElementsAre("run", "b", "2", "b", "c"));
    EXPECT_THAT(last_words("cat > own.sh <<'EOF'\nrun $1\nEOF\nbash own.sh a"), ElementsAre("run", "a"));
    for (const char* other :
         {"python train.py --script inner.sh", "cp inner.sh inner.sh", "srun --task-prolog inner.sh train"}) {
        EXPECT_NE(last_words_with("run", other).front(), "run") << other;
    }
    EXPECT_THAT(last_words_with("run", "srun bash absent.sh"), ElementsAre("srun", "bash", "absent.sh"));
    EXPECT_THAT(last_words_with("bash inner.sh", "bash inner.sh"), ElementsAre("bash", "inner.sh"));
}

TEST(ShellScript, GivesAScriptOnlyWhatIsExportedOrGiven)
{
    const std::string run = "run ${A:-none} ${B:-none}";
    EXPECT_THAT(last_words_with(run, "A=1\nB=2\nexport A\nbash inner.sh"), ElementsAre("run", "1", "none"));
    EXPECT_THAT(last_words_with(run, "set -a\nA=1\nbash inner.sh"), ElementsAre("run", "1", "none"));
    EXPECT_THAT(last_words_with(run, "declare -x A=1\nbash inner.sh"), ElementsAre("run", "1", "none"));
    EXPECT_THAT(last_words_with(run, "A=1\nsource inner.sh"), ElementsAre("run", "1", "none"));
    EXPECT_THAT(last_words_with(run, "env A=1 bash inner.sh").back(), "none");
    for (const char* start : {"env A=1 B=2 bash inner.sh", "srun --export=ALL,A=1,B=2 bash inner.sh",
                              "mpirun -x A=1 -x B=2 inner.sh"}) {
        const std::vector<std::string> words = last_words_with(run, start);
        EXPECT_THAT(std::vector(words.end() - 3, words.end()), ElementsAre("run", "1", "2")) << start;
    }
    EXPECT_THAT(last_words_with("run $1", "source inner.sh a"), ElementsAre("run", "a"));
    EXPECT_THAT(last_words("set -- a b\nrun $2 $#"), ElementsAre("run", "b", "2"));
}

TEST(ShellScript, KnowsWhatMayNameAScript)
{
    EXPECT_THAT(last_words_with("run", "docker run -v here/inner.sh:/inner.sh image other"),
                testing::Contains("docker"));
    for (const char* output : {"srun -o run.log ./inner.sh", "srun --output=run.log ./inner.sh"}) {
        EXPECT_EQ(last_words_with("run", output).back(), "run") << output;
    }
    EXPECT_THAT(last_words_with("run", "srun -m cyclic bash inner.sh"),
                ElementsAre("srun", "-m", "cyclic", "run"));
    EXPECT_THAT(last_words("cat > own <<'EOF'\nrun $1\nEOF\nbash own a"), ElementsAre("run", "a"));
    EXPECT_THAT(last_words("cat > own <<'EOF'\nrun $1\nEOF\nJOB=$(sbatch --parsable own a)"),
                ElementsAre("run", "a"));
}

TEST(ShellScript, KeepsQuotesInHereDocuments)
{
    EXPECT_THAT(last_words("sbatch <<EOF\nrun \"a b\" \\\"c\nEOF"), ElementsAre("run", "a b", "\"c"));
}

TEST(ShellScript, ReadsJobsThatItSubmits)
{
    const auto directives_and_words = [](const std::string& text) {
        const ShellScript script = script_of(text);
        std::vector<std::string> all = script.commands.back().directives.value_or(script.directives);
        for (const ShellWord& word : script.commands.back().words) {
            all.push_back(word.text);
        }
        return all;
    };
    EXPECT_THAT(directives_and_words("N=2\nsbatch --gres=gpu:8 <<EOF\n#!/bin/bash\n#SBATCH -N $N\n\nsrun run "
                                     "\\$SLURM_NNODES\nEOF"),
                ElementsAre("-N 2", "--gres=gpu:8 ", "srun", "run", ""));
    const ShellScript after = script_of("#SBATCH -N 4\nrun\nsbatch -N 1 --wrap=other");
    EXPECT_FALSE(after.commands.front().directives);
    EXPECT_THAT(directives_and_words("sbatch -N 2 --wrap 'srun run a'"),
                ElementsAre("-N 2 ", "srun", "run", "a"));
    EXPECT_THAT(directives_and_words("sbatch -N 2 --wrap=\"run a\""), ElementsAre("-N 2 ", "run", "a"));
    EXPECT_THAT(directives_and_words(
                    "cat > own.sbatch <<'EOF'\n#SBATCH -N 2\nrun $1\nEOF\nsbatch -p h100 own.sbatch a"),
                ElementsAre("-N 2", "-p h100 ", "run", "a"));
    EXPECT_THAT(directives_and_words("#SBATCH -N 2\nif [ $MORE ]; then sbatch job.sh; fi\nrun"),
                ElementsAre("-N 2", "run"));
}

TEST(ShellScript, DoesNotKnowArgumentsThatMayBeShifted)
{
    const ShellScript script =
        script_of("cat > own.sh <<'EOF'\nif [ $A ]; then shift; fi\nrun $1\nEOF\nbash own.sh a b");
    EXPECT_FALSE(script.commands.back().words.back().known());
}

TEST(ShellScript, ContinuesLines)
{
    EXPECT_THAT(last_words("run a \\\n  b \\\r\n  c # d \\\n"), ElementsAre("run", "a", "b", "c"));
    EXPECT_THAT(last_words("A=\" \\\n --x 1 \\\n --y\"\nrun $A"), ElementsAre("run", "--x", "1", "--y"));
}

TEST(ShellScript, NamesWhatIsMissing)
{
    EXPECT_THAT(missing_of("run $X ${Y} $(hostname)"), ElementsAre("X", "Y", "$(hostname)"));
    EXPECT_THAT(missing_of("A=$(hostname)\nrun $A"), ElementsAre("A"));
    EXPECT_THAT(missing_of("A=\"--save $DIR --tp 4\"\nrun $A"), ElementsAre("DIR"));
    EXPECT_THAT(last_words("run `nproc`", {{"$(nproc)", "8"}}), ElementsAre("run", "8"));
    EXPECT_THAT(last_words("A=$(nproc)\nrun $A", {{"A", "8"}}), ElementsAre("run", "8"));
    const ShellScript script = script_of("A=$(hostname)\nrun $A");
    EXPECT_THAT(script.why.at("A"), testing::HasSubstr("line 1"));
}

TEST(ShellScript, KeepsWhatIsMissingAtItsPlace)
{
    const ShellScript script = script_of("A=\"--save $DIR --tp 4\"\nrun $A");
    const std::vector<ShellWord>& words = script.commands.back().words;
    ASSERT_EQ(words.size(), 5U);
    EXPECT_THAT(words[2].missing, ElementsAre("DIR"));
    EXPECT_THAT(words[4].missing, IsEmpty());
}

TEST(ShellScript, TakesBranchesThatAreDecided)
{
    EXPECT_THAT(last_words("A=1\nif [ $A -gt 0 ]; then B=yes; else B=no; fi\nrun $B"),
                ElementsAre("run", "yes"));
    EXPECT_THAT(last_words("A=1\nif [[ $A == 2 ]]; then\n B=yes\nelif [[ $A == 1 && -n $A ]]; then\n "
                           "B=maybe\nelse\n B=no\nfi\nrun $B"),
                ElementsAre("run", "maybe"));
    EXPECT_THAT(last_words("A=1\nif [[ $A == 2 ]] || [[ -n $A ]]; then B=yes; fi\nrun $B"),
                ElementsAre("run", "yes"));
    EXPECT_THAT(last_words("if [ -z \"\" ]; then if [ a = b ]; then B=1; else B=2; fi; fi\nrun $B"),
                ElementsAre("run", "2"));
}

TEST(ShellScript, NamesWhatUndecidedBranchesNeed)
{
    EXPECT_THAT(missing_of("B=no\nif [ -n \"$FAST\" ]; then B=yes; fi\nrun $B"), ElementsAre("FAST"));
    EXPECT_THAT(missing_of("B=no\nif [ -n \"$FAST\" ]; then B=no; fi\nrun $B"), IsEmpty());
    EXPECT_THAT(missing_of("A=(x)\nif [ -n \"$FAST\" ]; then A+=(y); fi\nrun ${A[@]}"), ElementsAre("FAST"));
    EXPECT_THAT(missing_of("A=x\nif [ -n \"$FAST\" ]; then A=\"$A y\"; fi\nrun $A"), ElementsAre("FAST"));
    EXPECT_THAT(missing_of("B=no\nif command; then B=yes; fi\nrun $B"), ElementsAre("B"));
    EXPECT_THAT(missing_of("for i in 1 2; do\n  A=$i\ndone\nrun $A"), ElementsAre("A"));
}

TEST(ShellScript, TakesConditionalCommandsAsBranches)
{
    const std::string usual = "B=no\n";
    for (const char* runs :
         {"[ -n \"${X:-1}\" ] && B=yes", "[[ 1 == 1 ]] && B=yes", "true && B=yes", ": && B=yes",
          "false || B=yes", "! false && B=yes", "true && true && B=yes", "false && true || B=yes",
          "cd x && B=yes", "export A=1 && B=yes", "[ 1 = 1 ] && { A=1; B=yes; }", "[ 1 = 1 ] &&\n  B=yes",
          "[ x ] && B=yes", "[[ 1 == 1 || 1 == 1 && 1 == 2 ]] && B=yes", "if ! [ -n \"\" ]; then B=yes; fi",
          "if true && [ 1 -lt 2 ]; then B=yes; fi", "true && eval B=yes", "(false) || B=yes",
          "{ false; } || B=yes"}) {
        EXPECT_THAT(last_words(usual + runs + "\nrun $B"), ElementsAre("run", "yes")) << runs;
    }
    for (const char* runs :
         {"[ -n \"${X:-}\" ] && B=yes", "[[ 1 == 2 ]] && B=yes", "true || B=yes", ": || B=yes",
          "false && B=yes", "! true && B=yes", "true && false && B=yes", "true || false && false && B=yes",
          "[ 1 = 2 ] && { A=1; B=yes; }", "[ 1 = 2 ] && (run; run)", "[ ] && B=yes", "cd x || B=yes",
          "false && eval B=yes", "false && : ${B:=yes}", "false && if true; then B=yes; fi",
          "if false; then [ 1 = 1 ] && B=yes; fi", "(true) || B=yes"}) {
        EXPECT_THAT(last_words(usual + runs + "\nrun $B"), ElementsAre("run", "no")) << runs;
    }
    EXPECT_EQ(script_of("true || run a\nfalse && run b").commands.size(), 2U);  // true and false
}

TEST(ShellScript, NamesWhatConditionalCommandsNeed)
{
    EXPECT_THAT(missing_of("B=no\n[[ \"$D\" == 1 ]] && B=yes\nrun $B"), ElementsAre("D"));
    EXPECT_THAT(missing_of("B=no\n[ \"$D\" = 1 ] || B=yes\nrun $B"), ElementsAre("D"));
    EXPECT_THAT(missing_of("B=no\n[ \"$D\" = 1 ] && [ 1 = 1 ] && B=yes\nrun $B"), ElementsAre("D"));
    EXPECT_THAT(missing_of("B=no\n[ \"$D\" = 1 ] && { A=1; B=yes; }\nrun $B"), ElementsAre("D"));
    EXPECT_THAT(missing_of("B=no\nnvidia-smi | grep -q H100 && B=yes\nrun $B"), ElementsAre("B"));
    EXPECT_THAT(missing_of("B=no\n[[ llama3 == llama* ]] && B=yes\nrun $B"), ElementsAre("B"));
    EXPECT_THAT(missing_of("B=no\nprogram && unset B\nrun $B"), ElementsAre("B"));
    EXPECT_THAT(missing_of("B=no\n(( N > 1 )) && B=yes\nrun $B"), ElementsAre("B"));
    EXPECT_THAT(missing_of("B=2\n(( B *= 2 ))\nrun $B"), ElementsAre("B"));
    EXPECT_THAT(missing_of("B=no\n[ \"$D\" = 1 ] && B=no\nrun $B"), IsEmpty());
    EXPECT_THAT(last_words("cd x && run a"), ElementsAre("run", "a"));
    EXPECT_THAT(last_words("mkdir -p a && program && run a"), ElementsAre("run", "a"));
}

TEST(ShellScript, KeepsAssignmentsOfOtherProcessesFromTheScript)
{
    for (const char* other : {"(B=yes)", "( A=1; B=yes )", "echo 3 | B=yes", "echo 3 | { B=yes; }",
                              "{ B=yes; } | cat", "B=yes &", "(true && (B=yes))", "echo yes | read B"}) {
        EXPECT_THAT(last_words(std::string("B=no\n") + other + "\nrun $B"), ElementsAre("run", "no"))
            << other;
    }
    EXPECT_THAT(last_words("(B=yes; run $B)"), ElementsAre("run", "yes"));
    EXPECT_THAT(last_words("f() {\n  A=1\n}\nf\nB=2\nrun $B"), ElementsAre("run", "2"));
    EXPECT_THAT(last_words("case x in\n a) A=1 ;;\n (b) A=2 ;;\nesac\nB=2\nrun $B"), ElementsAre("run", "2"));
}

TEST(ShellScript, NamesValuesThatCommandsRead)
{
    for (const char* gives :
         {"read B < file", "read -r B <<< \"1\"", "read -p text B", "printf -v B %d 3", "mapfile -t B < file",
          "while read -r B; do x; done < file", "while IFS=, read -r A B; do x; done < file"}) {
        EXPECT_THAT(missing_of(std::string("B=no\n") + gives + "\nrun $B"), ElementsAre("B")) << gives;
    }
    EXPECT_THAT(script_of("read B < file").why.at("B"), "is what read gives in line 1");
    EXPECT_THAT(last_words("read B < file\nrun $B", {{"B", "2"}}), ElementsAre("run", "2"));
}

TEST(ShellScript, NamesArgumentsOfTheScript)
{
    EXPECT_THAT(missing_of("run $1 ${2} \"$@\" $* ${@}"), ElementsAre("$1", "$2", "$@", "$*", "$@"));
    EXPECT_THAT(missing_of("A=\"$@\"\nrun $A"), ElementsAre("A"));
    EXPECT_THAT(script_of("A=$1").why.at("A"), "is $1 in line 1, argument $1 of the script");
    EXPECT_THAT(last_words("run \"$@\"", {{"$@", "--x 1"}}), ElementsAre("run", "--x", "1"));
    EXPECT_THAT(last_words("run \"$@\"", {{"$@", ""}}), ElementsAre("run"));
}

TEST(ShellScript, ReadsHereDocuments)
{
    EXPECT_THAT(last_words("N=4\nread -r -d '' A <<END\n--x $N \\\n--y\nEND\nrun $A"),
                ElementsAre("run", "--x", "4", "--y"));
    EXPECT_EQ(script_of("N=4\ncat <<EOF > a.json\n{\"n\": $N, \"t\": \"x\"}\nEOF\n").files.at("a.json"),
              "{\"n\": 4, \"t\": \"x\"}\n");
    EXPECT_EQ(script_of("cat > a.json <<'EOF'\n$N\nEOF\n").files.at("a.json"), "$N\n");
}

TEST(ShellScript, ReadsCommandsInStrings)
{
    EXPECT_THAT(last_words("A=\"run --x 1\"\neval $A"), ElementsAre("run", "--x", "1"));
    EXPECT_THAT(last_words("A='run --x'\nbash -c \"$A \\$Y 2\" 2>&1 | tee log; last"), ElementsAre("last"));
    const ShellScript script = script_of("A='run --x'\nbash -c \"$A $Y 2\" 2>&1 | tee log");
    EXPECT_THAT(script.commands.front().words.front().text, "run");
    EXPECT_EQ(script.commands.front().words.size(), 4U);
}

TEST(ShellScript, KnowsThePlacesOfWords)
{
    const ShellScript script = script_of("A=(\n  --x\n  1\n)\nrun ${A[@]} \\\n  --y\n");
    const std::vector<ShellWord>& words = script.commands.back().words;
    EXPECT_EQ(words[1].place.line, 2);
    EXPECT_EQ(words[2].place.line, 3);
    EXPECT_EQ(words[3].place.line, 6);
    EXPECT_EQ(words[3].place.file, "job.sh");
}

TEST(ShellScript, ReadsDirectivesBeforeTheFirstCommand)
{
    EXPECT_THAT(
        sbatch_directives(
            "#!/bin/bash\n#SBATCH -N 8\n##SBATCH -N 9\n\n# text\n#SBATCH --gres=gpu:8\necho\n#SBATCH -N 4\n"),
        ElementsAre("-N 8", "--gres=gpu:8"));
}

TEST(ShellScript, KeepsVariablesBeforeACommandToIt)
{
    const ShellScript script = script_of("N=1 M=$X run $N\n");
    EXPECT_EQ(script.commands.back().environment.at("N").text, "1");
    EXPECT_THAT(script.commands.back().words.back().missing, ElementsAre("N"));
}

TEST(ShellScript, RefusesWhatDoesNotEnd)
{
    for (const char* text :
         {"A='x", "A=\"x", "A=$(x", "A=(x", "A=${x", "A=`x", "cat <<END\nx\n", "A=\"$(\""}) {
        EXPECT_THROW(script_of(text), InputError) << text;
    }
    std::string doubling = "A=xxxxxxxx\n";
    std::string nested = "A=";
    for (int i = 0; i < 40; ++i) {
        doubling += "A=\"$A$A$A\"\n";
        nested += "${B:-";
    }
    EXPECT_THROW(script_of(doubling), InputError);
    EXPECT_THROW(script_of(nested + std::string(40, '}')), InputError);
    EXPECT_THROW(script_of("A='eval \"$A\"'\neval \"$A\"\n"), InputError);
}

}  // namespace

}  // namespace prismopt
