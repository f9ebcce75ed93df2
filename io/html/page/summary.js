// Summary: completion, cost, energy, risk and uncertainty of the best plan.

/// "A my (my.h5)", without folders.
const nameInFile = (study) => `${study.name} (${study.file.split("/").at(-1)})`;

function fact(title, figure, ...lines) {
    return element("div", { class: "card fact" }, element("h3", {}, title), element("div", { class: "figure" }, figure),
        ...lines.filter(Boolean).map((line) => (typeof line === "string" ? element("div", {}, line) : line)));
}

const withDate = (text, date) => (date ? element("div", {}, `${text} `, element("span", { class: "date" }, `(${date})`)) : text);

function whenFact(point) {
    const last = point.completion.at(-1);
    const unit = unitFor("s", last.seconds);
    const shown = (seconds) => (seconds === null ? "–" : `${digits(seconds / unit.size, 3)} ${unit.name}`);
    return fact("Done with 99 % probability within", shown(last.seconds), last.date ? `by ${last.date}` : null,
        ...point.completion.slice(0, -1).map((one) => withDate(`${one.quantile}: ${shown(one.seconds)}`, one.date)));
}

/// What was measured of the plan, which is not in its prediction.
function measuredText(point) {
    const measured = point.numbers.measured_step_time;
    if (measured === null || measured === undefined) return "";
    const predicted = point.estimates.step_time_mean[0];
    return `Measured: a step of ${quantityText(measured, "s")}, where ${quantityText(predicted, "s")} is predicted (${(100 * (measured / predicted - 1)).toFixed(1)} %).`;
}

function costFact(point) {
    const { cost, expected_cost: expected } = point.estimates;
    const price = point.numbers.gpu_price;
    return fact("Cost at the p99 time", quantityText(cost[0], "USD"), `expected: ${quantityText(expected[0], "USD")}`,
        price === null ? null : `${grouped(point.gpus)} GPUs at ${digits(price, 3)} USD per GPU-hour${point.study.placeholder_price ? ", a placeholder: give your own gpu_price" : ""}`);
}

function energyFact(point) {
    const { energy, carbon } = point.estimates;
    return energy[0] === null ? null : fact("Energy, mean", quantityText(energy[0], "J"), `${quantityText(carbon[0], "kg")} of CO₂`,
        point.study.placeholder_power ? "at a placeholder power: give your own" : null);
}

function riskFact(point) {
    const deadline = point.study.job.deadline_s;
    const [risk, low, high] = point.estimates.miss_probability;
    if (!deadline || risk === null) return null;
    const exact = drawnProbabilityText([risk, low, high]);
    return fact("Risk of missing the deadline", point.risk?.shown ?? exact, `deadline: ${quantityText(deadline, "s")}`, point.risk?.text,
        `${exact} assuming the model is exact${high > low ? `; 95 % confidence interval ${probabilityText(low)} to ${probabilityText(high)}` : ""}`);
}

/// With the model error, and below it without.
function riskCell(point) {
    const exact = `model exact: ${drawnProbabilityText(point.estimates.miss_probability)}`;
    return point.risk ? [point.risk.shown, element("br"), element("span", { class: "limits" }, exact)] : exact;
}

/// Sampling error and model error; the latter is usually far larger.
function errorTexts(point) {
    const [value, low, high] = point.estimates.training_time_p99;
    const unit = unitFor("s", value);
    const { model_low: modelLow, model_high: modelHigh } = point.numbers;
    const between = (a, b, count) => `${digits(a / unit.size, count)} to ${digits(b / unit.size, count)} ${unit.name}`;
    const places = high > low ? Math.min(6, Math.max(3, 1 + Math.ceil(Math.log10(Math.abs(value) / (high - low))))) : 4;
    return {
        sampling: low === null || high === null ? "unbounded (too few draws for an upper limit)" : between(low, high, places),
        samplingOf: "95 % confidence interval, assuming the model is exact",
        model: modelLow === null ? null : between(value * modelLow, value * modelHigh, 3), // null: a file of an older version
        unknownModel: "model error: not in this file and not included; it is usually 15 to 30 %",
        modelOf: point.model_error_source,
    };
}

/// The wider of the two errors first.
function sureFact(point) {
    const { sampling, samplingOf, model, modelOf, unknownModel } = errorTexts(point);
    const [value, low, high] = point.estimates.training_time_p99;
    const { model_low: modelLow, model_high: modelHigh, software_low: fastest, software_high: slowest } = point.numbers;
    const others = slowest > fastest ? [`software: ${point.study.job.software}; steps with others take ${digits(fastest, 2)} to ${digits(slowest, 2)} times as long`] : [];
    const byDraws = model === null || low === null || high === null || high - low > value * (modelHigh - modelLow);
    return fact("Uncertainty of the p99 time", byDraws ? sampling : model, model === null ? unknownModel : `model error: ${model} (${modelOf})`,
        `sampling error: ${sampling} (${samplingOf})`, ...others);
}

/// The largest part of the training time other than compute.
function limitText(point) {
    const parts = timeParts(point);
    const all = Object.values(parts).reduce((sum, value) => sum + value, 0);
    const { compute, ...rest } = parts;
    const [name, seconds] = Object.entries(rest).sort(([, a], [, b]) => b - a)[0];
    return `Compute takes ${percent(compute / all, 0)} of the mean ${runTime}; the largest other part is ${name}, ${percent(seconds / all, 0)}` +
        `${point.study.step_of ? ` (steps ${point.study.step_of})` : ""}.`;
}

function marginText(point) {
    const tied = tiesOf(point);
    if (tied.length > 0) return `${point.label} ties with ${tied.map((other) => other.label).join(", ")}: all objectives are equal within the sampling error, so choose by the other columns of the table.`;
    const others = kept(point.study).filter((other) => other !== point).sort((a, b) => a.objectives[0][0] - b.objectives[0][0]);
    if (others.length === 0) return "";
    const [next] = others;
    const { units } = point.study.objectives[0];
    const [value, other] = [point.objectives[0][0], next.objectives[0][0]];
    const more = other / value - 1;
    if (more === 0) return `${next.label} is equally good in this objective.`;
    return `Next on the front: ${next.label} with ${quantityText(other, units)}, ${quantityText(other - value, units)} (${percent(more)}) more` +
        (overlap(point.objectives[0], next.objectives[0]) ? "; their confidence intervals overlap, so these draws cannot rank them." : ".");
}

/// The question that the study was asked, and its answer.
function questionBlock(study) {
    if (study.question.length === 0) return null;
    const [[, asked], ...answers] = study.question;
    return element("div", { class: "card question" }, element("h3", {}, `Question: ${asked}`),
        element("dl", {}, ...answers.flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, text)])));
}

/// The most probable of the plans that may not fit into memory and are better than the best that does.
function mayNotFitText(point) {
    const lessOf = (plan) => 1 - plan.objectives[0][0] / point.objectives[0][0];
    const [plan] = point.study.may_not_fit.plans.filter((one) => lessOf(one) > 0).sort((a, b) => b.numbers.fit_probability - a.numbers.fit_probability);
    const less = plan ? lessOf(plan) : 0;
    return less > 0 ? `Point ${plan.id} has ${percent(less)} less, but may not fit into memory (${percentFigure(plan.numbers.fit_probability, 0)} %): see the plans of the front.` : "";
}

/// Plans with their roles, of which a plan may have several.
function worthNaming(study) {
    const names = new Map();
    const call = (point, name) => names.set(point, [...(names.get(point) ?? []), names.has(point) ? name : name[0].toUpperCase() + name.slice(1)]);
    call(best(study), `best ${study.objectives[0].name.replaceAll("_", " ")}`);
    if (kept(study).length === 1) return names;
    if (study.objectives.length > 1) call(knee(study), "knee of the front");
    call(namedPoint(study, "cheapest"), "cheapest");
    return names;
}

/// Best, knee and cheapest plan side by side.
function namedTable(study) {
    const named = [...worthNaming(study)];
    const list = named.map(([point]) => point);
    const time = unitFor("s", largestOf(list.map((point) => point.estimates.training_time_p99[0])));
    const money = unitFor("USD", largestOf(list.map((point) => point.estimates.cost[0])));
    const joules = unitFor("J", largestOf(list.map((point) => point.estimates.energy[0])));
    const cells = [["plan", (point) => `${names(point)}: ${point.label}`, true], ["GPUs", (point) => grouped(point.gpus)]];
    const names = (point) => named.find(([one]) => one === point)[1].join(", ");
    for (const q of [0, 1, 2]) {
        const name = list[0].completion[q].quantile;
        cells.push([`${name} (${time.name})`, (point) => {
            const { seconds, date } = point.completion[q];
            return seconds === null ? "–" : date ? [digits(seconds / time.size, 3), element("br"), element("span", { class: "limits" }, date)] : digits(seconds / time.size, 3);
        }]);
    }
    cells.push([`cost (${money.name}${study.placeholder_price ? ", placeholder" : ""})`, (point) => digits(point.estimates.cost[0] / money.size, 3)]);
    if (list.some((point) => point.estimates.energy[0] !== null)) cells.push([`energy (${joules.name}${study.placeholder_power ? ", placeholder" : ""})`, (point) => digits(point.estimates.energy[0] === null ? null : point.estimates.energy[0] / joules.size, 3)]);
    if (study.job.deadline_s) cells.push(["misses deadline", (point) => riskCell(point)]);
    if (hasVariants(list)) cells.push(["GPU price (USD/h)", (point) => digits(point.numbers.gpu_price, 3)]);
    const labelled = ([name, of, text], point) => element("td", { class: text ? "text" : null, "data-label": text ? null : name }, ...[of(point)].flat());
    const words = (point) => element("tr", { class: "words" }, element("td", { class: "text", colspan: cells.length },
        `${point.design}${point.variant ? `; variant: ${point.variant}` : ""}`));
    return element("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Best, knee and cheapest plan" }, element("table", { class: "named stacks" },
        element("thead", {}, element("tr", {}, ...cells.map(([name, , text]) => element("th", { scope: "col", class: text ? "text" : null }, name)))),
        element("tbody", {}, ...list.flatMap((point) => [element("tr", { "data-point": point.id },
            ...cells.map((cell) => labelled(cell, point))), words(point)]))));
}

function studySummary(study) {
    const made = element("div", { class: "answer" });
    const place = placeOf(study, made, `${nameInFile(study)}: ${study.title}`);
    const first = best(study);
    if (first === null) {
        place.append(element("p", {}, "The front is empty: no plan was evaluated completely."));
        return made;
    }
    if (study.provisional) place.append(element("p", { class: "warning" }, provisionalText));
    place.append(...[questionBlock(study)].filter(Boolean),
        element("p", { class: "lead" }, `Best ${study.objectives[0].name.replaceAll("_", " ")}${study.provisional ? " (provisional)" : ""}: ${first.label} on ${counted(first.gpus, "GPU")}, ${first.plan}.`),
        element("div", { class: "cards facts" }, ...[whenFact(first), costFact(first), energyFact(first), riskFact(first), sureFact(first)].filter(Boolean)),
        namedTable(study),
        element("p", {}, [measuredText(first), limitText(first), marginText(first), mayNotFitText(first)].filter(Boolean).join(" ")),
        element("p", { class: "note" }, [
            study.trust.proved ? `The front is ${study.trust.outcome}; this holds for this model and these draws.` : `The front is not proved complete: ${study.trust.outcome}.`,
            `Quantiles such as p99 are taken over ${study.population}.`, study.price ? `Costs are at ${study.price}.` : "", study.software ? `Note: ${study.software}.` : "", study.own_entries ? `Note: ${study.own_entries}.` : "",
            study.energy_note ? `${study.energy_note}.` : "", study.mixtures_note ? `Model error: ${study.mixtures_note}.` : ""].filter(Boolean).join(" ")));
    return made;
}

function startSummary() {
    document.getElementById("summary-text").append(...studies.map(studySummary));
}
