// Comparison of studies: a row per study, gains over the first study, and differences.

// "12.3 (-4.1 %)": the best value of an objective, in the unit of all studies, and its change against the first.
function bestText(best, size) {
    if (!best) return "–";
    const value = digits(best.estimate.value / size);
    return best.change === null ? value : `${value} (${best.change > 0 ? "+" : ""}${percent(best.change)})`;
}

function studiesTable(studies) {
    const objectives = data.studies[0].objectives;
    const units = objectives.map(({ name, units }) => unitFor(units, largestOf(studies.map(({ best }) => best[name]?.estimate.value ?? 0))));
    const volumes = studies.some(({ hypervolume }) => hypervolume !== null);
    const heads = ["study", "file", "hardware", ...objectives.map(({ name }, k) => units[k].name ? `${name}, ${units[k].name}` : name), ...(volumes ? ["hypervolume"] : [])];
    const rows = studies.map(({ name, file, hardware, provisional, best, hypervolume }) => [
        provisional ? `${name} (provisional)` : name, file.split("/").at(-1), hardware ?? "–", ...objectives.map((objective, k) => bestText(best[objective.name], units[k].size)),
        ...(volumes ? [digits(hypervolume)] : [])]);
    return plainTable(heads, rows, "stacks labelled");
}

/// Lines without indentation are remarks of one sentence; those below them are what differs.
function differenceCount(text) {
    return text.split("\n").filter((line) => line.startsWith(" ")).length;
}

/// What each study is about: its plan, and what a board asks of it.
function subjectsTable() {
    const shown = studies.filter((study) => subjectOf(study) !== null);
    if (shown.length === 0) return null;
    const of = shown.map(subjectOf);
    const money = unitFor("USD", largestOf(of.map((point) => point.estimates.cost[0])));
    const power = unitFor("W", largestOf(of.map((point) => point.power_w)));
    const limited = shown.some((study) => study.limit_s);
    const ninety = (point) => (point.completion[1].with_error.seconds === null ? point.completion[1] : point.completion[1].with_error);
    const rows = shown.map((study) => {
        const point = subjectOf(study);
        return [study.name, study.job.accelerator ?? "–", `${study.subject.title}: ${point.id}`, grouped(point.gpus), ninety(point).date || quantityText(ninety(point).seconds, "s"), ...(limited ? [point.risk ? (point.risk.shown ?? point.risk.exact) : "–"] : []),
            `${digits(point.estimates.cost[0] / money.size, 3)}${study.placeholder_price ? " (placeholder)" : ""}`, `${digits(point.power_w === null ? null : point.power_w / power.size, 3)}${study.placeholder_power ? " (placeholder)" : ""}`];
    });
    return plainTable(["study", "hardware", "plan", "GPUs", "done with 90 %", ...(limited ? ["misses deadline"] : []), `cost (${money.name})`, `power (${power.name})`], rows, "stacks labelled");
}

function addPairs(place, pairs) {
    if (pairs.length === 0) return;
    place.append(element("h3", {}, "Pairs"), plainTable(pairs[0], pairs.slice(1), "stacks labelled"),
        element("p", { class: "note" }, "Ratio of the expectations, with its 95 % interval by what the errors of both do not have in common, and the probability that one run of the first named takes less than one of the other, with the noise of runs."));
}

function startGains() {
    const { gains, hypervolumes, differences, pairs, studies: compared } = data.comparison;
    document.getElementById("gains").hidden = differences === "" && pairs.length === 0;
    if (differences === "") {
        addPairs(document.getElementById("gains-text"), pairs);
        return;
    }
    const warning = differences.split("\n").filter((line) => line.startsWith("Warning")).join(" ");
    const place = document.getElementById("gains-text");
    if (warning) place.append(element("p", { class: "warning" }, warning));
    const subjects = subjectsTable();
    if (subjects) place.append(subjects, element("p", { class: "note" }, "Of each study, the answer to its question, or its best plan. Dates and risks include the model error."));
    if (compared.length > 0) place.append(studiesTable(compared), element("p", { class: "note" }, "Best value of each objective, and its change against the first study."));
    if (gains.length > 0) {
        const details = element("details", {}, element("summary", {}, "Intervals of the gains"), plainTable(gains[0], gains.slice(1), "stacks labelled"), element("p", { class: "note" }, hypervolumes.trim()));
        details.open = compared.length <= 4;
        place.append(details);
    } else place.append(element("p", {}, "A front is empty: there is nothing to compare."));
    addPairs(place, pairs);
    const count = differenceCount(differences);
    place.append(element("details", { class: "differences" }, element("summary", {}, count > 0 ? `Differences of axes and scenarios (${counted(count, "line")})` : "Axes and scenarios"),
        element("pre", { tabindex: "0" }, differences.trim())));
}
