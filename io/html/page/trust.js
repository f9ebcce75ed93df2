// Accuracy and provenance.

function definitions(rows) {
    return element("dl", {}, ...rows.filter(([, value]) => value !== "" && value !== undefined)
        .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}

function plainTable(heads, rows) {
    return element("div", { class: "table-box" }, element("table", {},
        element("thead", {}, element("tr", {}, ...heads.map((name, i) => element("th", { scope: "col", class: i === 0 ? "text" : null }, name)))),
        element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((text, i) => element("td", { class: i === 0 ? "text" : null }, text)))))));
}

function intervals(study) {
    const point = best(study);
    if (point === null) return null;
    const { sampling, samplingOf, model, modelOf, unknownModel } = errorTexts(point);
    return element("p", {}, `p99 training time of ${point.label}, ${quantityText(point.estimates.training_time_p99[0], "s", 4)}: sampling error: ${sampling} (${samplingOf})` +
        (model === null ? `; ${unknownModel}.` : `; model error: ${model} (${modelOf}).`) + (study.mixtures_note ? ` ${study.mixtures_note}.` : ""));
}

function studyTrust(study) {
    const { trust } = study;
    const made = element("div", {});
    if (studies.length > 1) made.append(element("h3", {}, study.name));
    const sentence = intervals(study);
    if (sentence) made.append(sentence);
    made.append(definitions([
        ["quantiles over", study.population], ["costs at", study.price], ["placement", study.placement],
        ["outcome", trust.outcome], ["proved", trust.proved ? `yes, at a simultaneous confidence level of ${percent(trust.confidence)}` : "no"],
        ["strategy", trust.strategy], ["plans", `${grouped(trust.evaluated)} evaluated, ${grouped(trust.pruned)} excluded by their lower bounds, ${grouped(trust.open)} open`],
        ["step draws", `${grouped(trust.draws)} in the search, ${study.provisional ? "none" : `${grouped(trust.confirming)} more on a fresh stream`} to confirm the front`],
        ["seed", trust.seed], ["program", trust.program], ["file", study.file], ["written", trust.created], ["job", trust.job_id],
        ["command", trust.command_line], ["ranks", `${trust.ranks.length}, ${counted(trust.threads, "thread")} each`],
    ]));
    made.append(element("details", {}, element("summary", {}, `Scenario ${trust.scenario_path}`), element("pre", { tabindex: "0" }, trust.scenario_text)));
    return made;
}

function startTrust() {
    const place = document.getElementById("trust-text");
    place.append(...studies.map(studyTrust));
    const figure = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)}`);
    place.append(element("h3", {}, "Predictions and published measurements"), element("p", {}, data.check_model.compared),
        plainTable(["source", "runs", "mean error (%)", "median (%)", "bias (%)", "worst (%)", "rank correlation"],
            data.check_model.sources.map((row) => [row.name, row.rows, figure(row.mean_absolute), figure(row.median_absolute), figure(row.bias), figure(row.worst),
                row.rank_correlation === null ? "–" : row.rank_correlation.toFixed(3)])),
        plainTable(["run", "measured (s)", "predicted (s)", "error (%)"],
            data.check_model.runs.map((run) => [run.name, digits(run.measured_s), digits(run.predicted_s), figure(run.predicted_s / run.measured_s - 1)])));
}
