// Summary: completion, cost, energy, risk and uncertainty of the plan that the report is about.

/// "A my (my.h5)", without folders.
const nameInFile = (study) => `${study.name} (${study.file.split("/").at(-1)})`;

function fact(title, figure, ...lines) {
    return element("div", { class: "card fact" }, element("h3", {}, title), element("div", { class: "figure" }, figure),
        ...lines.filter(Boolean).map((line) => (typeof line === "string" ? element("div", {}, unbroken(line)) : line)));
}

const withDate = (text, date) => (date ? element("div", {}, `${text} `, element("span", { class: "date" }, `(${date})`)) : text);

/// With the model error, and assuming the model is exact. Older files have the latter alone.
function whenFact(point) {
    const known = point.completion.every((one) => one.with_error.seconds !== null);
    const ends = point.completion.map((one) => ({ quantile: one.quantile, ...(known ? one.with_error : one) }));
    const unit = unitFor("s", ends.at(-1).seconds);
    const shown = (seconds) => (seconds === null ? "–" : `${digits(seconds / unit.size, 3)} ${unit.name}`);
    const at = (list, quantile) => list.find((one) => one.quantile === quantile);
    const ninety = at(ends, "p90");
    const line = (one, name = one.quantile) => withDate(`${name}: ${shown(one.seconds)}`, one.date);
    return fact("Done with 90 % probability within", shown(ninety.seconds), ninety.date ? element("div", { class: "date" }, `by ${ninety.date}`) : null, known ? "model error included" : "assuming the model is exact",
        line(at(ends, "p50")), line(at(ends, "p99")), known ? line(at(point.completion, "p90"), "p90, assuming the model is exact") : null);
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
    const electricity = point.estimates.electricity[0];
    const { model_low: low, model_high: high, spare_gpus: held } = point.numbers;
    const spares = held > 0 ? ` and ${grouped(held)} as spares` : "";
    return fact("Cost at the p99 time", quantityText(cost[0], "USD"),
        low === null ? null : `${quantityText(cost[0] * low, "USD")} to ${quantityText(cost[0] * high, "USD")} with the model error (95 %)`,
        `expected: ${quantityText(expected[0], "USD")}, assuming the model is exact`,
        electricity > 0 ? `GPU-hours: ${quantityText(cost[0] - electricity, "USD")}; electricity: ${quantityText(electricity, "USD")}, at ${point.study.electricity}` : null,
        price === null ? null : `${grouped(point.gpus)} GPUs${spares} at ${digits(price, 3)} USD per GPU-hour${point.study.placeholder_price ? ", a placeholder: give your own gpu_price" : ""}`);
}

function energyFact(point) {
    const { energy, carbon } = point.estimates;
    const { mean_power: mean, cluster_power: cluster } = point.numbers;
    return energy[0] === null ? null : fact("Power to provision", quantityText(point.power_w, "W"),
        cluster === null ? null : `of the building for the job; ${quantityText(mean, "W")} on average; whole cluster: ${quantityText(cluster, "W")}`, `energy: ${quantityText(energy[0], "J")}, ${quantityText(carbon[0], "kg")} of CO₂`,
        point.study.placeholder_power ? "at a placeholder power: give your own" : null);
}

function riskFact(point) {
    const limit = point.study.limit_s;
    if (!limit || !point.risk) return null;
    const { exact, shown, text } = point.risk;
    return fact("Risk of missing the deadline", shown ?? exact, limitName(point.study) + (limitName(point.study).includes(quantityText(limit, "s")) ? "" : ` (${quantityText(limit, "s")})`), text, `${exact} assuming the model is exact`);
}

/// With the model error, and below it without.
function riskCell(point) {
    if (!point.risk) return "–";
    const exact = `model exact: ${point.risk.exact || "–"}`;
    return point.risk.shown ? [point.risk.shown, element("br"), element("span", { class: "limits" }, exact)] : exact;
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
    const exact = `the p99 time is ${quantityText(value, "s")} assuming the model is exact`;
    return fact("Error of the p99 time", byDraws ? sampling : model, model === null ? null : exact, model === null ? unknownModel : `model error: ${model} (${modelOf})`,
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
        element("dl", {}, ...answers.flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, unbroken(text))])));
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
    const first = subjectOf(study);
    const call = (point, name) => names.set(point, [...(names.get(point) ?? []), names.has(point) ? name : name[0].toUpperCase() + name.slice(1)]);
    if (study.subject.reason !== "best") call(first, study.subject.title);
    if (best(study) === null) return names;
    call(best(study), `best ${study.objectives[0].name.replaceAll("_", " ")}`);
    if (kept(study).length < 2) return names;
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
    const watts = unitFor("W", largestOf(list.map((point) => point.power_w)));
    const joules = unitFor("J", largestOf(list.map((point) => point.estimates.energy[0])));
    const cells = [["plan", (point) => `${names(point)}: ${point.label}`, true], ["GPUs", (point) => grouped(point.gpus)]];
    const names = (point) => named.find(([one]) => one === point)[1].join(", ");
    const known = list.every((point) => point.completion.every((one) => one.with_error.seconds !== null));
    for (const q of [0, 1, 2]) {
        const name = list[0].completion[q].quantile;
        cells.push([`${name} (${time.name})`, (point) => {
            const { seconds, date } = known ? point.completion[q].with_error : point.completion[q];
            return seconds === null ? "–" : date ? [digits(seconds / time.size, 3), element("br"), element("span", { class: "limits date" }, date)] : digits(seconds / time.size, 3);
        }]);
    }
    const costRange = ({ estimates, numbers: { model_low: low, model_high: high } }) =>
        (low === null ? [] : [element("br"), element("span", { class: "limits" }, `${digits(estimates.cost[0] * low / money.size, 3)} to ${digits(estimates.cost[0] * high / money.size, 3)}`)]);
    cells.push([`cost (${money.name}${study.placeholder_price ? ", placeholder" : ""})`, (point) => [digits(point.estimates.cost[0] / money.size, 3), ...costRange(point)]]);
    if (list.some((point) => point.estimates.electricity[0] > 0)) cells.push([`of it electricity (${money.name})`, (point) => digits(point.estimates.electricity[0] / money.size, 3)]);
    if (list.some((point) => point.estimates.energy[0] !== null)) cells.push([`energy (${joules.name}${study.placeholder_power ? ", placeholder" : ""})`, (point) => digits(point.estimates.energy[0] === null ? null : point.estimates.energy[0] / joules.size, 3)]);
    if (list.some((point) => point.power_w !== null)) cells.push([`power (${watts.name})`, (point) => digits(point.power_w === null ? null : point.power_w / watts.size, 3)]);
    if (study.limit_s) cells.push(["misses deadline", (point) => riskCell(point)]);
    if (hasVariants(list)) cells.push(["GPU price (USD/h)", (point) => digits(point.numbers.gpu_price, 3)]);
    const labelled = ([name, of, text], point) => element("td", { class: text ? "text" : null, "data-label": text ? null : name }, ...[of(point)].flat());
    const words = (point) => element("tr", { class: "words" }, element("td", { class: "text", colspan: cells.length },
        `${point.design}${point.variant ? `; variant: ${point.variant}` : ""}`));
    return element("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Best, knee and cheapest plan" }, element("table", { class: "named stacks" },
        element("caption", {}, known ? "Times include the model error; costs are those at the p99 time of an exact model, with their range by the model error (95 %)." : "Times and costs assume that the model is exact."),
        element("thead", {}, element("tr", {}, ...cells.map(([name, , text]) => element("th", { scope: "col", class: text ? "text" : null }, name)))),
        element("tbody", {}, ...list.flatMap((point) => [element("tr", { "data-point": point.id },
            ...cells.map((cell) => labelled(cell, point))), words(point)]))));
}

function studySummary(study) {
    const made = element("div", { class: "answer" });
    const place = placeOf(study, made, `${nameInFile(study)}: ${study.title}`);
    const first = subjectOf(study);
    if (first === null) {
        place.append(element("p", {}, "The front is empty: no plan was evaluated completely."));
        return made;
    }
    if (study.provisional) place.append(element("p", { class: "warning" }, provisionalText));
    if (study.omitted) place.append(element("p", { class: "warning" }, `${study.omitted[0].toUpperCase()}${study.omitted.slice(1)}.`));
    place.append(...[questionBlock(study)].filter(Boolean),
        study.question.length > 0 && study.subject.reason !== "asked" ? "" : element("p", { class: "lead" }, `${study.subject.title}${study.provisional ? " (provisional)" : ""}: ${first.label} on ${counted(first.gpus, "GPU")}${first.off_front ? ", off the front" : ""}, ${first.plan}.`),
        element("div", { class: "cards facts" }, ...[whenFact(first), costFact(first), energyFact(first), riskFact(first), sureFact(first)].filter(Boolean)),
        namedTable(study),
        element("p", {}, unbroken([measuredText(first), limitText(first), ...(study.subject.reason === "best" ? [marginText(first), mayNotFitText(first)] : [])].filter(Boolean).join(" "))),
        element("p", { class: "note" }, unbroken([
            study.trust.proved ? `The front is ${study.trust.outcome}; this holds for this model and these draws.` : `The front is not proved complete: ${study.trust.outcome}.`,
            `Quantiles such as p99 are taken over ${study.population}.`, study.price ? `Costs are at ${study.price}${study.electricity ? `, with electricity at ${study.electricity}` : ""}.` : ""].filter(Boolean).join(" "))));
    return made;
}

function startSummary() {
    document.getElementById("summary-text").append(...studies.map(studySummary));
}
