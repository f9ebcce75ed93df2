// Training time against the checkpoint interval and against the number of spare nodes, around the values of a plan.

const curved = points.filter((point) => point.run && point.run.interval.length + point.run.spares.length > 0);
const curvedPoint = () => curved.find((point) => point.key === document.getElementById("reliability-point").value);

/// Lines of p50 and p99 with the sampling interval of the latter; `at` scales the abscissa.
function curveSeries(list, at, unit) {
    const line = (name, of, colour, type) => ({ name, type: "line", color: colour, symbolSize: 6, lineStyle: { color: colour, width: 2, type },
        data: list.map((one) => [at(one), one[of] / unit.size]) });
    return [
        line("p99", "p99", palette[1], "solid"), line("p50", "p50", palette[0], "dashed"),
        { type: "custom", silent: true, z: 1, clip: true, encode: { x: 0, y: [1, 2] }, tooltip: { show: false }, data: list.map((one) => [at(one), (one.p99_low ?? one.p99) / unit.size, (one.p99_high ?? one.p99) / unit.size]),
            renderItem: (params, api) => {
                const [x, y1] = api.coord([api.value(0), api.value(1)]);
                const [, y2] = api.coord([api.value(0), api.value(2)]);
                return { type: "line", shape: { x1: x, x2: x, y1, y2 }, style: { stroke: palette[1], lineWidth: 1.4, opacity: 0.7 } };
            } },
    ];
}

function curveOption(title, list, at, xAxis, chosen, chosenText, nameOf) {
    if (list.length === 0) return null;
    const unit = unitFor("s", largestOf(list.map((one) => one.p99)));
    const soft = themeColour("text");
    const series = curveSeries(list, at, unit);
    if (chosen !== null) {
        series[0].markLine = { symbol: "none", silent: true, animation: false, lineStyle: { color: soft, type: "dotted" },
            label: { formatter: chosenText, color: soft, position: "insideEndTop", fontSize: 11, backgroundColor: themeColour("panel") }, data: [{ xAxis: chosen }] };
    }
    return {
        ...baseOption(title),
        tooltip: { ...baseOption("").tooltip, trigger: "axis", formatter: (events) => {
            const one = list[events[0].dataIndex];
            return `${nameOf(one)}<br>p99 ${quantityText(one.p99, "s", 4)}, p50 ${quantityText(one.p50, "s", 4)}<br>cost at p99 ${quantityText(one.cost, "USD", 4)}`;
        } },
        grid: { left: 70, right: 26, top: 74, bottom: 58 },
        legend: legendStyle({ top: 36, left: 56, data: ["p99", "p50"] }),
        xAxis, yAxis: axisStyle(`${runTime} (${unit.name})`, { type: "value", scale: true, nameGap: 50 }),
        series,
    };
}

function intervalOption() {
    const { run } = curvedPoint();
    const unit = unitFor("s", largestOf(run.interval.map((one) => one.at)) / 4);
    const axis = axisStyle(`checkpoint interval (${unit.name})`, { type: "log", axisLabel: { color: themeColour("soft"), hideOverlap: true, formatter: (value) => digits(value, 2) } });
    const chosen = run.interval_s === null || run.interval.length === 0 ? null : run.interval_s / unit.size;
    return curveOption("Checkpoint interval", run.interval, (one) => one.at / unit.size, { ...axis, ...logRange(run.interval.map((one) => one.at / unit.size)) }, chosen, "this plan",
        (one) => `every ${quantityText(one.at, "s", 3)}`);
}

function logRange(values) {
    return values.length === 0 ? {} : { min: Math.min(...values) / 1.15, max: Math.max(...values) * 1.15 };
}

function sparesOption() {
    const { run } = curvedPoint();
    const axis = axisStyle("spare nodes", { type: "value", minInterval: 1, min: 0 });
    return curveOption("Spare nodes", run.spares, (one) => one.at, axis, run.spare_nodes, "this plan", (one) => counted(one.at, "spare node"));
}

function reliabilityText() {
    const { run, label } = curvedPoint();
    const failures = run.between_failures_s === null ? "no failures." : `one failure every ${quantityText(run.between_failures_s, "s")} on average.`;
    const interval = run.interval_s === null ? "No checkpoints." : `The plan writes one every ${quantityText(run.interval_s, "s")}; Young's formula gives ${quantityText(run.young_s, "s")}, and the interval with the lowest mean ${runTime} is ${quantityText(run.optimal_s, "s")}.`;
    const spares = run.spare_nodes === null ? "The scenario assumes that there are always enough spare nodes." : `The plan holds ${counted(run.spare_nodes, "spare node")}.`;
    return `${label[0].toUpperCase() + label.slice(1)}: ${failures} ${interval} ${run.spares.length > 0 ? spares : run.spares_note} ${run.break_even.map(breakEvenText).map((text) => `${text[0].toUpperCase()}${text.slice(1)} `).join("")}All points use the same draws of steps and failures, which makes their differences more precise. Whiskers: 95 % confidence intervals of p99.`;
}

/// From which failure rates on another way to go on after failures costs less.
function breakEvenText({ other, factor, less_above: above }) {
    if (factor === null) return above ? `${other} would cost less, from a 16th to 16 times these failure rates.` : `${other} would not cost less, from a 16th to 16 times these failure rates.`;
    return `${other} would cost less ${above ? "above" : "below"} ${digits(factor, 2)} times these failure rates.`;
}

function startReliability() {
    document.getElementById("reliability").hidden = curved.length === 0;
    if (curved.length === 0) return;
    fillSelect("reliability-point", curved.map((point) => [point.key, `${point.label}: ${point.plan}`]), curved[0].key);
    makeChart("interval-chart", "Training time against the checkpoint interval", intervalOption);
    makeChart("spares-chart", "Training time against the number of spare nodes", sparesOption);
    const draw = () => {
        document.getElementById("reliability-text").textContent = reliabilityText();
        redraw("interval-chart");
        redraw("spares-chart");
    };
    draw();
    document.getElementById("reliability-point").addEventListener("change", draw);
}
