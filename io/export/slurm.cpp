#include "io/export/launch.hpp"
#include "model/plan/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

/// GPUs of a node as Slurm has them: of a host, of which the cluster's innermost tier may join several.
int slurm_node_gpus(const Launch& launch)
{
    const int joined = launch.job.cluster.gpus_per_node();
    return launch.host_gpus > 0 && joined % launch.host_gpus == 0 ? launch.host_gpus : joined;
}

/// Where one process of the training sits.
struct Process {
    int node = 0;  // of the allocation, from 0
    int local = 0;
    int stage = 0;
    int replica = 0;
};

/// By rank. Ranks count tensor, context, then stages and replicas in the plan's order, innermost first;
/// GPUs are where the plan puts them.
std::vector<Process> processes(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    const Placement placement = place(plan, launch.job.cluster);
    const int group = plan.tp * plan.cp;
    const int node = slurm_node_gpus(launch);
    std::vector<Process> all(static_cast<std::size_t>(plan.gpus()));
    for (int replica = 0; replica < plan.dp; ++replica) {
        for (int stage = 0; stage < plan.pp; ++stage) {
            const int first = group * (plan.order == PlacementOrder::tp_pp_dp ? replica * plan.pp + stage
                                                                              : stage * plan.dp + replica);
            for (int member = 0; member < group; ++member) {
                const int gpu = placement.gpu(replica, stage) + member;
                all[static_cast<std::size_t>(first) + static_cast<std::size_t>(member)] = {
                    gpu / node, gpu % node, stage, replica};
            }
        }
    }
    return all;
}

/// Rank r on GPU r, as Slurm gives them out in blocks.
bool in_blocks(const std::vector<Process>& all, int node)
{
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].node != static_cast<int>(rank) / node ||
            all[rank].local != static_cast<int>(rank) % node) {
            return false;
        }
    }
    return true;
}

std::string table(const std::vector<Process>& all)
{
    std::string text = "rank,node,local_rank,stage,replica\n";
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Process& p = all[rank];
        text += fmt::format("{},{},{},{},{}\n", rank, p.node, p.local, p.stage, p.replica);
    }
    return text;
}

/// Slurm ends an option at a blank.
std::string job_name(std::string study)
{
    for (char& c : study) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '.' || c == '_';
        if (!plain) {
            c = '-';
        }
    }
    return study;
}

constexpr auto by_blocks = "distribution=(--distribution=block:block)\n";

/// Slurm starts task t of an arbitrary distribution on line t of the host file; equal nodes of one after
/// the other fill its GPUs in turn.
constexpr auto by_table =
    R"(ranks=${RANKS:?set it to the rank file (NAME.ranks.csv): sbatch --export=ALL,RANKS=... }
mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
export SLURM_HOSTFILE=$PWD/hosts.$SLURM_JOB_ID
tail -n +2 "$ranks" | while IFS=, read -r _ node _; do echo "${hosts[$node]}"; done >"$SLURM_HOSTFILE"
distribution=(--distribution=arbitrary)
)";

/// A scenario has no names of hosts.
constexpr auto known_nodes =
    "#   Select them with sbatch --nodelist=HOSTS (nodes in the job) or --exclude=HOSTS (the others); "
    "otherwise Slurm "
    "chooses.\n#   Slurm orders hosts as in its configuration, so the scenario must number nodes in that "
    "order.\n";

/// sbatch --segment: nodes that topology/block keeps in one block, https://slurm.schedmd.com/topology.html.
constexpr auto several_hosts =
    "# {} nodes of {} GPUs form one domain of {} GPUs (tier {}). If Slurm knows the domains as blocks "
    "(topology/block), keep "
    "them together:\n#   sbatch --segment={}\n";

constexpr auto judged_hardware =
    "#   Slurm does not check this: on other hardware the plan may be slow or run out of memory. Choose "
    "matching nodes "
    "(--partition,\n#   --constraint), or export the plan for the hardware that you have.\n";

/// Slurm ends a job at the failure of one of its nodes, and a requeued one gets
/// others only where some are free.
constexpr auto judged_spares =
    "# Reserve the spare nodes: scontrol create reservation with a NodeCnt of the job's nodes plus the "
    "spares, and\n#   sbatch "
    "--reservation. After a failure, --requeue then restarts the job at once, on a spare instead of the "
    "failed node.\n";

}  // namespace

Exported slurm_script(const Launch& launch)
{
    const ParallelPlan& plan = launch.plan;
    if (plan.node_order != NodeOrder::as_listed) {
        return Refusals{
            fmt::format("node_order {} places nodes by their number in the scenario, which Slurm does not "
                        "know; search node_order = [\"{}\"]",
                        name(plan.node_order), name(NodeOrder::as_listed))};
    }
    const std::vector<Process> all = processes(launch);
    const int last = std::max_element(all.begin(), all.end(), [](const Process& a, const Process& b) {
                         return a.node < b.node;
                     })->node;
    const int node = std::min(slurm_node_gpus(launch), plan.gpus());
    const int hosts = launch.job.cluster.gpus_per_node() / slurm_node_gpus(launch);
    const bool blocks = in_blocks(all, node);
    std::string text = "#!/usr/bin/env bash\n";
    text += fmt::format(
        "#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks={}\n#SBATCH --ntasks-per-node={}\n",
        job_name(launch.study), last + 1, plan.gpus(), node);
    text += fmt::format("#SBATCH --gpus-per-node={}\n#SBATCH --exclusive\n#SBATCH --requeue\n", node);
    text += stamp(launch, "Slurm 22.05 and later", "https://slurm.schedmd.com/sbatch.html");
    text += launch.choices.empty() ? "" : judged_hardware;
    text += hosts > 1 ? fmt::format(several_hosts, hosts, node, launch.job.cluster.gpus_per_node(),
                                    one_line(launch.job.cluster.tiers.front().name), hosts)
                      : "";
    text += launch.job.cluster.nodes_listed() ? known_nodes : "";
    text += plan.spares > 0 ? judged_spares : "";
    text +=
        "# usage: sbatch THIS_FILE COMMAND ARGUMENT...   one process of COMMAND per GPU, with RANK, "
        "LOCAL_RANK and WORLD_SIZE "
        "set\n";
    text += fmt::format(
        "# Order of ranks, innermost first: {}. The rank file gives the node, stage and replica of each "
        "rank.\n",
        name(plan.order));
    text += "set -euo pipefail\n";
    text += blocks ? by_blocks : by_table;
    text += R"(MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=29500 WORLD_SIZE=$SLURM_NTASKS
# shellcheck disable=SC2016  # expanded in each task
srun "${distribution[@]}" --kill-on-bad-exit=1 bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; exec "$@"' task "$@"
)";
    return std::vector<ExportFile>{{"", std::move(text)}, {launch.stem + ".ranks.csv", table(all)}};
}

}  // namespace prismopt
