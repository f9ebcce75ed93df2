// Where the time of a step goes.

const parts = [["compute", "#0072b2"], ["exposed communication", "#e69f00"], ["bubble", "#999999"], ["jitter", "#cc79a7"], ["failures", "#d55e00"]];

/// Seconds of a step, by part. Jitter: mean less the step without noise. Failures: so that productive time over all is the ETTR.
function stepParts(point) {
    const { noise_free_step_time: quiet, bubble_share: bubble, exposed_communication_share: exposed, ettr } = point.numbers;
    const mean = point.estimates.step_time_mean[0];
    return {
        compute: quiet * (1 - bubble - exposed), "exposed communication": quiet * exposed, bubble: quiet * bubble,
        jitter: mean - quiet, failures: ettr > 0 ? mean * (1 / ettr - 1) : NaN,
    };
}

function breakdownOption() {
    const chosen = selectedPoints();
    if (chosen.length === 0) return null;
    const values = chosen.map(stepParts);
    const unit = unitFor("s", largestOf(values.map((one) => one.compute)));
    return {
        ...baseOption(""),
        grid: { left: narrow() ? 96 : 130, right: narrow() ? 20 : 40, top: narrow() ? 84 : 50, bottom: 54 },
        legend: legendStyle({ top: 10, left: narrow() ? 10 : 130 }),
        xAxis: axisStyle(`${unit.name} a step`, { type: "value" }),
        yAxis: axisStyle("", { type: "category", data: chosen.map((point) => point.label), inverse: true }),
        series: parts.map(([name, colour]) => ({
            name, type: "bar", stack: "step", color: colour, barMaxWidth: 42,
            data: values.map((one) => Math.max(0, one[name]) / unit.size),
            tooltip: { formatter: (event) => {
                const one = values[event.dataIndex];
                const all = Object.values(one).reduce((sum, value) => sum + value, 0);
                return `${escaped(chosen[event.dataIndex].label)}<br>${name}: ${digits(one[name] / unit.size)} ${unit.name}, ${percent(one[name] / all)}`;
            } },
        })),
    };
}

function startBreakdown() {
    document.getElementById("breakdown-of").textContent = phasesText();
    makeChart("breakdown-chart", "Parts of a step", breakdownOption);
    onSelection(() => redraw("breakdown-chart"));
}
