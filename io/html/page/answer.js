// What a board asks beside the answer: when the run ends, other numbers of GPUs, what would change the answer, what was assumed.

const msOfDay = 86_400_000;

/// The plan that the summary of a study is about.
const subjectOf = (study) => study.shown.find((point) => point.id === study.subject?.id) ?? null;

/// The axis of the time of runs: dates where they distinguish times, otherwise durations. `times`: in seconds.
function runAxis(study, times) {
    const known = times.filter(Number.isFinite);
    const [least, most] = [Math.min(...known), Math.max(...known)];
    if (study.job.start && (most - least) * 1000 > 4 * msOfDay) {
        const start = Date.parse(study.job.start);
        return { date: true, of: (seconds) => start + 1000 * seconds, text: (seconds) => new Date(start + 1000 * seconds).toISOString().slice(0, 10),
            style: { type: "time", name: "completion", axisLabel: { color: themeColour("soft"), hideOverlap: true, formatter: (value) => new Date(value).toISOString().slice(0, 10) } } };
    }
    const unit = unitFor("s", most);
    return { date: false, of: (seconds) => seconds / unit.size, text: (seconds) => quantityText(seconds, "s"), style: { type: "value", name: `${runTime} (${unit.name})` } };
}

/// What limits the time of a study, in words: "deadline 2027-04-15".
function limitName(study) {
    if (!study.limit_s) return "";
    const day = study.job.start && 1000 * study.limit_s > 4 * msOfDay ? new Date(Date.parse(study.job.start) + 1000 * study.limit_s - 1).toISOString().slice(0, 10) : quantityText(study.limit_s, "s");
    return `deadline ${day}`;
}

/// A vertical line at the deadline.
function limitLine(at, name, position = "end", align = "center") {
    const colour = palette[1];
    return { symbol: "none", silent: true, animation: false, lineStyle: { color: colour, type: "solid", width: 2 },
        label: { formatter: name, color: themeColour("text"), position, align, fontSize: 11, backgroundColor: themeColour("panel"), padding: [1, 3] }, data: [{ xAxis: at }] };
}

/// So that the name of a line near an end of the axis stays inside.
function sideOf(at, values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const share = (at - low) / (high - low);
    return share > 0.7 ? "right" : share < 0.3 ? "left" : "center";
}

/// Extent of an axis that holds these values, with a margin.
function extent(values, share = 0.06) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = share * (high - low) || 0.05 * Math.abs(high) || 1;
    return { min: low - margin, max: high + margin };
}

/// From one probability to another of the table; the ends of the table are too coarse to draw.
const drawnProbabilities = data.probabilities.map((p, i) => [p, i]).filter(([p]) => p >= 0.005 && p <= 0.995);

function completionOption() {
    const shown = studies.slice(0, fewStudies).map((study) => [study, subjectOf(study)]).filter(([, point]) => point && point.quantiles.training_time.length > 0);
    if (shown.length === 0) return null;
    const withError = (point) => (point.quantiles.with_error.length > 0 ? point.quantiles.with_error : point.quantiles.training_time);
    const times = [...shown.flatMap(([study, point]) => [...drawnProbabilities.map(([, i]) => withError(point)[i]), study.limit_s]).filter(Number.isFinite)];
    const axis = runAxis(shown[0][0], times);
    const colourOfStudy = (study) => (studies.length > 1 ? palette[[0, 2, 3, 4][studies.indexOf(study)]] : palette[0]);
    const line = (name, colour, type, width, values) => ({ name, type: "line", showSymbol: false, smooth: 0.2, color: colour, lineStyle: { color: colour, width, type },
        data: drawnProbabilities.map(([p, i]) => [axis.of(values[i]), p]) });
    const limits = [...new Set(shown.map(([study]) => study.limit_s).filter(Boolean))];
    const series = shown.flatMap(([study, point]) => {
        const name = studies.length > 1 ? `${study.name}, ` : "";
        const colour = colourOfStudy(study);
        const main = line(`${name}model error included`, colour, "solid", 3, withError(point));
        const inTime = point.risk?.mean === undefined ? null : 1 - point.risk.mean;
        if (inTime !== null && study.limit_s) {
            main.markPoint = { symbol: "circle", symbolSize: 9, silent: true, itemStyle: { color: colour }, label: { show: false }, data: [{ coord: [axis.of(study.limit_s), inTime] }] };
        }
        const chance = studies.length === 1 && inTime !== null && !narrow() ? `, in time with ${probabilityText(Math.min(Math.max(inTime, 0.001), 0.999))}` : "";
        if (study === shown[0][0] && limits.length > 0) main.markLine = { ...limitLine(axis.of(limits[0]), limitName(study) + chance, "end", sideOf(limits[0], times)), data: limits.map((limit) => ({ xAxis: axis.of(limit) })) };
        return point.quantiles.with_error.length > 0 ? [main, ...(studies.length > 1 ? [] : [line("assuming the model is exact", themeColour("soft"), "dashed", 1.6, point.quantiles.training_time)])] : [{ ...main, name: "assuming the model is exact" }];
    });
    return {
        ...baseOption(""), useUTC: true,
        tooltip: { ...baseOption("").tooltip, trigger: "axis", formatter: (events) => `${axis.date ? new Date(events[0].value[0]).toISOString().slice(0, 10) : `${digits(events[0].value[0], 3)}`}<br>` +
            events.map((event) => `${escaped(event.seriesName)}: ${probabilityText(event.value[1])}`).join("<br>") },
        grid: { left: 62, right: 30, top: (narrow() ? 30 + 22 * series.length : 44) + (limits.length > 0 ? 14 : 0), bottom: 54 },
        legend: legendStyle({ top: 8, left: 56, right: 10, type: "plain", data: series.map((one) => one.name) }),
        xAxis: { ...axisStyle(axis.style.name, axis.style), ...extent(times.map(axis.of)), axisLabel: { color: themeColour("soft"), hideOverlap: true, showMinLabel: false, showMaxLabel: false, ...axis.style.axisLabel } },
        yAxis: axisStyle("probability of being done", { type: "value", min: 0, max: 1, nameGap: 42, axisLabel: { color: themeColour("soft"), formatter: (value) => `${Math.round(100 * value)} %` } }),
        series,
    };
}

function startCompletion() {
    const section = document.getElementById("completion");
    if (!trains) section.querySelector("h2").textContent = "End of the run";
    makeChart("completion-chart", "Probability of being done by a time", completionOption);
    section.hidden = charts.get("completion-chart").chart === null;
    const shown = studies.slice(0, fewStudies).map(subjectOf).filter(Boolean);
    const of = shown.map((point) => point.label).join(", ");
    const chances = shown.length === 1 && shown[0].risk?.shown ? `, which misses the deadline with ${shown[0].risk.shown}` : "";
    document.getElementById("completion-of").append(unbroken(`Of ${of}${chances}. ${studies.some((study) => study.limit_s) ? "" : "No deadline is given."}`));
}

const mostSizes = 10;

/// The sizes around that of the answer.
function shownSizes(study) {
    const all = study.sizes.map((size) => ({ ...size, point: study.front.find((one) => one.id === size.id) }));
    const at = Math.max(0, all.findIndex(({ point }) => point.gpus === subjectOf(study)?.gpus));
    const from = Math.max(0, Math.min(at - Math.floor(mostSizes / 2), all.length - mostSizes));
    return all.slice(from, from + mostSizes);
}

const isAnswer = (study, id) => id === study.subject?.id;
const enough = (study, size) => size.within_limits && (!study.limit_s || size.probability >= study.asked_probability);

function sizesOption(study) {
    const sizes = shownSizes(study).filter(({ point }) => point.quantiles.with_error.length > 0);
    if (sizes.length === 0) return null;
    const at = (p) => data.probabilities.indexOf(p);
    const ends = sizes.flatMap(({ point }) => [point.quantiles.with_error[at(0.05)], point.quantiles.with_error[at(0.95)]]);
    const times = study.limit_s ? [...ends, study.limit_s] : ends;
    const axis = runAxis(study, times);
    const shown = (seconds) => axis.of(seconds);
    const [chanceGap, chanceFont] = [8, `bold ${textFont}`];
    const chances = study.limit_s ? chanceGap + widestText(sizes.map((size) => size.shown), chanceFont) + 4 : 28;
    return {
        ...baseOption(""), useUTC: true,
        tooltip: { ...baseOption("").tooltip, trigger: "item", formatter: ({ dataIndex }) => {
            const { point, shown: probability, seconds } = sizes[dataIndex];
            return `${counted(point.gpus, "GPU")}, ${escaped(point.label)}<br>90 % of runs end between ${axis.text(point.quantiles.with_error[at(0.05)])} and ${axis.text(point.quantiles.with_error[at(0.95)])}<br>` +
                `${percentFigure(study.asked_probability, 0)} % by ${axis.text(seconds)}${study.limit_s ? `<br>in time with ${probability}` : ""}`;
        } },
        grid: { left: narrow() ? 84 : 104, right: chances, top: study.limit_s ? 28 : 14, bottom: 52 },
        xAxis: { ...axisStyle(axis.style.name, axis.style), ...extent(times.map(shown)), axisLabel: { color: themeColour("soft"), hideOverlap: true, showMinLabel: false, showMaxLabel: false, ...axis.style.axisLabel } },
        yAxis: axisStyle("", { type: "category", inverse: true, splitLine: { show: false }, axisTick: { show: false },
            data: sizes.map(({ point, id }) => `${grouped(point.gpus)}${narrow() ? "" : " GPUs"}${isAnswer(study, id) ? " ◂" : ""}`), axisLabel: { color: themeColour("text"), interval: 0 } }),
        series: [{
            type: "custom", clip: true, encode: { x: [1, 2, 3, 4], y: 0 },
            data: sizes.map(({ point, seconds }, i) => [i, shown(point.quantiles.with_error[at(0.05)]), shown(point.quantiles.with_error[at(0.95)]), shown(point.quantiles.with_error[at(0.5)]), shown(seconds)]),
            renderItem: (params, api) => {
                const size = sizes[api.value(0)];
                const [left, y] = api.coord([api.value(1), api.value(0)]);
                const x = (i) => api.coord([api.value(i), api.value(0)])[0];
                const half = Math.min(9, 0.3 * api.size([0, 1])[1]);
                const colour = enough(study, size) ? palette[0] : palette[4];
                return { type: "group", children: [
                    { type: "rect", shape: { x: left, y: y - half, width: x(2) - left, height: 2 * half, r: 3 }, style: { fill: colour, opacity: isAnswer(study, size.id) ? 0.75 : 0.35 } },
                    { type: "line", shape: { x1: x(3), x2: x(3), y1: y - half, y2: y + half }, style: { stroke: themeColour("text"), lineWidth: 1.5 } },
                    { type: "polygon", shape: { points: [[x(4), y - half], [x(4) + half, y], [x(4), y + half], [x(4) - half, y]] }, style: { fill: themeColour("text") } },
                ] };
            },
        }, {
            type: "scatter", silent: true, symbolSize: 0, data: [], markLine: study.limit_s ? limitLine(shown(study.limit_s), limitName(study), "start", sideOf(study.limit_s, times)) : undefined,
        }, {
            type: "custom", silent: true, clip: false, encode: { x: 0, y: 1 }, data: study.limit_s ? sizes.map((size, i) => [shown(times[0]), i]) : [],
            renderItem: (params, api) => ({ type: "text", style: { text: sizes[api.value(1)].shown, x: params.coordSys.x + params.coordSys.width + chanceGap, y: api.coord([api.value(0), api.value(1)])[1],
                verticalAlign: "middle", fill: themeColour("text"), font: enough(study, sizes[api.value(1)]) ? chanceFont : textFont } }),
        }],
    };
}

function sizesTable(study) {
    const sizes = shownSizes(study);
    const money = unitFor("USD", largestOf(sizes.map(({ point }) => point.estimates.cost[0])));
    const power = unitFor("W", largestOf(sizes.map(({ point }) => point.power_w)));
    const probability = `${percentFigure(study.asked_probability, 0)}\u00a0%`;
    const powered = sizes.some(({ point }) => point.power_w !== null);
    const cells = [["GPUs", ({ point, id }) => [grouped(point.gpus), isAnswer(study, id) ? element("span", { class: "tag" }, study.subject.reason === "best" ? "best" : study.subject.reason === "asked" ? "asked for" : "answer") : null]],
        ["point", ({ id }) => [id]],
        [study.job.start ? `done by (${probability})` : `${runTime} (${probability})`, ({ seconds, date }) => [date || quantityText(seconds, "s")]],
        ...(study.limit_s ? [["in time", ({ shown }) => [shown]]] : []),
        [`cost (${money.name}${study.placeholder_price ? ", placeholder" : ""})`, ({ point }) => [digits(point.estimates.cost[0] / money.size, 3)]],
        ...(powered ? [[`power (${power.name}${study.placeholder_power ? ", placeholder" : ""})`, ({ point }) => [digits(point.power_w === null ? null : point.power_w / power.size, 3)]]] : []),
        ...(sizes.some(({ point }) => point.numbers.cluster_power !== null) ? [[`whole cluster (${power.name})`, ({ point }) => [digits(point.numbers.cluster_power === null ? null : point.numbers.cluster_power / power.size, 3)]]] : []),
        ...(sizes.some((size) => !size.within_limits) ? [["keeps power, budget, GPUs", ({ within_limits: within }) => [within ? "yes" : "no"]]] : []),
        ["plan", ({ point }) => [point.design + (point.variant ? `; ${point.variant}` : "")], true]];
    return element("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Plans by number of GPUs" }, element("table", { class: "stacks labelled" },
        element("thead", {}, element("tr", {}, ...cells.map(([name, , text]) => element("th", { scope: "col", class: text ? "text optional" : null }, name)))),
        element("tbody", {}, ...sizes.map((size) => element("tr", { "aria-selected": String(isAnswer(study, size.id)) },
            ...cells.map(([name, of, text]) => element("td", { class: text ? "text optional" : null, "data-label": name }, ...of(size))))))));
}

function startSizes() {
    const section = document.getElementById("sizes");
    const place = document.getElementById("sizes-text");
    const shown = studies.slice(0, fewStudies).filter((study) => study.sizes.length > 0);
    section.hidden = shown.length === 0;
    for (const study of shown) {
        const own = placeOf(study, place);
        const id = `sizes-chart-${studies.indexOf(study)}`;
        own.append(element("p", {}, `Bars: 90 % of runs, model error included; line: median; diamond: done with ${percentFigure(study.asked_probability, 0)} %.` +
            (study.limit_s ? " At the right: probability of being in time." : "") + (study.sizes.length > mostSizes ? ` The ${mostSizes} numbers of GPUs around that of the ${study.subject?.reason === "best" ? "best plan" : "answer"}, of ${study.sizes.length}.` : "")),
        element("div", { class: "chart sizes", id, style: `height: ${86 + 26 * shownSizes(study).length}px` }), sizesTable(study));
        makeChart(id, "Time of the run by number of GPUs", () => sizesOption(study));
    }
}

const mostChanges = 6;

/// Of the run of the subject: what moves its p99 most.
function effectsTable(study) {
    const run = subjectOf(study)?.run;
    if (!run) return null;
    const moves = run.effects.map((effect) => [effect.name, effect.change.training_p99.change, effect.change.cost.change]).filter(([, change]) => change !== null)
        .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).slice(0, mostChanges);
    if (moves.length === 0) return null;
    const [time, money] = [unitFor("s", run.plan.training_p99), unitFor("USD", run.plan.cost)];
    return plainTable([`change, of ${subjectOf(study).label}`, "p99 of the " + runTime, "cost"], moves.map(([name, seconds, dollars]) => [name, signed(seconds / time.size, time), signed(dollars / money.size, money)]));
}

function startChanges() {
    const section = document.getElementById("changes");
    const place = document.getElementById("changes-text");
    for (const study of studies.slice(0, fewStudies)) {
        const table = effectsTable(study);
        if (study.changes.length === 0 && table === null) continue;
        const own = placeOf(study, place);
        if (study.changes.length > 0) own.append(element("dl", { class: "lines" }, ...study.changes.flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, unbroken(text))])));
        if (table !== null) own.append(table);
    }
    section.hidden = place.childElementCount === 0;
}

/// "given", or where a figure that nobody gave comes from.
const originText = (origin) => ({ given: "given", catalog: "from the catalog, not given", placeholder: "a placeholder: give your own" })[origin] ?? "";

function failuresText(run) {
    return [run.between_failures_s === null ? "none" : `one every ${quantityText(run.between_failures_s, "s")} on average`,
        run.interval_s === null ? "no checkpoints" : `a checkpoint every ${quantityText(run.interval_s, "s")}`,
        run.spare_nodes === null ? "always enough spare nodes" : counted(run.spare_nodes, "spare node")].join(", ");
}

function assumedRows(study) {
    const { job, trust } = study;
    const point = subjectOf(study);
    return [
        ["software", [job.software, study.software].filter(Boolean).join(". ")],
        ["price", [study.price, study.placeholder_price ? originText("placeholder") : ""].filter(Boolean).join("; ")],
        ["electricity", study.electricity || (study.price ? "in the price of GPU-hours" : "")],
        ["power", [originText(study.power_given), study.power_of].filter(Boolean).join(": ")],
        ["failures", point?.run ? failuresText(point.run) : ""],
        ["start, deadline", [job.start ? `starts ${job.start}` : "no start given", study.limit_s ? [...new Set([limitName(study), quantityText(study.limit_s, "s")])].filter((text, i) => i === 0 || !limitName(study).includes(text)).join(", ") : "no deadline given"].join(", ")],
        ["GPUs", `quantiles over ${study.population}`], ["energy", study.energy_note], ["model error", [point?.model_error_source, study.mixtures_note].filter(Boolean).join(". ")],
        ["not searched", study.levers ? `held at one value by [space]: ${study.levers}` : ""], ["excluded variants", study.excluded_variants], ["not modelled", study.omitted], ["own entries", study.own_entries],
        ["search", trust.outcome],
    ].map(([name, text]) => [name, text ?? ""]);
}

function startAssumed() {
    const place = document.getElementById("assumed-text");
    for (const study of studies.slice(0, fewStudies)) {
        const own = definitions(assumedRows(study));
        own.classList.add("lines");
        placeOf(study, place).append(own);
    }
}
