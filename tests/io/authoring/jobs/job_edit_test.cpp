#include "io/authoring/jobs/job_edit.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

std::string edited(const std::string& text, const std::vector<ImportedValue>& read,
                   const std::vector<WantedSetting>& wanted, const std::set<std::string>& keys)
{
    const auto files = with_settings({{"job", text}}, read, wanted, keys);
    return files ? files->front().text : "none";
}

ImportedValue read_at(int line, const std::string& name, const std::string& value, const std::string& key)
{
    return {name, value, key, {"job", line}};
}

TEST(JobEdit, ChangesAValueWhereItStands)
{
    EXPECT_EQ(edited("x.py --tp-size 4 --lr 1\n", {read_at(1, "tp-size", "4", "tp")},
                     {{"tp-size", "8", "tp"}}, {"tp"}),
              "x.py --tp-size 8 --lr 1\n");
    EXPECT_EQ(edited("x.py --tp-size=4\n", {read_at(1, "tp-size", "4", "tp")}, {{"tp-size", "8", "tp"}},
                     {"tp"}),
              "x.py --tp-size=8\n");
    EXPECT_EQ(edited("a:\n  tp_size: 4  # GPUs\n", {read_at(2, "a.tp_size", "4", "tp")},
                     {{"a.tp_size", "8", "tp"}}, {"tp"}),
              "a:\n  tp_size: 8  # GPUs\n");
    EXPECT_EQ(edited("[a]\ntp_size = 4\n", {read_at(2, "a.tp_size", "4", "tp")}, {{"a.tp_size", "8", "tp"}},
                     {"tp"}),
              "[a]\ntp_size = 8\n");
}

TEST(JobEdit, ChangesAVariableThatNothingElseUses)
{
    const std::vector<ImportedValue> read{read_at(2, "tp-size", "4", "tp")};
    const std::vector<WantedSetting> wanted{{"tp-size", "8", "tp"}};
    EXPECT_EQ(edited("TP=4\nx.py --tp-size $TP\n", read, wanted, {"tp"}), "TP=8\nx.py --tp-size $TP\n");
    EXPECT_EQ(edited("TP=${TP:-4}\nx.py --tp-size ${TP}\n", read, wanted, {"tp"}),
              "TP=${TP:-8}\nx.py --tp-size ${TP}\n");
    EXPECT_EQ(edited("TP=4; N=$((TP*2))\nx.py --tp-size $TP\n", read, wanted, {"tp"}),
              "TP=4; N=$((TP*2))\nx.py --tp-size 8\n");
    EXPECT_EQ(edited("TP=4\nx.py --tp-size $TP --of $TP\n", read, wanted, {"tp"}),
              "TP=4\nx.py --tp-size 8 --of $TP\n");
    EXPECT_EQ(edited("TP=$((2*2))\nx.py --tp-size $TP\n", read, wanted, {"tp"}),
              "TP=$((2*2))\nx.py --tp-size 8\n");
}

TEST(JobEdit, RemovesAndReplacesSettings)
{
    const std::vector<ImportedValue> read{read_at(2, "recompute-activations", "", "recompute")};
    EXPECT_EQ(edited("x.py --a 1 \\\n    --recompute-activations\n", read, {}, {"recompute"}),
              "x.py --a 1\n");
    EXPECT_EQ(edited("x.py \\\n    --recompute-activations \\\n  --b\n", read, {}, {"recompute"}),
              "x.py \\\n  --b\n");
    EXPECT_EQ(edited("x.py \\\n  --recompute-activations --b\n", read, {{"recompute", "full", "recompute"}},
                     {"recompute"}),
              "x.py \\\n  --recompute full --b\n");
    EXPECT_EQ(edited("\nA=\"--b --recompute-activations\"\n", read, {}, {"recompute"}), "\nA=\"--b\"\n");
}

TEST(JobEdit, AddsASettingBehindTheLastOne)
{
    const std::vector<WantedSetting> wanted{{"cp-size", "2", "cp"}};
    EXPECT_EQ(edited("A=(\n  --tp-size 4\n)\n", {read_at(2, "tp-size", "4", "tp")}, wanted, {"cp"}),
              "A=(\n  --tp-size 4\n  --cp-size 2\n)\n");
    EXPECT_EQ(edited("x.py \\\n  --tp-size 4 \\\n  --lr 1\n", {read_at(2, "tp-size", "4", "tp")}, wanted,
                     {"cp"}),
              "x.py \\\n  --tp-size 4 \\\n  --cp-size 2 \\\n  --lr 1\n");
    EXPECT_EQ(edited("x.py \\\n  --tp-size 4\n", {read_at(2, "tp-size", "4", "tp")}, wanted, {"cp"}),
              "x.py \\\n  --tp-size 4 \\\n  --cp-size 2\n");
    EXPECT_EQ(edited("A=\"--tp-size 4\"\n", {read_at(1, "tp-size", "4", "tp")}, wanted, {"cp"}),
              "A=\"--tp-size 4 --cp-size 2\"\n");
    EXPECT_EQ(edited("A=\"--tp-size 4\"\n", {read_at(1, "tp-size", "4", "tp")},
                     {{"cp-size", "1", "cp", true}}, {"cp"}),
              "A=\"--tp-size 4\"\n");
}

TEST(JobEdit, FindsTheOnlyOptionOfACommandInAQuotedText)
{
    const std::vector<WantedSetting> wanted{{"tp-size", "8", "tp"}};
    const std::string array = "TP=4\nA=(\n  --tp-size $TP --lr 1\n)\n";
    const std::string command = "srun bash -c \"x.py ${A[*]}\"\n";
    EXPECT_EQ(edited(array + command, {read_at(5, "tp-size", "4", "tp")}, wanted, {"tp"}),
              "TP=8\nA=(\n  --tp-size $TP --lr 1\n)\n" + command);
    const std::string twice = "B=(--tp-size 2)\n" + array + command;
    EXPECT_EQ(edited(twice, {read_at(6, "tp-size", "4", "tp")}, wanted, {"tp"}), "none");
    const std::string comment = "# --tp-size 2\nA=(--tp-size 4)\n" + command;
    EXPECT_EQ(edited(comment, {read_at(3, "tp-size", "4", "tp")}, wanted, {"tp"}),
              "# --tp-size 2\nA=(--tp-size 8)\n" + command);
}

TEST(JobEdit, ChangesAMemberOfJson)
{
    const std::vector<WantedSetting> wanted{{"json.zero.stage", "3", "sharding"}};
    EXPECT_EQ(edited("{\n  \"stage\": 2,\n  \"x\": 1\n}\n", {read_at(2, "json.zero.stage", "2", "sharding")},
                     wanted, {"sharding"}),
              "{\n  \"stage\": 3,\n  \"x\": 1\n}\n");
    EXPECT_EQ(edited("{\"a\":{\"stage\":1},\"zero\":{\"stage\":2}}",
                     {read_at(1, "json.zero.stage", "2", "sharding")}, wanted, {"sharding"}),
              "{\"a\":{\"stage\":1},\"zero\":{\"stage\":3}}");
    EXPECT_EQ(edited("{\"device\": \"cpu\"}", {read_at(1, "json.device", "cpu", "offload")},
                     {{"json.device", "none", "offload"}}, {"offload"}),
              "{\"device\": \"none\"}");
    // nothing else can be written there
    EXPECT_EQ(edited("{\"stage\": 2}", {read_at(1, "json.stage", "2", "sharding")}, {}, {"sharding"}),
              "none");
}

TEST(JobEdit, FindsNothingElsewhere)
{
    EXPECT_EQ(edited("x.py --other 4\n", {read_at(1, "tp-size", "4", "tp")}, {{"tp-size", "8", "tp"}},
                     {"tp"}),
              "none");
    EXPECT_EQ(edited("x.py\n", {}, {{"tp-size", "8", "tp"}}, {"tp"}), "none");
}

std::string with_queues(const std::string& text)
{
    const std::vector<JobFile> files{{"job", text}};
    return with_variable(files, variable_values(files, "QUEUES"), "32").front().text;
}

TEST(JobEdit, ChangesAVariableOfTheEnvironment)
{
    EXPECT_EQ(with_queues("export QUEUES=1\nx.py\n"), "export QUEUES=32\nx.py\n");
    EXPECT_EQ(with_queues("export QUEUES=${QUEUES:-1}\n"), "export QUEUES=${QUEUES:-32}\n");
    EXPECT_EQ(with_queues("export QUEUES=\"1\"; QUEUES=1 x.py\n"), "export QUEUES=\"32\"; QUEUES=32 x.py\n");
    EXPECT_EQ(with_queues("env:\n  QUEUES: '1'\n"), "env:\n  QUEUES: '32'\n");
    EXPECT_EQ(with_queues("os.environ[\"QUEUES\"] = \"1\"\n"), "os.environ[\"QUEUES\"] = \"32\"\n");
}

TEST(JobEdit, LeavesOtherUsesOfAVariable)
{
    for (const char* text : {"# export QUEUES=1\n", "export MORE_QUEUES=1\n", "echo \"$QUEUES\" = 1\n",
                             "export QUEUES=$N\n", "QUEUES", "echo QUEUES 1\n"}) {
        EXPECT_EQ(with_queues(text), text);
    }
}

}  // namespace
}  // namespace prismopt
