// Sensitivity of the training time, as a tornado chart. The report itself has failures, restarts, checkpoints, spares and variability of
// the named plans; `sensitivity --json` has kernels and hardware of one plan.

const mostBars = 30;
const kinds = {
    failures: ["failures", "#d55e00"], restarts: ["detection and restarts", "#8c6bb1"], checkpoints: ["checkpoints", "#56b4e9"], spares: ["spare nodes", "#999933"],
    jitter: ["variability of steps", "#cc79a7"], variance: ["without its variance", "#0072b2"], speed: ["faster kernels", "#e69f00"], hardware: ["better hardware", "#009e73"],
};
const shortly = { variance: ", no variance", speed: ", faster", hardware: ", better" };
const labelOf = (effect) => `${effect.name}${shortly[effect.kind] ?? ""}`; // a class of kernels may lose its variance, or be faster
const figures = [["training_p99", `p99 of the ${runTime}`, "s"], ["training_p50", `p50 of the ${runTime}`, "s"], ["cost", "cost at p99", "USD"], ["energy", "energy", "J"],
    ["p99", "p99 of the step", "s"], ["p50", "p50 of the step", "s"], ["p95", "p95 of the step", "s"], ["p99_over_p50", "p99 over p50 of the step", "1"],
    ["cv", "coefficient of variation of the step", "1"]];

/// Data of both sources on a point: figures of the plan, and effects on them.
const moved = points.map((point) => {
    const given = point.study.sensitivity?.point === point.id ? point.study.sensitivity : null;
    const run = point.run ?? null;
    if (!given && !run) return null;
    return { point, given, plan: { ...(run?.plan ?? {}), ...(given?.plan ?? {}) }, effects: [...(run?.effects ?? []), ...(given?.effects ?? [])] };
}).filter(Boolean);
const movedPoint = () => moved.find((one) => one.point.key === document.getElementById("sensitivity-point").value);

/// Changes of a figure, in its units, or in per cent of the plan's.
function changesOf(of, figure, relative) {
    const scale = relative ? 100 / of.plan[figure] : 1;
    const scaled = (value) => (value === null || value === undefined ? null : scale * value);
    return of.effects.filter((effect) => effect.change?.[figure]).map((effect) => {
        const { change, low, high } = effect.change[figure];
        return { name: effect.name, kind: effect.kind, change: scaled(change), low: scaled(low), high: scaled(high) };
    }).filter((bar) => bar.change !== null).sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
}

const shownFigure = () => document.getElementById("sensitivity-figure").value;
const inPercent = () => document.getElementById("sensitivity-relative").checked;

/// Changes have the display unit of the changed figure.
const figureUnit = (of, figure) => (inPercent() ? { name: "%", size: 1 } : unitFor(figures.find(([name]) => name === figure)[2], of.plan[figure]));

function sensitivityOption() {
    const bars = changesOf(movedPoint(), shownFigure(), inPercent()).slice(0, mostBars);
    if (bars.length === 0) return null;
    const unit = figureUnit(movedPoint(), shownFigure());
    const shown = (value) => (value === null ? null : value / unit.size);
    const place = document.getElementById("sensitivity-chart");
    place.style.height = `${(narrow() ? 150 : 130) + (narrow() ? 30 : 24) * bars.length}px`;
    charts.get("sensitivity-chart").chart?.resize();
    const present = Object.entries(kinds).filter(([kind]) => bars.some((bar) => bar.kind === kind));
    const tip = (bar) => `${escaped(labelOf(bar))}: ${signed(shown(bar.change), unit)}` +
        (bar.low === null || bar.high === null ? "" : `<br>95 % confidence interval ${signed(shown(bar.low), unit)} to ${signed(shown(bar.high), unit)}`);
    return {
        ...baseOption(""),
        grid: { left: narrow() ? 138 : 250, right: 30, top: narrow() ? 96 : 56, bottom: 54 },
        legend: legendStyle({ top: 10, left: 10, right: 10, type: "plain" }),
        xAxis: axisStyle(`change of ${figures.find(([name]) => name === shownFigure())[1]} (${unit.name || "1"})`, { type: "value" }),
        yAxis: axisStyle("", { type: "category", data: bars.map(labelOf), inverse: true, splitLine: { show: false },
            axisLabel: { color: themeColour("text"), width: narrow() ? 125 : 236, overflow: "break", fontSize: narrow() ? 10.5 : 12, lineHeight: 12 } }),
        series: [...present.map(([kind, [name, colour]]) => ({
            name, type: "bar", stack: "all", color: colour, barMaxWidth: 18, data: bars.map((bar) => (bar.kind === kind ? shown(bar.change) : null)),
            tooltip: { formatter: (event) => tip(bars[event.dataIndex]) },
        })), {
            type: "custom", silent: true, z: 4, encode: { x: [1, 2], y: 0 }, tooltip: { show: false },
            data: bars.map((bar, i) => [i, shown(bar.low), shown(bar.high)]).filter(([, low, high]) => low !== null && high !== null),
            renderItem: (params, api) => {
                const [x1, y1] = api.coord([api.value(1), api.value(0)]);
                const [x2, y2] = api.coord([api.value(2), api.value(0)]);
                return { type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: themeColour("text"), lineWidth: 1.4 } };
            },
        }],
    };
}

const signed = (value, unit) => `${value > 0 ? "+" : ""}${digits(value, 3)} ${unit.name}`.trim();

function sensitivityTable() {
    const of = movedPoint();
    const shown = figures.filter(([figure]) => of.effects.some((effect) => effect.change?.[figure]));
    const cells = (effect) => shown.map(([figure]) => {
        const one = effect.change?.[figure];
        if (!one || one.change === null) return "–";
        const unit = figureUnit(of, figure);
        return signed(inPercent() ? (100 * one.change) / of.plan[figure] : one.change / unit.size, unit);
    });
    const rows = of.effects.map((effect) => [effect.name, effect.infeasible ? `infeasible: ${effect.infeasible}` : kinds[effect.kind][0], ...cells(effect)]);
    document.getElementById("sensitivity-table").replaceChildren(plainTable(["source", "change", ...shown.map(([, title]) => title)], rows));
}

function sensitivityText() {
    const { point, given } = movedPoint();
    const own = point.run ? `Failures, restarts, checkpoints, spare nodes and variability are changed one at a time, with the draws of the plan (${grouped(point.run.draws)} steps). ` : "";
    const more = given ? `Kernels and hardware: ${grouped(given.draws)} draws, with each source of variance removed, and each kernel class and hardware parameter ` +
        `improved by ${given.faster_percent} %, one at a time (${given.design}). Whiskers: 95 % confidence intervals, where there are enough draws. `
        : "For kernels and hardware, run prismopt sensitivity --json and pass its file to report --sensitivity.";
    return `${own}${more}`;
}

function drawSensitivity() {
    const of = movedPoint();
    const select = document.getElementById("sensitivity-figure");
    const available = figures.filter(([figure]) => of.effects.some((effect) => effect.change?.[figure]));
    const keep = available.some(([figure]) => figure === select.value) ? select.value : available[0]?.[0];
    fillSelect("sensitivity-figure", available, keep);
    document.getElementById("sensitivity-of").textContent = sensitivityText();
    redraw("sensitivity-chart");
    sensitivityTable();
}

function startSensitivity() {
    document.getElementById("sensitivity").hidden = moved.length === 0;
    if (moved.length === 0) return;
    const first = moved.find((one) => one.given) ?? moved[0];
    fillSelect("sensitivity-point", moved.map(({ point }) => [point.key, `${point.label}: ${point.plan}`]), first.point.key);
    fillSelect("sensitivity-figure", figures, "training_p99");
    makeChart("sensitivity-chart", `Sensitivity of the ${runTime}`, sensitivityOption);
    drawSensitivity();
    for (const id of ["sensitivity-point", "sensitivity-figure", "sensitivity-relative"]) document.getElementById(id).addEventListener("change", drawSensitivity);
}
