// The space of the first study as parallel coordinates: axes that varied, then the objectives.

const mostLines = 1500; // of plans off the front
const leastAxisWidth = 72; // px, from an axis to the next one
const letterWidth = 7; // px, of its labels; generous, as fonts differ
const margins = 130; // px, beside the first and the last axis

function parallelAxes(study) {
    const axes = study.axes.map((axis, a) => ({ axis, a })).filter(({ axis }) => axis.labels.length > 1)
        .map(({ axis, a }) => ({ name: axis.name.replaceAll("_", " "), labels: axis.labels, of: (labels) => labels[a] }));
    for (const [k, objective] of study.objectives.entries()) {
        if (axes.some((axis) => axis.name === objective.name)) continue; // such as GPUs, which are an axis
        const unit = unitFor(objective.units, largestOf(study.front.map((point) => point.objectives[k][0])));
        axes.push({ name: objective.name.replaceAll("_", " ") + (unit.name ? `\n(${unit.name})` : ""), unit, of: (labels, values) => values[k] / unit.size });
    }
    return axes;
}

const wrapped = (name) => name.split(" ").reduce((text, word) => text + (text.split("\n").at(-1).length + word.length > 10 ? "\n" : " ") + word);

function parallelOption() {
    const study = studies[0];
    const axes = parallelAxes(study);
    if (axes.length < 2 || study.front.length === 0) return null;
    const letters = Math.max(...axes.map((axis) => Math.max(0, ...(axis.labels ?? []).map((label) => label.length))));
    const axisWidth = Math.max(leastAxisWidth, letterWidth * letters + 24);
    document.getElementById("parallel-chart").style.minWidth = `${axisWidth * (axes.length - 1) + margins}px`; // the box around it scrolls
    charts.get("parallel-chart").chart?.resize();
    const line = (labels, values) => axes.map((axis) => axis.of(labels, values));
    const { cloud } = study;
    const drawn = cloud.drawn > 0 ? cloud.drawn : cloud.index.length;
    const stride = Math.max(1, Math.ceil(drawn / mostLines));
    const others = [];
    for (let i = 0; i < drawn; i += stride) {
        const values = cloud.columns.map((one) => one[i]);
        if (values.every(Number.isFinite)) others.push(line(labelsAt(study, cloudIndex(study, i)), values));
    }
    document.getElementById("parallel-note").textContent =
        `${grouped(others.length)} of ${grouped(cloud.total)} plans off the front${cloud.drawn > 0 ? ", of those that were evaluated" : ", at their lower bounds"}; the front and the selected plans in colour` +
        (studies.length > 1 ? `; of ${study.name}.` : ".");
    const text = themeColour("text");
    const series = (name, data, style, z) => ({ name, type: "parallel", data, lineStyle: style, z, progressive: 500, smooth: false, inactiveOpacity: 0.02 });
    const lines = [series("off the front", others, { color: themeColour("soft"), width: 1, opacity: 0.18 }, 1),
        series("front", study.front.map((point) => line(point.labels, point.objectives.map(([value]) => value))), { color: text, width: 2, opacity: 0.75 }, 2)];
    for (const point of selectedPoints().filter((one) => one.study === study)) {
        lines.push(series(point.label, [line(point.labels, point.objectives.map(([value]) => value))], { color: colourOf(point), width: 4, opacity: 1 }, 3));
    }
    return {
        ...baseOption(""),
        legend: legendStyle({ top: 10, left: 20, data: lines.map((one) => ({ name: one.name, itemStyle: { color: one.lineStyle.color } })) }),
        parallel: { left: 60, right: 70, top: 110, bottom: 40, parallelAxisDefault: {
            nameLocation: "start", nameGap: 22, nameTextStyle: { color: text, fontSize: 11.5, lineHeight: 13, verticalAlign: "bottom" }, inverse: false,
            axisLine: { lineStyle: { color: themeColour("soft") } }, axisLabel: { color: text, fontSize: 11 } } },
        parallelAxis: axes.map((axis, dim) => ({
            dim, name: wrapped(axis.name), nameLocation: "end", ...(axis.labels ? { type: "category", data: axis.labels }
                : { type: "value", scale: true, axisLabel: { color: text, fontSize: 11, formatter: (value) => String(Number(value.toPrecision(6))) } }),
        })),
        series: lines,
    };
}

function startParallel() {
    makeChart("parallel-chart", "Parallel coordinates of the space", parallelOption);
    if (charts.get("parallel-chart").chart === null) document.getElementById("parallel").hidden = true;
    onSelection(() => redraw("parallel-chart"));
}
