// Machines that serve several networks: what each network comes to on each machine, and by how much less it would have on its own best one.

/// Sections about one job, which such a study has not.
const sectionsOfOneJob = ["summary", "gains", "completion", "sizes", "front", "changes", "assumed", "best-plans", "parallel", "reliability", "progress"];

const isExact = (machine) => machine.networks.every((cell) => cell.settled);

/// The value, or the bound where the search left it at that.
function knownText(known, exact, size, places) {
    if (known.bound === null) return "none";
    return exact ? (known.value / size).toFixed(places) : `≥ ${(known.bound / size).toFixed(places)}`;
}

function machineScale(table) {
    const largest = (values) => largestOf(values.filter((value) => value !== null));
    const cell = unitFor(table.units, largest(table.machines.flatMap((machine) => machine.networks.map((own) => own.least.bound))));
    const sum = table.weights === "shares" ? { name: "times the best", size: 1 } : unitFor(table.units, largest(table.machines.map((machine) => machine.weighted.bound)));
    return { cell, sum };
}

function machineTable(table) {
    const { cell, sum } = machineScale(table);
    const objective = table.objective.replaceAll("_", " ");
    const head = element("tr", {}, ...["machine", "GPU price (USD/h)", `weighted ${objective} (${sum.name})`, "worst regret (%)",
        ...table.networks.flatMap((network) => [`${network.name} (${cell.name})`, "regret (%)"])].map((title) => element("th", { scope: "col" }, title)));
    const rows = table.machines.map((machine) => element("tr", { class: machine.on_front ? null : "dominated" },
        element("td", { class: "text" }, machine.name),
        element("td", {}, machine.gpu_price_usd_per_h.toFixed(3)),
        element("td", {}, knownText(machine.weighted, isExact(machine), sum.size, 2)),
        element("td", {}, knownText(machine.worst_regret, isExact(machine), 0.01, 1)),
        ...machine.networks.flatMap((own) => [element("td", {}, knownText(own.least, own.settled, cell.size, 2)), element("td", {}, knownText(own.regret, own.settled, 0.01, 1))])));
    return [element("thead", {}, head), element("tbody", {}, ...rows)];
}

/// Weighted objective over worst regret: the front, other machines, and bounds of those that were left at them.
function machineOption(table) {
    const { sum } = machineScale(table);
    const spot = (machine) => {
        const of = isExact(machine) ? "value" : "bound";
        return { name: machine.name, value: [machine.weighted[of] / sum.size, 100 * machine.worst_regret[of]] };
    };
    const series = (name, list, symbol, size) => ({ name, type: "scatter", symbol, symbolSize: size, data: list.filter((machine) => machine.weighted.bound !== null).map(spot) });
    const kinds = [["on the front", table.machines.filter((machine) => machine.on_front), "circle", 11],
        ["not on the front", table.machines.filter((machine) => !machine.on_front && isExact(machine)), "rect", 8],
        ["bounds of others", table.machines.filter((machine) => !isExact(machine)), "triangle", 6]];
    const objective = table.objective.replaceAll("_", " ");
    return {
        ...baseOption(""), legend: legendStyle({ bottom: 0 }), grid: { left: 64, right: 20, top: 20, bottom: 78 },
        tooltip: { ...baseOption("").tooltip, formatter: ({ name, value }) => `${escaped(name)}<br>${digits(value[0])} ${escaped(sum.name)}, worst regret ${digits(value[1], 3)} %` },
        xAxis: axisStyle(`weighted ${objective}${sum.name ? ` (${sum.name})` : ""}`, { type: "value", scale: true }),
        yAxis: axisStyle("worst regret (%)", { type: "value", min: 0 }),
        series: kinds.map((kind) => series(...kind)),
    };
}

function startMachines() {
    const section = document.getElementById("machines");
    const study = studies.length === 1 && studies[0].machines ? studies[0] : null;
    section.hidden = study === null;
    if (study === null) return;
    for (const id of sectionsOfOneJob) document.getElementById(id).hidden = true;
    const table = study.machines;
    const [first, ...lines] = study.machine_text.trim().split("\n");
    document.getElementById("machines-text").append(element("p", {}, element("strong", {}, unbroken(first))), ...lines.map((line) => element("p", {}, unbroken(line.trim()))));
    document.getElementById("machines-table").append(...machineTable(table));
    document.getElementById("machines-note").textContent = "Grey: not on the front of the two. ≥: bounds of machines that surely have more than another one in both; their regret is over the upper limit of the least value. " +
        "Regret: what a network has more than on the machine that is best for it.";
    makeChart("machines-chart", "Weighted objective and worst regret of each machine", () => machineOption(table));
    document.querySelector("#points h2").textContent = "Best plans on machines that were settled";
    document.getElementById("points-note").textContent = `${populationText()} Grey: plans on machines that are not on the front.`;
    document.querySelector("#points .controls").hidden = true;
}
