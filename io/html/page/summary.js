// The answer in words.

function drawLimits(low, high, unit) {
    if (low !== null && high === null) return `, ${digits(low / unit.size)} or more by the draws, which are too few for an upper limit`;
    return high > low && low !== null ? `, 95 % limits of the draws ${digits(low / unit.size)} to ${digits(high / unit.size)}` : "";
}

/// What the mean model may be off: usually far more than what the draws leave open.
function modelLimits(point, objective, unit) {
    const { model_low: low, model_high: high, model_fitted: fitted } = point.numbers;
    if (objective.units !== "s" || low === null || high === null || low === high) return null;
    const [value] = point.objectives[0];
    return element("div", {}, `${digits((value * low) / unit.size)} to ${digits((value * high) / unit.size)} by what the model may be off (${fitted ? "95 %, by its fit" : "as declared"})`);
}

function card(title, point, more) {
    const objective = point.study.objectives[0];
    const unit = unitFor(objective.units, point.objectives[0][0]);
    const [value, low, high] = point.objectives[0];
    const made = element("div", { class: "card" }, element("h3", {}, point.study.provisional ? `${title} (provisional)` : title),
        element("div", { class: "figure" }, `${digits(value / unit.size)} ${unit.name}`),
        element("div", {}, `${objective.long_name}${drawLimits(low, high, unit)}`),
        modelLimits(point, objective, unit),
        element("div", {}, `${grouped(point.gpus)} GPUs, ${estimateText([point.estimates.cost[0], null, null], unitFor("USD", point.estimates.cost[0]))}`),
        element("div", {}, point.plan), more ? element("div", { class: "note" }, more) : null);
    return made;
}

/// The largest part of a step that is not compute.
function limitText(point) {
    const { compute, ...rest } = stepParts(point);
    const all = Object.values(rest).reduce((sum, value) => sum + value, compute);
    const [name, seconds] = Object.entries(rest).filter(([, value]) => Number.isFinite(value)).sort(([, a], [, b]) => b - a)[0];
    return `Compute ${percent(compute / all, 0)} of its time; most of the rest: ${name}, ${percent(seconds / all, 0)}${point.study.step_of ? ` (${point.study.step_of})` : ""}.`;
}

function marginText(point) {
    const others = kept(point.study).filter((other) => other !== point).sort((a, b) => a.objectives[0][0] - b.objectives[0][0]);
    if (others.length === 0) return "";
    const [next] = others;
    const more = next.objectives[0][0] / point.objectives[0][0] - 1;
    const tied = tiesOf(point);
    if (tied.length > 0) return `A tie with ${tied.map((other) => other.label).join(", ")}: equal in all that is minimised, so choose by the other columns of the table. `;
    if (more === 0) return `As good in this: ${next.label}. `;
    return `Next on the front: ${next.label}, ${more < 0.0005 ? "less than 0.1 %" : percent(more)} more${overlap(point.objectives[0], next.objectives[0]) ? "; their limits overlap, so the draws do not tell which is better" : ""}. `;
}

/// Plans with what each of them is, which may be several things at once.
function worthNaming(study) {
    const names = new Map();
    const call = (point, name) => names.set(point, [...(names.get(point) ?? []), names.has(point) ? name : name[0].toUpperCase() + name.slice(1)]);
    call(best(study), `best ${study.objectives[0].name.replaceAll("_", " ")}`);
    if (kept(study).length === 1) return names;
    if (study.objectives.length > 1) call(knee(study), "knee of the front");
    call(kept(study).reduce((least, point) => (point.estimates.cost[0] < least.estimates.cost[0] ? point : least)), "cheapest");
    return names;
}

function startSummary() {
    const place = document.getElementById("summary-text");
    for (const study of studies) {
        if (studies.length > 1) place.append(element("h3", {}, study.name));
        const first = best(study);
        if (first === null) {
            place.append(element("p", {}, "The front is empty: no plan was evaluated to the end."));
            continue;
        }
        const cards = element("div", { class: "cards" }, ...[...worthNaming(study)].map(([point, names]) =>
            card(`${names.join(", ")}: ${point.label}`, point, (point === first ? marginText(point) : "") + limitText(point))));
        if (study.provisional) place.append(element("p", { class: "warning" }, provisionalText));
        place.append(element("p", {}, study.trust.proved ? `The front is ${study.trust.outcome}; for this model and these draws.` : `The front is not proved complete: ${study.trust.outcome}.`),
            element("p", {}, `Quantiles, such as p99, are of ${study.population}.${study.price ? ` Costs are at ${study.price}.` : ""}`));
        if (study.mixtures_note) place.append(element("p", { class: "note" }, `What the model may be off: ${study.mixtures_note}.`));
        place.append(cards);
    }
}
