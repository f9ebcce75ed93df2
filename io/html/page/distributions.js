// Cumulative distributions of the selected plans.

function distributionOption(which, title) {
    const chosen = selectedPoints().filter((point) => point.quantiles[which].length > 0);
    if (chosen.length === 0) return null;
    const relative = document.getElementById("relative").checked;
    const unit = relative ? { name: "times the median" } : unitFor("s", largestOf(chosen.flatMap((point) => point.quantiles[which])));
    const series = [];
    for (const point of chosen) {
        const colour = colourOf(point);
        const size = relative ? point.estimates[`${which}_p50`][0] : unit.size;
        const scaled = (value) => value / size;
        series.push({
            name: point.label, type: "line", showSymbol: false, color: colour, lineStyle: { width: 2, color: colour },
            data: data.probabilities.map((p, i) => [scaled(point.quantiles[which][i]), p]),
            tooltip: { formatter: () => frontTip(point) },
        });
        const marks = [["p50", 0.5], ["p95", 0.95], ["p99", 0.99]].map(([name, p]) => {
            const [value, low, high] = point.estimates[`${which}_${name}`];
            return [scaled(value), p, scaled(low ?? value), scaled(high ?? value), name];
        });
        series.push({
            name: point.label, type: "custom", data: marks, color: colour, z: 4,
            tooltip: { formatter: (event) => `${escaped(point.label)}, ${event.value[4]}: ${digits(event.value[0])} ${unit.name}<br>95 % confidence interval ${digits(event.value[2])} to ${digits(event.value[3])}` },
            renderItem: (params, api) => {
                const [left, y] = api.coord([api.value(2), api.value(1)]);
                const [right] = api.coord([api.value(3), api.value(1)]);
                const [middle] = api.coord([api.value(0), api.value(1)]);
                const style = { stroke: colour, lineWidth: 2.5 };
                return { type: "group", children: [
                    { type: "line", shape: { x1: left, x2: right, y1: y, y2: y }, style },
                    { type: "circle", shape: { cx: middle, cy: y, r: 4.5 }, style: { fill: colour } },
                ] };
            },
        });
    }
    const limits = which === "training_time" && !relative ? [...new Set(chosen.map((point) => point.study.limit_s).filter(Boolean))] : [];
    if (limits.length > 0) series[0].markLine = { ...limitLine(0, limits.length === 1 ? "deadline" : "deadlines", "insideEndTop"), data: limits.map((limit) => ({ xAxis: limit / unit.size })) };
    return {
        ...baseOption(title),
        tooltip: { ...baseOption("").tooltip, trigger: "item" },
        grid: { left: 62, right: 24, top: narrow() ? 100 : 72, bottom: 54 },
        legend: legendStyle({ top: 36, left: 56, right: 10, data: chosen.map((point) => point.label) }),
        xAxis: axisStyle(unit.name, { type: "value", scale: true }),
        yAxis: axisStyle("probability", { type: "value", min: 0, max: 1, nameGap: 38 }),
        series,
    };
}

function startDistributions() {
    document.getElementById("distributions-of").textContent = `${populationText()} ${phasesText()}`;
    makeChart("training-chart", `Distribution of the ${runTime}`, () => distributionOption("training_time", trains ? "Training time" : "Run time"));
    makeChart("step-chart", "Distribution of the step time", () => distributionOption("step_time", "Step time"));
    const draw = () => {
        redraw("training-chart");
        redraw("step-chart");
    };
    document.getElementById("relative").addEventListener("change", draw);
    onSelection(draw);
}
