// Timeline of one step at mean times: compute and exchanges of each stage.

/// In the order of the program's enumeration; null: never sent.
const activities = [["forward", "#0072b2"], ["backward", "#009e73"], ["input gradient", "#56b4e9"], ["weight gradient", "#e69f00"],
    ["forward and backward", "#8c6bb1"], null, null, ["gather of parameters", "#cc79a7"], ["reduction of gradients", "#d55e00"], ["optimizer", "#777777"]];
const exchanges = new Set(["gather of parameters", "reduction of gradients"]); // run beside compute: thin

/// Six 16-bit numbers per event: stage, activity, chunk, microbatch (65535: none), start and end in 65535ths of the step.
function timelineEvents(timeline) {
    const raw = decoded(Uint16Array, timeline.events);
    const events = [];
    for (let i = 0; i < raw.length; i += 6) {
        const [stage, activity, chunk, microbatch, start, end] = raw.subarray(i, i + 6);
        events.push({ stage, activity, chunk, microbatch, start: (start / 65535) * timeline.step_s, end: (end / 65535) * timeline.step_s });
    }
    return events;
}

function timelineOption() {
    const point = points.find((one) => one.key === document.getElementById("timeline-point").value);
    if (!point?.timeline) return null;
    const events = timelineEvents(point.timeline);
    const unit = unitFor("s", point.timeline.step_s);
    document.getElementById("timeline-chart").style.height = `${Math.min(760, (narrow() ? 240 : 180) + 24 * point.timeline.stages)}px`;
    charts.get("timeline-chart").chart?.resize();
    const legendWraps = document.getElementById("timeline-chart").clientWidth < 900;
    const stages = Array.from({ length: point.timeline.stages }, (_, stage) => `stage ${stage}`);
    const shown = activities.map((activity, a) => [activity, activity ? events.filter((event) => event.activity === a) : []]).filter(([, list]) => list.length > 0);
    return {
        ...baseOption(""),
        grid: { left: 80, right: 24, top: narrow() ? 100 : legendWraps ? 72 : 48, bottom: 92 },
        legend: legendStyle({ top: 10, left: 80, right: 24, type: "plain" }),
        xAxis: axisStyle(unit.name, { type: "value", min: 0, max: point.timeline.step_s / unit.size, axisLabel: { color: themeColour("soft"), formatter: (value) => digits(value, 4) } }),
        yAxis: axisStyle("", { type: "category", data: stages, inverse: true, splitLine: { show: false } }),
        dataZoom: [{ type: "inside", filterMode: "weakFilter" }, { type: "slider", filterMode: "weakFilter", bottom: 12, height: 22, showDataShadow: false,
            textStyle: { color: themeColour("soft") }, labelFormatter: (value) => digits(value, 3) }],
        series: shown.map(([[name, colour], list]) => ({
            name, type: "custom", color: colour, z: exchanges.has(name) ? 3 : 2, encode: { x: [1, 2], y: 0 }, clip: true, progressive: 0,
            data: list.map((event) => [event.stage, event.start / unit.size, event.end / unit.size, event.chunk, event.microbatch]),
            tooltip: { formatter: ({ value }) => `${name}, stage ${value[0]}` + (value[4] < 65535 ? `<br>microbatch ${value[4]}, chunk ${value[3]}` : "") +
                `<br>${digits(value[1])} to ${digits(value[2])} ${unit.name}` },
            renderItem: (params, api) => {
                const [left, y] = api.coord([api.value(1), api.value(0)]);
                const [right] = api.coord([api.value(2), api.value(0)]);
                const full = Math.min(0.78 * api.size([0, 1])[1], 34);
                const height = exchanges.has(name) ? full * 0.25 : full;
                const top = exchanges.has(name) ? y + full / 2 - height : y - full / 2;
                const width = Math.max(right - left - 0.6, 0.6);
                return { type: "rect", shape: { x: left, y: top, width, height }, style: { fill: colour, opacity: 0.55 + 0.45 / (1 + api.value(3)) } };
            },
        })),
    };
}

function startTimeline() {
    const shown = points.filter((point) => point.timeline);
    const note = document.getElementById("timeline-note");
    const reasons = [...new Set(studies.map((study) => study.timeline_note).filter(Boolean))];
    note.textContent = [...reasons, ...studies.map((study) => (study.step_of ? `Steps of ${study.name} are ${study.step_of}.` : ""))].filter(Boolean).join(" ");
    if (shown.length === 0) {
        document.getElementById("timeline").hidden = reasons.length === 0;
        document.getElementById("timeline-chart").hidden = true;
        document.querySelector("#timeline .controls").hidden = true;
        return;
    }
    const select = fillSelect("timeline-point", shown.map((point) => [point.key, `${point.label}: ${point.plan}`]), shown[0].key);
    select.addEventListener("change", () => redraw("timeline-chart"));
    makeChart("timeline-chart", "Timeline of one step", timelineOption);
    onSelection(() => {
        const latest = [...selected].at(-1);
        if (shown.some((point) => point.key === latest)) {
            select.value = latest;
            redraw("timeline-chart");
        }
    });
}
