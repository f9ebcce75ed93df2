#include "io/traces/outage_list.hpp"

#include "io/traces/event_dates.hpp"
#include "io/traces/planned_event.hpp"
#include "io/traces/trace_files.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace prismopt {
namespace {

using testing::HasSubstr;

class OutageListTest : public testing::Test {
protected:
    TraceFiles read(const std::string& text) const
    {
        std::ofstream(folder_.file("list.txt")) << text;
        return read_trace_files({folder_.file("list.txt")});
    }
    std::string refusal(const std::string& text) const
    {
        return refusal_of([&] { read(text); });
    }
    TemporaryFolder folder_;
};

TEST(PlannedEvent, IsDetectedByWholeWordsUnlessAFailureIsNamed)
{
    EXPECT_TRUE(is_planned_event("Scheduled maintenance: driver update", "DRAIN"));
    EXPECT_TRUE(is_planned_event("", "MAINT"));
    EXPECT_TRUE(is_planned_event("kernel upgrade", "DOWN*"));
    EXPECT_TRUE(is_planned_event("Reboot ASAP", "REBOOT^"));
    EXPECT_TRUE(is_planned_event("x", "Change"));
    EXPECT_FALSE(is_planned_event("unscheduled maintenance", "DRAIN"));
    EXPECT_FALSE(is_planned_event("firmware update failed", "DOWN"));
    EXPECT_FALSE(is_planned_event("Not responding", "DOWN*"));
    EXPECT_FALSE(is_planned_event("attestation", "DRAIN"));  // contains "test"
}

/// Reasons with words of plans, of failures that happened meanwhile.
TEST(PlannedEvent, IsNoneWhereTheReasonStatesAFailure)
{
    for (const char* reason :
         {"Xid 79 after driver update", "ECC uncorrectable, RMA, change GPU", "kernel panic during update",
          "node crashed during test job", "GPU fell off bus after driver update",
          "firmware hang, update pending", "NVLink errors since upgrade", "maintenance: bad DIMM",
          "unexpected reboot during patching", "CPU stuck, scheduled for repair"}) {
        EXPECT_FALSE(is_planned_event(reason, "DRAIN")) << reason;
    }
    EXPECT_FALSE(is_planned_event("Xid 79", "MAINT"));
    EXPECT_TRUE(is_planned_event("Not responding", "MAINT"));  // switched off for it
}

TEST(PlannedEvent, KnowsPhrasesOfAdministrators)
{
    for (const char* reason :
         {"rolling reboot", "Rolling kernel reboot", "patching", "security patches", "burn-in",
          "Burn in of new nodes", "PM cycle", "Wartung", "preventive cleaning", "decommissioned"}) {
        EXPECT_TRUE(is_planned_event(reason, "DRAIN")) << reason;
    }
    for (const char* reason : {"down since 3 PM", "reboot", "burn marks", "despatch", "trolling"}) {
        EXPECT_FALSE(is_planned_event(reason, "DRAIN")) << reason;
    }
}

TEST(EventDates, AreThoseOfTheirForms)
{
    EXPECT_EQ(seconds_of_us_date("01/25/2004 13:40"), 1'075'038'000.0);  // date -u -d '2004-01-25 13:40' +%s
    EXPECT_EQ(seconds_of_us_date("1/25/04 13:40"), 1'075'038'000.0);
    EXPECT_TRUE(std::isnan(seconds_of_us_date("13/25/2004 13:40")));
    EXPECT_TRUE(std::isnan(seconds_of_us_date("01/25/2004 25:40")));
    EXPECT_TRUE(std::isnan(seconds_of_us_date("")));
    const auto time = syslog_time("Feb 29 07:11:19");
    ASSERT_TRUE(time.has_value());
    EXPECT_EQ(seconds_of(*time, 2024), 1'709'190'679.0);  // date -u -d '2024-02-29 07:11:19' +%s
    EXPECT_TRUE(syslog_time("Mar  5 07:11:19").has_value());
    EXPECT_FALSE(syslog_time("Feb 30 07:11:19").has_value());
    EXPECT_FALSE(syslog_time("Foo  5 07:11:19").has_value());
}

TEST_F(OutageListTest, CountsPlannedEvents)
{
    const TraceFiles files = read(
        "NodeName|TimeStart|TimeEnd|State|Reason\n"
        "n1|2024-03-01T00:00:00|2024-03-01T12:00:00|DOWN*|Not responding\n"
        "n2|2024-03-02T00:00:00|2024-03-02T12:00:00|DRAIN|planned maintenance\n"
        "n3|2024-03-03T00:00:00|2024-03-03T12:00:00|MAINT|cooling\n");
    EXPECT_EQ(files.outages.size(), 1U);
    ASSERT_EQ(files.excluded_events.size(), 1U);
    EXPECT_EQ(files.excluded_events[0].count, 2U);
    EXPECT_EQ(files.excluded_events[0].first_line, 3U);
}

const std::string slurm_table =
    "   Cluster        NodeName           TimeStart             TimeEnd  State               Reason       "
    "User \n"
    "---------- --------------- ------------------- ------------------- ------ -------------------- "
    "---------- \n"
    "      prod                 2024-03-01T00:00:00             Unknown         Cluster Registere+           "
    " \n"
    "      prod            n012 2024-03-05T07:11:19 2024-03-05T12:30:00  DOWN*       Not responding  "
    "slurm(64+ \n"
    "      prod            n044 2024-03-17T01:02:03             Unknown  DRAIN         gpu fell off    "
    "root(0) \n"
    "      prod            n045 2024-03-18T01:02:03             Unknown  DRAIN          maintenance    "
    "root(0) \n";

TEST_F(OutageListTest, ReadsTheFixedColumnsOfSlurm)
{
    const TraceFiles files = read(slurm_table);
    ASSERT_EQ(files.outages.size(), 2U);
    EXPECT_EQ(files.outages[0].node, "n012");
    EXPECT_EQ(files.outages[0].cause, "Not responding");
    EXPECT_EQ(files.outages[0].end_s - files.outages[0].start_s, 19'121.0);
    EXPECT_LT(files.outages[1].end_s, files.outages[1].start_s);
    EXPECT_EQ(files.excluded_events.at(0).count, 1U);
    std::string cut = slurm_table;
    cut.replace(cut.find("           n012"), 15, "rack-12-node-0+");
    EXPECT_THAT(refusal(cut), HasSubstr(":4: node = \"rack-12-node-0+\""));
    std::string wrong = slurm_table;
    wrong.replace(wrong.find("2024-03-05T07"), 13, "2024-13-05T07");
    EXPECT_THAT(refusal(wrong), HasSubstr(":4: start = \"2024-13-05"));
}

TEST_F(OutageListTest, ReadsTheFormOfLanl)
{
    const std::string table =
        "system,nodenum,prob started (mm/dd/yy hh:mm),prob fixed (mm/dd/yy hh:mm),down "
        "time,Facilities,Hardware,Human Error,"
        "Network,Undetermined,Software\n"
        "20,12,01/25/2004 13:40,01/25/2004 15:10,90,,Memory Dimm,,,,\n"
        "21,12,02/02/2004 09:00,,45,,,,,,DST\n";
    const TraceFiles files = read(table);
    ASSERT_EQ(files.outages.size(), 2U);
    EXPECT_EQ(files.outages[0].node, "20/12");
    EXPECT_EQ(files.outages[0].cause, "Hardware");
    EXPECT_EQ(files.outages[0].end_s - files.outages[0].start_s, 5400.0);
    EXPECT_EQ(files.outages[1].cause, "Software");
    EXPECT_LT(files.outages[1].end_s, files.outages[1].start_s);
    EXPECT_THAT(refusal(table + "20,13,2004-02-02 09:00,,45,,x,,,,\n"),
                HasSubstr(":4: start = \"2004-02-02 09:00\""));
}

TEST_F(OutageListTest, ReadsXidsOfKernelJournals)
{
    const TraceFiles files = read(
        "Dec 31 23:59:00 n1 kernel: usb 1-1: new device\n"
        "Dec 31 23:59:10 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n"
        "Dec 31 23:59:20 n1 kernel: NVRM: Xid (PCI:0000:5b:00): 79, pid=1234, GPU has fallen off the bus.\n"
        "Jan  1 00:59:10 n1 kernel: [ 966.503025] NVRM: Xid (PCI:0000:3b:00): 48, pid=99, DBE\n"
        "Jan  1 01:59:10 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 31, pid=99, MMU Fault\n"
        "Jan  1 02:00:00 n2 kernel: NVRM: Xid (PCI:0000:3b:00): 94, pid=99, Contained memory error\n");
    ASSERT_EQ(files.outages.size(), 3U);
    EXPECT_EQ(files.outages[0].node, "n1");
    EXPECT_EQ(files.outages[0].cause, "Xid 79");
    EXPECT_EQ(files.outages[1].start_s - files.outages[0].start_s, 3600.0);
    EXPECT_EQ(files.outages[2].cause, "Xid 94");
    ASSERT_EQ(files.excluded_events.size(), 2U);
    EXPECT_EQ(files.excluded_events[0].count, 1U);  // repeated
    EXPECT_EQ(files.excluded_events[1].count, 1U);  // by the application
    const TraceFiles iso = read(
        "2024-03-05T07:11:19+0000 n7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
    ASSERT_EQ(iso.outages.size(), 1U);
    EXPECT_EQ(iso.outages[0].start_s, 1'709'622'679.0);  // date -u -d 2024-03-05T07:11:19 +%s
    EXPECT_THAT(
        refusal("[Tue Mar  5 07:11:19 2024] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"),
        HasSubstr(":1: an Xid without its time, host and number"));
}

}  // namespace
}  // namespace prismopt
