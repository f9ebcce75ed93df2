// Infeasible plans, and progress of the search.

function infeasibleOption() {
    const shown = studies.slice(0, fewStudies);
    const reasons = [...new Set(shown.flatMap((study) => study.space.rejected.map((one) => one.reason)))];
    if (reasons.length === 0) return null;
    const place = document.getElementById("infeasible-chart");
    place.style.height = `${110 + Math.max(narrow() ? 44 : 30, 30 * shown.length) * reasons.length}px`;
    return {
        ...baseOption(""),
        grid: { left: narrow() ? 150 : 310, right: narrow() ? 70 : 90, top: studies.length > 1 ? 40 : 14, bottom: 54 },
        legend: studies.length > 1 ? legendStyle({ top: 8 }) : undefined,
        xAxis: axisStyle("combinations of values (logarithmic)", { type: "log", min: 1 }),
        yAxis: axisStyle("", { type: "category", data: reasons, inverse: true, axisLabel: { color: themeColour("text"), width: narrow() ? 140 : 290, overflow: "break", fontSize: narrow() ? 11 : 12, lineHeight: 13 } }),
        series: shown.map((study) => ({
            name: study.name, type: "bar", barMaxWidth: 20, itemStyle: { color: studyStyle(study).color, decal: studyStyle(study).decal },
            data: reasons.map((reason) => study.space.rejected.find((one) => one.reason === reason)?.count ?? null),
            label: { show: true, position: "right", color: themeColour("text"), formatter: (event) => grouped(event.value) },
            tooltip: { formatter: (event) => `${escaped(event.name)}: ${grouped(event.value)}` },
        })),
    };
}

function startInfeasible() {
    const sentences = studies.map((study) => {
        const { combinations, examined, feasible, infeasible, not_plans: notPlans } = study.space;
        if (examined === 0) return `${grouped(combinations)} combinations of values; how many are feasible was not counted.`;
        const seen = examined === combinations ? "" : `, of which ${grouped(examined)} were examined`;
        const others = notPlans > 0 ? `, ${grouped(notPlans)} that duplicate another plan or have no defined schedule` : "";
        return `${grouped(combinations)} combinations of values${seen}: ${grouped(feasible)} feasible plans, ${grouped(infeasible)} infeasible${others}.`;
    });
    const told = [...new Set(sentences)].map((sentence) => {
        const of = studies.filter((_, s) => sentences[s] === sentence).map((study) => study.name);
        return studies.length > 1 ? `${fewNames(of)}: ${sentence}` : sentence;
    });
    if (manyStudies) told.push(`Bars: the first ${fewStudies} studies.`);
    document.getElementById("infeasible-text").textContent = told.join(" ");
    const misses = studies.slice(0, fewStudies).flatMap((study) => study.space.rejected.filter((one) => one.nearest));
    const table = document.getElementById("infeasible-table");
    table.closest(".table-box").hidden = misses.length === 0;
    table.replaceChildren(
        element("thead", {}, element("tr", {}, ...["reason", "nearest miss"].map((name) => element("th", { scope: "col", class: "text" }, name)))),
        element("tbody", {}, ...misses.map((one) => element("tr", {}, element("td", { class: "text" }, one.reason), element("td", { class: "text" }, one.nearest)))));
    makeChart("infeasible-chart", "Infeasible plans by reason", infeasibleOption);
}

function progressOption() {
    if (!studies.some((study) => study.progress.evaluations.length > 1)) return null;
    return {
        ...baseOption(""),
        grid: { left: 70, right: 30, top: 44, bottom: 54 },
        legend: studies.length > 1 ? legendStyle({ top: 10 }) : undefined,
        xAxis: axisStyle("plans evaluated", { type: "value" }),
        yAxis: axisStyle("hypervolume", { type: "value", scale: true, nameGap: 48 }),
        tooltip: { ...baseOption("").tooltip, trigger: "axis", formatter: (events) => events.map(({ value, seriesName }) =>
            `${studies.length > 1 ? `${escaped(seriesName)}: ` : ""}${grouped(value[0])} evaluated, ${grouped(value[2])} draws, ${digits(value[3])} s: ${digits(value[1])}`).join("<br>") },
        series: studies.map((study) => ({
            name: study.name, type: "line", step: "end", color: studyStyle(study).color, lineStyle: { type: studyStyle(study).dash }, symbol: studyStyle(study).symbol, showSymbol: study.progress.evaluations.length < 60,
            data: study.progress.evaluations.map((count, i) => [count, study.progress.hypervolume[i], study.progress.draws[i], study.progress.elapsed[i]]),
        })),
    };
}

function startProgress() {
    makeChart("progress-chart", "Hypervolume over evaluations", progressOption);
    if (charts.get("progress-chart").chart === null) document.getElementById("progress").hidden = true;
}
