// Accuracy and provenance.

function definitions(rows) {
    return element("dl", {}, ...rows.filter(([, value]) => value !== "" && value !== undefined)
        .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, unbroken(String(value)))]));
}

/// `kind`: classes of the table; cells of several words are broken between them.
function plainTable(heads, rows, kind = null) {
    const isWords = (text, i) => i === 0 || String(text).split(" ").length > 5;
    return element("div", { class: "table-box", tabindex: kind ? "0" : null }, element("table", { class: kind },
        element("thead", {}, element("tr", {}, ...heads.map((name, i) => element("th", { scope: "col", class: i === 0 ? "text" : null }, name)))),
        element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((text, i) => element("td", { class: isWords(text, i) ? "text" : null, "data-label": kind ? heads[i] : null },
            isWords(text, i) ? unbroken(String(text)) : text)))))));
}

function intervals(study) {
    const point = subjectOf(study);
    if (point === null) return null;
    const { sampling, samplingOf, model, modelOf, unknownModel } = errorTexts(point);
    return element("p", {}, `p99 ${runTime} of ${point.label}, ${quantityText(point.estimates.training_time_p99[0], "s", 4)}: sampling error: ${sampling} (${samplingOf})` +
        (model === null ? `; ${unknownModel}.` : `; model error: ${model} (${modelOf}).`) + (study.mixtures_note ? ` ${study.mixtures_note}.` : ""));
}

/// Measured runs of the study's kind of network on its machine, each predicted by a fit without its family.
function accuracyOf(of) {
    const { rows, error, inside, half_width: width } = of.others;
    const elsewhere = rows > 0 ? `On other machines or with other software: ${counted(rows, "run")}, mean error ${percentFigure(error)} %, ${percentFigure(inside)} % of them inside their 95 % intervals of ±${percentFigure(width, 0)} %.`
        : "There are none on other machines, either.";
    const rest = of.on_machine.length > 0 ? elsewhere : `No measured run of ${of.kind} on ${of.machine} is known. ${elsewhere}`;
    return [element("h3", {}, `Measured runs of ${of.kind} on ${of.machine}`),
        definitions([["class of this study", of.kind], ["machine", of.accelerator], ["software stack", of.stack || "none in particular"]]),
        of.on_machine.length > 0 ? plainTable(["runs, predicted by a fit without them", "runs", "mean error (%)", "bias (%)", "inside the 95 % interval (%)", "half-width (%)"],
            of.on_machine.map((row) => [row.name, row.rows, percentFigure(row.error), percentFigure(row.bias), percentFigure(row.inside), percentFigure(row.half_width)])) : "",
        element("p", {}, rest)];
}

function studyTrust(study) {
    const { trust } = study;
    const made = element("div", {});
    const place = placeOf(study, made);
    const sentence = intervals(study);
    if (sentence) place.append(sentence);
    place.append(definitions([
        ["quantiles over", study.population], ["costs at", [study.price, study.electricity ? `electricity at ${study.electricity}` : ""].filter(Boolean).join("; ")], ["placement", study.placement], ["host", study.host],
        ["held at one value by [space]", study.levers], ["excluded variants", study.excluded_variants],
        ["outcome", trust.outcome], ["proved", trust.proved ? `yes, at a simultaneous confidence level of ${percent(trust.confidence)}` : "no"],
        ["strategy", trust.strategy], ["plans", `${grouped(trust.evaluated)} evaluated, ${grouped(trust.pruned)} excluded by their lower bounds, ${grouped(trust.open)} open`],
        ["step draws", `${grouped(trust.draws)} in the search, ${study.provisional ? "none" : `${grouped(trust.confirming)} more on a fresh stream`} to confirm the front`],
        ["seed", trust.seed], ["program", trust.program], ["file", study.file], ["written", trust.created], ["job", trust.job_id],
        ["command", trust.command_line], ["ranks", `${trust.ranks.length}, ${counted(trust.threads, "thread")} each`],
    ]));
    for (const of of study.accuracy) place.append(...accuracyOf(of));
    place.append(element("details", {}, element("summary", {}, `Scenario ${trust.scenario_path}`), element("pre", { tabindex: "0" }, trust.scenario_text)));
    return made;
}

function startTrust() {
    const place = document.getElementById("trust-text");
    place.append(...studies.map(studyTrust));
}
