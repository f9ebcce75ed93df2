// What moves a plan's times: bars to both sides, the longest first.

const sensitive = studies.find((study) => study.sensitivity);
const mostBars = 30;
const kinds = { variance: ["without its variance", "#0072b2"], speed: ["faster kernels", "#e69f00"], hardware: ["better hardware", "#009e73"] };
const shortly = { variance: "no variance", speed: "faster", hardware: "better" };
const labelOf = (effect) => `${effect.name}, ${shortly[effect.kind]}`; // a class of kernels may lose its variance, or be faster
const figures = [["p99", "p99 of the step"], ["p50", "p50 of the step"], ["p95", "p95 of the step"], ["p99_over_p50", "p99 over p50 of the step"],
    ["cv", "coefficient of variation of the step"], ["training_p99", "p99 of the training time"], ["cost", "cost"]];

/// Changes of a figure in per cent of it.
function changesOf(figure) {
    const whole = sensitive.sensitivity.plan[figure];
    const share = (value) => (value === null ? null : (100 * value) / whole);
    return sensitive.sensitivity.effects.filter((effect) => effect.change?.[figure]).map((effect) => {
        const { change, low, high } = effect.change[figure];
        return { name: effect.name, kind: effect.kind, change: share(change), low: share(low), high: share(high) };
    }).sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
}

const shownFigure = () => document.getElementById("sensitivity-figure").value;

function sensitivityOption() {
    const bars = changesOf(shownFigure()).slice(0, mostBars);
    if (bars.length === 0) return null;
    const place = document.getElementById("sensitivity-chart");
    place.style.height = `${120 + (narrow() ? 28 : 22) * bars.length}px`;
    charts.get("sensitivity-chart").chart?.resize();
    const present = Object.entries(kinds).filter(([kind]) => bars.some((bar) => bar.kind === kind));
    const tip = (bar) => `${escaped(bar.name)}, ${kinds[bar.kind][0]}: ${signed(bar.change)}` +
        (bar.low === null || bar.high === null ? "" : `<br>95 % limits ${signed(bar.low)} to ${signed(bar.high)}`);
    return {
        ...baseOption(""),
        grid: { left: narrow() ? 138 : 214, right: 30, top: narrow() ? 72 : 46, bottom: 54 },
        legend: legendStyle({ top: 10, left: 10 }),
        xAxis: axisStyle(`change of ${figures.find(([name]) => name === shownFigure())[1]} (%)`, { type: "value" }),
        yAxis: axisStyle("", { type: "category", data: bars.map(labelOf), inverse: true, splitLine: { show: false },
            axisLabel: { color: themeColour("text"), width: narrow() ? 125 : 200, overflow: "break", fontSize: narrow() ? 10.5 : 12, lineHeight: 12 } }),
        series: [...present.map(([kind, [name, colour]]) => ({
            name, type: "bar", stack: "all", color: colour, barMaxWidth: 18, data: bars.map((bar) => (bar.kind === kind ? bar.change : null)),
            tooltip: { formatter: (event) => tip(bars[event.dataIndex]) },
        })), {
            type: "custom", silent: true, z: 4, encode: { x: [1, 2], y: 0 }, tooltip: { show: false },
            data: bars.map((bar, i) => [i, bar.low, bar.high]).filter(([, low, high]) => low !== null && high !== null),
            renderItem: (params, api) => {
                const [x1, y1] = api.coord([api.value(1), api.value(0)]);
                const [x2, y2] = api.coord([api.value(2), api.value(0)]);
                return { type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: themeColour("text"), lineWidth: 1.4 } };
            },
        }],
    };
}

const signed = (value) => `${value > 0 ? "+" : ""}${value.toFixed(Math.abs(value) < 0.1 ? 3 : 2)} %`;

function sensitivityTable() {
    const cells = (effect) => figures.map(([figure]) => {
        const whole = sensitive.sensitivity.plan[figure];
        const one = effect.change?.[figure];
        return one ? signed((100 * one.change) / whole) : "–";
    });
    const rows = sensitive.sensitivity.effects.map((effect) => [effect.name, effect.infeasible ? `infeasible: ${effect.infeasible}` : kinds[effect.kind][0], ...cells(effect)]);
    return plainTable(["what", "change", ...figures.map(([, title]) => title)], rows);
}

function startSensitivity() {
    document.getElementById("sensitivity").hidden = !sensitive;
    if (!sensitive) return;
    const { point, draws, faster_percent: faster, design } = sensitive.sensitivity;
    document.getElementById("sensitivity-of").textContent = `Of point ${point} (${design}), by ${grouped(draws)} draws: each source of variance ` +
        `removed, each class of kernels and each number of the hardware ${faster} % better, alone. Whiskers: 95 % limits, where there are draws enough.`;
    fillSelect("sensitivity-figure", figures, "p99").addEventListener("change", () => redraw("sensitivity-chart"));
    makeChart("sensitivity-chart", "Changes of a plan's figures", sensitivityOption);
    document.getElementById("sensitivity-table").append(sensitivityTable());
}
