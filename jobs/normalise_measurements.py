#!/usr/bin/env python3
"""Writes published tables of measured runs and collectives in the format that prismopt reads (docs/accuracy.md).

usage: python3 jobs/normalise_measurements.py TABLES OUT

TABLES  folder with tables as published, whose columns jobs/measurements/ describes; tables in the format are copied
OUT     folder to write to: a table of the same name for each of them, for `prismopt check-model --data OUT`
"""

import csv
import math
import pathlib
import re
import shutil
import sys
import tomllib

JOBS = pathlib.Path(__file__).resolve().parent
COLLECTIVES = "collectives_bandwidth"
COPIED = ("training_kernels",)  # read as they are
RECIPE_COLUMNS = ("precision_kind", "bf16_layers")  # of a table that names the recipes of another's rows
GRAPH_MODULES = {"attn", "mlp", "mamba", "moe", "moe_router", "moe_preprocess"}
RECOMPUTED_MODULES = {"layernorm", "mla_up_proj", "mlp", "moe", "moe_act"}  # attention is fused: its scores are not kept anyway
# A row that cannot be compared names its run and the reason in `skipped`. docs/accuracy.md has the meaning of each column.
RUN_COLUMNS = (
    "run", "source", "skipped", "line", "assumed", "variability", "fitted",
    "network", "layers", "hidden", "heads", "kv_heads", "feed_forward", "vocabulary", "head", "activation", "normalisation", "attention",
    "tied_embedding", "dropout", "experts", "experts_active", "expert_size", "shared_size", "dense_layers", "capacity", "routing_weights",
    "predictions", "adapter_rank", "frozen_storage", "precision", "attention_precision", "bf16_blocks", "bf16_last", "activation_storage", "states", "master", "gradients", "loss",
    "wide_stream", "fused_update", "update_in_backward", "sequence", "global_batch",
    "gpus", "accelerator", "cores", "stack", "node_link", "node", "closed", "network_link", "design", "sequence_parallel",
    "outcome", "step_time_s", "of_formula", "memory_gb", "memory_basis", "kept_bytes", "undivided_bytes",
)
COLLECTIVE_COLUMNS = ("source", "machine", "skipped", "node_link", "node", "network_link", "gpus", "collective", "size_bytes",
                      "time_us", "busbw_GBps", "doubted")
GIB = 1073741824


class Skipped(Exception):
    """Why a row is not compared."""


class Row(dict):
    """A row by column; a missing one is empty."""

    def __missing__(self, column):
        return ""

    def number(self, column):
        """Zero if the text is no number."""
        text = self[column]
        return float(text) if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text) else 0.0

    def count(self, column):
        """Zero if the text is no whole number of at least 1."""
        value = self.number(column)
        return int(value) if 1 <= value <= 1e9 and value == int(value) else 0

    def has(self, column, part):
        return contains(self[column], part)

    def fits(self, conditions):
        """Whether columns contain the texts of `conditions`; a list is a choice."""
        return all(any(self.has(column, part) for part in (parts if isinstance(parts, list) else [parts]))
                   for column, parts in conditions.items())


def contains(text, part):
    return part.lower() in text.lower()


def data(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def yes(flag):
    return "yes" if flag else "no"


class Knowledge:
    """What is known of published tables, and of the catalog's networks."""

    def __init__(self):
        self.tables = data(JOBS / "measurements/tables.toml")
        self.machines = data(JOBS / "measurements/machines.toml")
        self.collectives = data(JOBS / "measurements/collectives.toml")
        self.networks = data(JOBS.parent / "model/catalog/workloads.toml")
        self.accelerators = {text.lower(): name for name, machine in self.machines.items() for text in machine["names"]}

    def accelerator(self, text):
        """The accelerator of the catalog that a table names by this text; empty: none that is known."""
        return self.accelerators.get(text.lower(), "")

    def models(self, table):
        named = self.tables[table["models_as"]] if "models_as" in table else table
        return named.get("models", {})

    def layers(self, network):
        entry = self.networks[network]
        runs = entry.get("sequence", [])
        return entry.get("layers") or len(entry.get("pattern", "")) or sum(
            run.get("count", 1) * len(run.get("pattern", "x")) for run in runs)

    def shape(self, run):
        """Layers, hidden size and heads of a run's network, or the name of the entry for those that have no number of heads."""
        entry = self.networks.get(run["network"], {}) | {key: run[key] for key in ("hidden", "heads") if run.get(key)}
        return run["layers"] or self.layers(run["network"]), entry["hidden"], entry.get("heads", run["network"])

    def has_experts(self, network):
        entry = self.networks[network]
        blocks = [block["block"] for layer in entry.get("layer", {}).values() for block in layer["blocks"]]
        return "experts" in entry or "experts" in blocks

    def tokens(self, network):
        """Tokens of a sample that has a size, such as an image; a text has none: 0."""
        sample = self.networks[network].get("sample", {"name": "sequence"})
        return 0 if sample["name"] == "sequence" else sample["tokens"]


def filled(table, row):
    """Sets what the table lacks; returns the assumptions."""
    assumed = []
    for fill in table.get("fills", []):
        if row.fits(fill["when"]):
            for column, value in sorted((fill.get("set") or fill["replace"]).items()):
                if "replace" in fill or not row[column]:
                    row[column] = value
                    assumed.append(f"{column} = {value}")
    return assumed


def layers_of_rate(row):
    """Layers that make the printed rate: BigScience's TFLOP/s are 4 times 2 FLOPs a token and parameter, parameters 12 h^2 a layer."""
    tokens = row.number("seq") * row.number("global_batch")
    parameters = row.number("tflops_per_gpu") * 1e12 * row.number("n_gpus") * row.number("step_time_s") / (8.0 * tokens)
    return math.floor(parameters / (12.0 * row.number("hidden") ** 2) + 0.5)


def own_shape(table, row, assumed):
    """A network whose shape the columns give."""
    layers = row.count("layers")
    if layers == 0 and row.number("tflops_per_gpu") > 0 and row.count("hidden") > 0:
        layers = layers_of_rate(row)
        assumed.append(f"layers = {layers} from the printed rate")
    shape = {
        "network": row["model"],
        "layers": layers,
        "hidden": row.count("hidden"),
        "heads": row.count("heads"),
        "kv_heads": row.count("kv_heads") or row.count("heads"),
        "feed_forward": row.count("ffn") or 4 * row.count("hidden"),
        "vocabulary": row.count("vocab"),
        "head": row.count("head") or "",
        "activation": row["activation"] or table["activation"],
        "normalisation": table.get("normalisation", "layer_norm"),
        "attention": row["attention"] or table.get("attention", "flash"),
        "tied_embedding": row["tied_embedding"] or yes(table.get("tied_embedding", False)),
        "dropout": yes(table.get("dropout", False)),
    }
    if row.count("experts") > 0:
        shape |= {
            "experts": row.count("experts"),
            "experts_active": row.count("experts_active"),
            "expert_size": row.count("expert_ffn") or shape["feed_forward"],
            "shared_size": row.count("shared_ffn") or "",
            "dense_layers": row.count("dense_layers") or "",
        }
        if shape["experts_active"] == 0:
            raise Skipped("no number of active experts")
    for key, column in (("layers", "layers"), ("hidden", "hidden"), ("heads", "heads"), ("vocabulary", "vocab")):
        if shape[key] == 0:
            raise Skipped(f"no {column} (no model card in the catalog)")
    return shape


def catalog_network(knowledge, network, row):
    layers = row.count("layers")
    return {
        "network": network,
        "layers": layers if 0 < layers < knowledge.layers(network) else "",
        "dense_layers": (row.count("dense_layers") or "") if knowledge.has_experts(network) else "",
        "attention": row["attention"] if row["attention"] == "plain" else "",
        "predictions": row.count("predictions") or "",
    }


PRECISIONS = (("fp4", "nvfp4"), ("mxfp8", "mxfp8"), ("delayed", "fp8-delayed"), ("current", "fp8-current"), ("tensorwise", "fp8-current"),
              ("fp8", "fp8"), ("float8", "fp8"))


def precision(text):
    """The kind of number; 8 bits of no known kind are those of the software."""
    return next((kind for part, kind in PRECISIONS if contains(text, part)), "bf16")


def workload(knowledge, name, row, assumed):
    """Columns of the network, its precision and its batch, and the number of layers."""
    table = knowledge.tables[name]
    models = knowledge.models(table)
    model = next((part for part in sorted(models) if row.has("model", part)), None)
    if model is not None:
        columns = catalog_network(knowledge, models[model], row)
        layers = columns["layers"] or knowledge.layers(columns["network"])
        usual = knowledge.tokens(columns["network"])
    elif "activation" in table or row["activation"]:
        columns = own_shape(table, row, assumed)
        layers = columns["layers"]
        usual = 0
    else:
        raise Skipped(f"the network of {row['model']} is not known; add it to [{name}] in jobs/measurements/tables.toml, or give the run "
                      "with its scenario (docs/accuracy.md)")
    mixture = columns.get("experts") or (model is not None and knowledge.has_experts(models[model]))
    columns |= {
        "precision": precision(row["precision_kind"] or row["precision"]),
        "attention_precision": row["attention_precision"],
        "bf16_blocks": row["bf16_blocks"],
        "bf16_last": row["bf16_last"],
        **{key: row[key] for key in ("capacity", "routing_weights") if mixture},
        "adapter_rank": row.count("adapter_rank") or "",
        "frozen_storage": row["frozen_storage"],
        "sequence": row.count("seq") or usual,
        "global_batch": row.count("global_batch"),
        **{key: row[key] for key in ("activation_storage", "states", "master", "gradients", "loss", "wide_stream", "fused_update", "update_in_backward")},
    }
    if columns["sequence"] == 0 or columns["global_batch"] == 0:
        raise Skipped("no sequence length or global batch")
    return columns, layers


def cluster(knowledge, table, row):
    """Columns of the machine, and the GPUs of a node."""
    name = knowledge.accelerator(row["gpu"])
    software = row["framework"] + row["zero_fsdp"]
    found = [m for m in table["machines"] if name in m["accelerators"] and Row(software=software).fits({"software": m.get("software", "")})]
    if not name:
        raise Skipped(f'"{row["gpu"]}" names no machine of the catalog; add the text to jobs/measurements/machines.toml, or give the run '
                      "with its scenario (docs/accuracy.md)")
    if not found:
        raise Skipped(f"no description of {row['gpu']} in the machines of {table['source']}")
    if row.count("n_gpus") == 0:
        raise Skipped("no number of GPUs")
    machine = knowledge.machines[name]
    shape = [machine.get("node", 8)]
    if "slices" in machine:
        # The smallest slice that holds the GPUs; the largest, of which there are several, if none does.
        gpus = row.count("slice") or row.count("n_gpus")
        shape = next((s for s in machine["slices"] if math.prod(s) >= gpus), machine["slices"][-1])
    columns = {
        "accelerator": name,
        "cores": machine.get("cores", ""),
        "stack": found[0]["stack"],
        "node_link": machine["link"],
        "node": "x".join(map(str, shape)),
        "closed": machine.get("closed", ""),
        "network_link": found[0]["network"],
    }
    return columns, math.prod(shape)


def microbatch(row, replica):
    """What the column says, or what the number of microbatches leaves for each; 0: neither is printed."""
    microbatches = row.count("n_gpus") // replica * row.count("num_microbatches")
    batch = row.count("global_batch")
    if row.count("micro_batch") > 0 or microbatches == 0 or batch % microbatches != 0:
        return row.count("micro_batch")
    return batch // microbatches


def degrees(row):
    """Degrees of parallelism and the microbatch."""
    gpus = row.count("n_gpus")
    for column in ("tp", "pp", "cp", "ep", "etp"):
        if row[column] and not 1 <= row.count(column) <= gpus:
            raise Skipped(f"{column} = {row[column]} on {gpus} GPUs")
    plan = {column: row.count(column) or 1 for column in ("tp", "pp", "cp", "ep", "etp")}
    plan["v"] = row.count("vpp") or 1 if plan["pp"] > 1 else 1
    replica = plan["tp"] * plan["pp"] * plan["cp"]
    plan["microbatch"] = microbatch(row, replica)
    batch = row.count("global_batch")
    if plan["microbatch"] == 0:
        raise Skipped("no microbatch")
    if plan["microbatch"] > batch:
        raise Skipped(f"microbatch = {plan['microbatch']} with a global batch of {batch} sequences")
    if plan["ep"] * plan["etp"] > gpus:
        raise Skipped(f"ep*etp = {plan['ep']} x {plan['etp']} on {gpus} GPUs")
    if gpus % replica != 0:
        raise Skipped(f"tp*pp*cp = {replica} does not divide {gpus} GPUs")
    together = gpus // replica * plan["microbatch"]
    if batch % together != 0:
        raise Skipped(f"dp*microbatch = {together} does not divide the global batch {batch}")
    return plan


def schedule(plan, row, layers):
    """Zero-bubble schedules by their paper's names (Qi et al., arXiv 2401.10241), which runs them with post-validation."""
    if row.has("schedule", "DualPipe"):
        plan |= {"schedule": "dualpipe", "v": 2}
        return
    if plan["pp"] > 1 and row.has("vpp", "each layer a chunk"):
        plan["v"] = (layers + (2 if plan.get("split") == "slots" else 0)) // plan["pp"]
    zero_bubble = {"ZB-1p": "zb_h1", "ZB-2p": "zb_h2", "ZB-V": "zb_v"}
    usual = "interleaved" if plan["v"] > 1 else "1f1b"
    plan["schedule"] = next((ours for theirs, ours in zero_bubble.items() if row.has("schedule", theirs)), usual)
    if row.has("schedule", "ZB-"):
        plan["post_validation"] = "on"


def recompute(plan, row, layers, assumed):
    text = row["recompute"]
    model, hardware = row.number("mfu_pct"), row.number("hfu_pct")
    if not text:
        assumed.append(f"recompute = {plan['recompute']}")
    elif contains(text, "selective") and hardware > model > 0 and not contains(text, "sequence"):
        # Both rates printed: three passes' worth of work grows by the share of the layers that run a fourth.
        again = min(max(math.floor(3.0 * (hardware / model - 1.0) * layers + 0.5), 1), layers)
        plan |= {"recompute": "full", "recomputed_layers": again}
        assumed.append(f"full recompute of {again} layers, from the printed rates")
    elif contains(text, "full"):
        plan["recompute"] = "full"
    else:
        plan["recompute"] = "selective" if contains(text, "selective") or contains(text, "SAC") else "none"


def sharding(plan, row, node):
    text = row["zero_fsdp"]
    if text.startswith("none"):
        return  # "none (FSDP no_shard)"
    if contains(text, "grad_op") or contains(text, "zero-2"):
        plan["sharding"] = "zero2"
    elif any(contains(text, part) for part in ("zero-3", "fsdp", "hsdp")):
        plan |= {"sharding": "zero3", "dp_overlap": "on"}  # DeepSpeed and FSDP prefetch by default
    elif any(contains(text, part) for part in ("zero-1", "zero1", "distributed optimizer")):
        plan["sharding"] = "zero1"
    # Replicas whose gradients are added; DualPipe has two in a pipeline.
    replicas = row.count("n_gpus") // (plan["tp"] * plan["pp"]) * (2 if plan["schedule"] == "dualpipe" else 1)
    if contains(text, "hsdp") or contains(text, "within 8"):
        plan["shard_gpus"] = min(8, replicas)
    elif contains(text, "inside a slice"):
        plan["shard_gpus"] = min(max(1, node // plan["tp"]), replicas)


PLAN_DEFAULTS = {"recompute": "none", "sharding": "none", "split": "layers", "dp_overlap": "on"}
PLAN_OF_TABLE = (*PLAN_DEFAULTS, "tp_overlap", "context_exchange")
PLAN_OF_ROW = ("split", "recompute_modules", "cuda_graphs", "expert_overlap", "dispatch")


def plan_of(table, row, layers, node, assumed):
    """The plan by axis."""
    plan = PLAN_DEFAULTS | {key: table[key] for key in PLAN_OF_TABLE if key in table} | degrees(row)
    if row["tp_overlap"] == "on":
        plan["tp_overlap"] = "on"
    schedule(plan, row, layers)
    chunks = plan["pp"] * plan["v"]
    if layers % chunks != 0 and (layers + 2) % chunks == 0:
        plan["split"] = "slots"  # Megatron counts embedding and head as layers: 126 layers in 128 chunks
        assumed.append("split = slots")
    recompute(plan, row, layers, assumed)
    sharding(plan, row, node)
    plan |= {key: row[key] for key in PLAN_OF_ROW if row[key]}
    return plan


def memory(table, row):
    """Peak memory that a row's columns, its table or its notes give, in 10^9 bytes, and what it counts."""
    if row["peak_memory_gb"]:
        return row["peak_memory_gb"], basis(row["peak_memory_basis"])
    of_table = table.get("memory_gib", {}).get(row["row_id"])
    found = re.search(r"(?:max memory|real peak alloc|memory) ([0-9]+(?:[.][0-9]+)?) ?(GB|GiB)", row["notes"])
    if of_table:
        return f"{of_table * GIB / 1e9:.5g}", table["memory_basis"]
    if not found:
        return "", ""
    return found[1] if found[2] == "GB" else repr(float(found[1]) * GIB / 1e9), table["memory_basis"]


def basis(text):
    """What a peak counts, by the words of its source: tensors, what the allocator reserved, or the whole device."""
    if contains(text, "reserved"):
        return "reserved"
    return "allocated" if contains(text, "allocated") or contains(text, "active") else "device"


def run_of(knowledge, name, row):
    """A run in columns of the format; Skipped: why it is none."""
    table = knowledge.tables[name]
    assumed = filled(table, row)
    for skip in table.get("skips", []):
        if row.fits(skip["when"]):
            raise Skipped(skip["reason"])
    failed = row["outcome"] == "oom"  # out of memory
    seconds = "" if failed else row["step_time_s"] or row["median_s"]
    if not failed and Row(seconds=seconds).number("seconds") <= 0:
        raise Skipped("no step time")
    columns, layers = workload(knowledge, name, row, assumed)
    machine, node = cluster(knowledge, table, row)
    plan = plan_of(table, row, layers, node, assumed)
    memory_gb, memory_basis = memory(table, row)
    return columns | machine | {
        "run": f"{label(name, row)}: {row['model']} on {row['n_gpus']} {machine['accelerator']}",
        "line": row["model"].lower() if table.get("sweep") else "",
        "assumed": table["assumed"] + ("; filled: " + ", ".join(assumed) if assumed else ""),
        "variability": table.get("variability", ""),
        "fitted": row["fitted"] or yes(table.get("fitted", True)),
        "gpus": row.count("n_gpus"),
        "design": " ".join(f"{axis}={value}" for axis, value in plan.items()),
        "sequence_parallel": yes(table.get("sequence_parallel", True) or row.has("recompute", "sequence")),
        "outcome": "oom" if failed else "",
        "step_time_s": seconds,
        "of_formula": yes(row.has("step_time_basis", "F/(")),
        "memory_gb": memory_gb,
        "memory_basis": memory_basis,
        "kept_bytes": row["kept_bytes"],
        "undivided_bytes": row["undivided_bytes"],
    }


def label(name, row):
    return f"{name} row {row['row_id']}"


def identity(knowledge, run):
    """What makes two runs the same measurement: sources repeat rows in several tables. Runs out of memory have no time that distinguishes them."""
    shape = knowledge.shape(run)
    axes = [axis for axis in run["design"].split() if axis.split("=")[0] in ("tp", "pp", "v", "cp", "ep", "microbatch")]
    job = [run[key] for key in ("precision", "sequence", "global_batch", "gpus", "accelerator")]
    result = run["network"] if run["outcome"] == "oom" else f"{float(run['step_time_s']):.4g}"
    return (*shape, *axes, *job, result)


def named(text, known):
    """Those of names joined by "+" that are known, joined likewise."""
    return "+".join(name for name in text.split("+") if name in known)


def graphs_of(recipe):
    """Graphs of layers hold all of them where tokens are padded to a capacity, else what is no mixture."""
    impl, scope = recipe["cuda_graph_impl"], recipe["cuda_graph_scope"]
    padded = recipe.has("expert_capacity", "padded")
    if impl.startswith("none") or not scope:
        return ""
    if scope == "full_iteration" or (scope == "layer" and padded):
        return "full_iteration"
    return "attn+mlp" if scope == "layer" else named(scope, GRAPH_MODULES)


def settings_of(recipe):
    """What a recipe sets, by column of its run."""
    recomputed = named(recipe["recompute_modules"], RECOMPUTED_MODULES) if recipe["recompute_granularity"] == "selective" else ""
    backend = recipe["moe_backend"] if recipe["moe_backend"] in ("deepep", "hybridep") else ""
    return {column: recipe[column] for column in RECIPE_COLUMNS} | {
        "cuda_graphs": graphs_of(recipe),
        "dispatch": backend or ("all-to-all" if recipe["moe_dispatcher"].startswith("alltoall") else ""),
        "expert_overlap": "microbatches" if recipe["a2a_overlap"].startswith("yes") else "",
        "recompute": "selective" if recomputed else "",
        "recompute_modules": recomputed,
        "attention_precision": "fp8" if recipe["attention_precision"].startswith("fp8") else "",
        "capacity": "1" if recipe.has("load_balance", "capacity factor 1") else "",
        "predictions": recipe["mtp_layers"] if recipe["mtp_layers"] in ("1", "2") else "2" if recipe["mtp_layers"].startswith("2 passes") else "",
        "gradients": "bf16" if recipe["grad_reduce_dtype"] == "bf16" else "",
        "zero_fsdp": "zero-3" if recipe["fsdp"].startswith("Megatron-FSDP") else "",
    }


def recipes(tables, name):
    """Settings by recipes of a table's rows."""
    if not name or not (path := tables / f"{name}.csv").exists():
        return {}
    return {(row["table"], row["row_id"]): settings_of(row) for row in read(path)[1]}


def runs(knowledge, name, rows, said, seen):
    """Rows of a table; `said`: by their recipes, `seen`: identities of those before."""
    for row in rows:
        row.update({column: value for column, value in said.get((name, row["row_id"]), {}).items() if value and not row[column]})
        try:
            columns = run_of(knowledge, name, row)
            if (this := identity(knowledge, columns)) in seen:
                raise Skipped("duplicate of another row")
            seen.add(this)
        except Skipped as reason:
            columns = {"run": label(name, row), "skipped": str(reason)}
        table = knowledge.tables[name]
        yield columns | {"source": ", ".join([table["source"], *([row[table["group"]]] if "group" in table else [])])}


def collectives(knowledge, rows):
    """Sizes and times are those of nccl-tests."""
    known = knowledge.collectives
    for row in rows:
        accelerator = knowledge.accelerator(row["gpu"])
        system = next((s for s in known["systems"] if s["accelerator"] == accelerator and s["text"] in row["inter_node"]), None)
        columns = {"source": row["source"], "machine": row["gpu"], "gpus": row["n_gpus"], "collective": row["collective"]}
        if system is None:
            yield columns | {"skipped": f"{row['collective']} of {row['gpu']} is not described"}
            continue
        yield columns | {
            "node_link": knowledge.machines[accelerator]["link"],
            "node": system.get("node", knowledge.machines[accelerator]["node"]),
            "network_link": system["network"],
            "doubted": yes(any(row.fits(condition) for condition in known["doubted"])),
            **{key: row[key] for key in ("size_bytes", "time_us", "busbw_GBps")},
        }


def read(path):
    """The columns and the rows of a table."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        columns = next(lines, [])
        rows = []
        for fields in lines:
            if len(fields) != len(columns):
                raise ValueError(f"{path}:{lines.line_num}: has {len(fields)} fields, and the header {len(columns)}; check its commas and quotes")
            rows.append(Row(zip(columns, fields)))
        return columns, rows


def write(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def in_the_format(path, rows):
    """A copy's rows: scenarios are relative to their table."""
    for row in rows:
        if row["scenario"]:
            row["scenario"] = str((path.parent / row["scenario"]).resolve())
        yield row


def normalise(tables, out):
    """Writes the tables of a folder; returns the names of those that are not described."""
    knowledge = Knowledge()
    undescribed = []
    seen = set()
    for path in sorted(tables.glob("*.csv")):
        name = path.stem
        columns, rows = read(path)
        if "design" in columns or (name == COLLECTIVES and "node_link" in columns):
            write(out / path.name, columns, in_the_format(path, rows))
        elif name in knowledge.tables:
            said = recipes(tables, knowledge.tables[name].get("recipes"))
            write(out / path.name, RUN_COLUMNS, runs(knowledge, name, rows, said, seen))
        elif name == COLLECTIVES:
            write(out / path.name, COLLECTIVE_COLUMNS, collectives(knowledge, rows))
        elif name in COPIED:
            shutil.copyfile(path, out / path.name)
        else:
            undescribed.append(path.name)
    return undescribed


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stdout if sys.argv[1:] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    tables, out = map(pathlib.Path, sys.argv[1:])
    if not any(tables.glob("*.csv")):
        print(f"{tables}: has no tables; give the folder of the published CSV files", file=sys.stderr)
        return 2
    if out.exists() and out.samefile(tables):
        print(f"{out}: has the published tables; give another folder to write to", file=sys.stderr)
        return 2
    try:
        out.mkdir(parents=True, exist_ok=True)
        undescribed = normalise(tables, out)
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        print(f"normalise_measurements.py: {error}", file=sys.stderr)
        return 2
    if undescribed:
        print(f"not described in jobs/measurements/tables.toml, and not written: {', '.join(undescribed)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
