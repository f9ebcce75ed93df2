// Breakdown of the training time.

const parts = [["compute", "#0072b2"], ["waits for the host", "#009e73"], ["exposed communication", "#e69f00"], ["bubble", "#999999"], ["jitter", "#cc79a7"],
    ["checkpoints", "#56b4e9"], ["lost work", "#d55e00"], ["restarts", "#8c6bb1"], ["waiting for nodes", "#999933"], ["failures and checkpoints", "#d55e00"]];

/// Seconds of the mean training time, by part. The productive time is divided in the proportions of a step; jitter: mean step less noise-free step.
function timeParts(point) {
    const { noise_free_step_time: quiet, bubble_share: bubble, exposed_communication_share: exposed, ettr } = point.numbers;
    const host = point.numbers.host_wait_share ?? 0; // null: an older file, where it is part of the compute
    const training = point.estimates.training_time_mean[0];
    const steps = (ettr * training) / point.estimates.step_time_mean[0];
    const made = {
        compute: steps * quiet * (1 - bubble - exposed - host), "waits for the host": steps * quiet * host, "exposed communication": steps * quiet * exposed, bubble: steps * quiet * bubble,
        jitter: Math.max(0, ettr * training - steps * quiet),
    };
    const { checkpoint_time: checkpoints, rework_time: rework, restart_time: restarts, waiting_time: waiting } = point.numbers;
    if (checkpoints === null) return { ...made, "failures and checkpoints": (1 - ettr) * training }; // an older file
    return { ...made, checkpoints, "lost work": rework, restarts, "waiting for nodes": waiting };
}

function breakdownOption() {
    const chosen = selectedPoints();
    if (chosen.length === 0) return null;
    const values = chosen.map(timeParts);
    const totals = values.map((one) => Object.values(one).reduce((sum, value) => sum + value, 0));
    const unit = unitFor("s", largestOf(totals));
    const shown = parts.filter(([name]) => values.some((one) => one[name] > 0));
    document.getElementById("breakdown-chart").style.height = `${(narrow() ? 160 : 130) + 46 * chosen.length}px`;
    charts.get("breakdown-chart").chart?.resize();
    return {
        ...baseOption(""),
        grid: { left: narrow() ? 96 : 130, right: narrow() ? 20 : 40, top: narrow() ? 92 : 60, bottom: 54 },
        legend: legendStyle({ top: 10, left: narrow() ? 10 : 130, right: 20, type: "plain" }),
        xAxis: axisStyle(`mean ${runTime} (${unit.name})`, { type: "value" }),
        yAxis: axisStyle("", { type: "category", data: chosen.map((point) => point.label), inverse: true }),
        series: shown.map(([name, colour]) => ({
            name, type: "bar", stack: "time", color: colour, barMaxWidth: 42,
            data: values.map((one) => (one[name] ?? 0) / unit.size),
            tooltip: { formatter: (event) => {
                const seconds = values[event.dataIndex][name] ?? 0;
                return `${escaped(chosen[event.dataIndex].label)}<br>${name}: ${digits(seconds / unit.size, 3)} ${unit.name}, ${percent(seconds / totals[event.dataIndex])}`;
            } },
        })),
    };
}

function startBreakdown() {
    document.getElementById("breakdown-of").textContent = phasesText();
    makeChart("breakdown-chart", `Parts of the ${runTime}`, breakdownOption);
    onSelection(() => redraw("breakdown-chart"));
}
