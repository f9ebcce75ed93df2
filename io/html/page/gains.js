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
    return plainTable(heads, rows);
}

function startGains() {
    const { gains, hypervolumes, differences, studies } = data.comparison;
    document.getElementById("gains").hidden = differences === "";
    if (differences === "") return;
    const warning = differences.split("\n").filter((line) => line.startsWith("Warning")).join(" ");
    const place = document.getElementById("gains-text");
    if (warning) place.append(element("p", { class: "warning" }, warning));
    if (studies.length > 0) place.append(studiesTable(studies), element("p", { class: "note" }, "Best value of each objective, and its change against the first study."));
    if (gains.length > 0) {
        const details = element("details", {}, element("summary", {}, "Intervals of the gains"), plainTable(gains[0], gains.slice(1)), element("p", { class: "note" }, hypervolumes.trim()));
        details.open = studies.length <= 4;
        place.append(details);
    } else place.append(element("p", {}, "A front is empty: there is nothing to compare."));
    place.append(element("pre", { tabindex: "0" }, differences.trim()));
}
