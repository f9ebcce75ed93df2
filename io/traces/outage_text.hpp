#pragma once

/// Outages of nodes in lines of text.

#include "io/traces/outage_list.hpp"

namespace prismopt {

/// A list without a header: each line has a node, the start and optionally the end of its outage
/// (ISO 8601 dates), and the cause, separated by blanks, tabs, commas, semicolons or bars. Lines
/// that begin with # are comments.
bool is_plain_outage_list(std::string_view beginning);
void read_plain_outage_list(TraceStream& stream, const std::string& path, OutageRecords& records);

/// Kernel messages with "NVRM: Xid" of NVIDIA's driver, after the time and the host: syslog's form ("Mar  5
/// 07:11:19 gpu0012 kernel: ...") or that of `journalctl -k -o short-iso`. Each is an outage without an end;
/// its cause is "Xid 79". Those within five minutes after another of the node belong to it, and those that
/// applications cause themselves are excluded. Source of messages and numbers:
/// docs.nvidia.com/deploy/xid-errors.
bool is_xid_journal(std::string_view beginning);
void read_xid_journal(TraceStream& stream, const std::string& path, OutageRecords& records);

}  // namespace prismopt
