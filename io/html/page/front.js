// The front as a scatter plot of two quantities, with a third as colour.

const frontChoice = { x: null, y: null, colour: null };
let keyboardAt = -1; // index in points

function fillSelect(id, options, chosen) {
    const select = document.getElementById(id);
    select.replaceChildren(...options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)));
    return select;
}

function startFront() {
    const objectives = metrics.filter((metric) => metric.objective !== undefined);
    const [x, y, colour] = [objectives[0], objectives[1] ?? metricOf("cost"), objectives[2] ?? objectives[0]];
    const options = metrics.map((metric) => [metric.name, titleOf(metric)]);
    for (const [role, metric] of Object.entries({ x, y, colour })) {
        frontChoice[role] = metric.name;
        fillSelect(`front-${role}`, options, metric.name).addEventListener("change", (event) => {
            frontChoice[role] = event.target.value;
            redraw("front-chart");
        });
    }
    for (const id of ["front-log", "front-cloud", "front-all"]) document.getElementById(id).addEventListener("change", () => redraw("front-chart"));
    document.getElementById("front-text").textContent = anyProvisional ? "Each mark is one of the best plans so far, not confirmed."
        : "Each mark is a plan that no other plan dominates.";
    const entry = makeChart("front-chart", "Pareto front", frontOption);
    if (!entry.chart) return;
    entry.chart.on("click", (event) => {
        if (event.seriesId?.startsWith("front")) toggle(points[event.data.at]);
    });
    const place = document.getElementById("front-chart");
    place.tabIndex = 0;
    place.addEventListener("keydown", moveByKey);
    onSelection(() => redraw("front-chart"));
}

function moveByKey(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
        keyboardAt = (keyboardAt + step + points.length) % points.length;
        redraw("front-chart");
        showTip(keyboardAt);
        announce(`${points[keyboardAt].label}: ${valuesText(points[keyboardAt]).join("; ")}`);
    } else if ((event.key === "Enter" || event.key === " ") && keyboardAt >= 0) {
        toggle(points[keyboardAt]);
        showTip(keyboardAt);
    } else {
        return;
    }
    event.preventDefault();
}

function showTip(at) {
    const study = studies.indexOf(points[at].study);
    const dataIndex = points.filter((point) => point.study === points[at].study).indexOf(points[at]);
    const series = charts.get("front-chart").chart.getOption().series.findIndex((other) => other.id === `front${study}`);
    charts.get("front-chart").chart.dispatchAction({ type: "showTip", seriesIndex: series, dataIndex });
}

const valuesText = (point) => metrics.filter((metric) => metric.objective !== undefined || metric.name === frontChoice.x ||
    metric.name === frontChoice.y || metric.name === frontChoice.colour)
    .map((metric) => `${titleOf(metric)} ${estimateText(metric.of(point), unitOfMetric(metric))}`);

const frontTip = (point) => `<b>${escaped(point.label)}</b>${point.study.provisional ? " (provisional)" : ""}${point.dominated ? " (dominated after confirmation)" : ""}<br>${escaped(point.plan)}<br>` +
    valuesText(point).map(escaped).join("<br>");

function cloudTip(study, at, drawn) {
    const values = study.objectives.map((objective, k) => {
        const unit = unitFor(objective.units, largestOf(points.map((point) => point.objectives[k]?.[0])));
        return `${escaped(objective.long_name)} ${digits(study.cloud.columns[k][at] / unit.size, 3)} ${unit.name}`;
    });
    const index = cloudIndex(study, at);
    return `<b>plan ${index}</b> (${drawn ? "evaluated, off the front" : "not evaluated: lower bounds"})<br>` +
        `${escaped(planOf(study, labelsAt(study, index)))}<br>${values.join("<br>")}`;
}

/// Plans off the front, flat pairs for the large mode of ECharts.
function cloudSeries(study, x, y, units, drawn) {
    const { columns, drawn: first } = study.cloud;
    const [from, to] = drawn ? [0, first] : [first, study.cloud.index.length];
    const pairs = new Float64Array(2 * (to - from));
    for (let i = from; i < to; ++i) {
        pairs[2 * (i - from)] = columns[x.objective][i] / units.x.size;
        pairs[2 * (i - from) + 1] = columns[y.objective][i] / units.y.size;
    }
    return {
        id: `${drawn ? "drawn" : "bounded"}${studies.indexOf(study)}`, name: drawn ? "evaluated, off the front" : "not evaluated: lower bounds",
        type: "scatter", large: true, largeThreshold: 1, progressive: 0, data: pairs, dimensions: ["x", "y"], symbolSize: drawn ? 4 : 2.5,
        itemStyle: { color: themeColour("soft"), opacity: drawn ? 0.55 : 0.3 },
        tooltip: { formatter: (event) => cloudTip(study, from + event.dataIndex, drawn) }, silent: false, z: 1,
    };
}

function whiskerSeries(study, x, y, units) {
    const data = study.front.map((point) => {
        const [a, aLow, aHigh] = x.of(point);
        const [b, bLow, bHigh] = y.of(point);
        const scaled = (value, size, middle) => (value ?? middle) / size;
        return [a / units.x.size, b / units.y.size, scaled(aLow, units.x.size, a), scaled(aHigh, units.x.size, a),
            scaled(bLow, units.y.size, b), scaled(bHigh, units.y.size, b)];
    });
    return {
        id: `whiskers${studies.indexOf(study)}`, type: "custom", data, silent: true, z: 2, tooltip: { show: false },
        renderItem: (params, api) => {
            const at = (i, j) => api.coord([api.value(i), api.value(j)]);
            const style = { stroke: themeColour("soft"), lineWidth: 1.4, fill: null };
            const line = ([x1, y1], [x2, y2]) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
            return { type: "group", children: [line(at(2, 1), at(3, 1)), line(at(0, 4), at(0, 5))] };
        },
    };
}

function frontSeries(study, x, y, colour, units) {
    const s = studies.indexOf(study);
    const data = study.front.map((point) => {
        const chosen = selected.has(point.key);
        const active = points.indexOf(point) === keyboardAt && document.activeElement?.id === "front-chart";
        return {
            value: [x.of(point)[0] / units.x.size, y.of(point)[0] / units.y.size, colour.of(point)[0] / units.colour.size],
            at: points.indexOf(point), symbolSize: chosen || active ? 17 : 12,
            itemStyle: { borderWidth: chosen || active ? 3 : 1, borderColor: chosen ? colourOf(point) : themeColour(active ? "accent" : "text"),
                opacity: point.dominated ? 0.45 : 1 },
        };
    });
    return {
        id: `front${s}`, name: studies.length > 1 ? `front of ${study.name}` : "front", type: "scatter", data, symbol: studyStyle(study).symbol,
        itemStyle: { color: studyStyle(study).color }, // for the legend; marks have the colour of the third quantity
        z: 5, cursor: "pointer", tooltip: { formatter: (event) => frontTip(points[event.data.at]) },
    };
}

/// The front and a margin, unless all plans are to be in view.
function rangeOf(metric, unit, type) {
    const values = points.flatMap((point) => metric.of(point)).filter((value) => value !== null && Number.isFinite(value)).map((value) => value / unit.size);
    if (document.getElementById("front-all").checked || values.length === 0) return {};
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (type === "log") return low > 0 ? { min: low / Math.pow(high / low, 0.1) * 0.98, max: high * Math.pow(high / low, 0.1) * 1.02 } : {};
    const margin = 0.1 * (high - low) || 0.1 * Math.abs(high) || 1;
    return { min: low >= 0 ? Math.max(0, low - margin) : low - margin, max: high + margin };
}

function frontOption() {
    if (points.length === 0) return null;
    const [x, y, colour] = [frontChoice.x, frontChoice.y, frontChoice.colour].map(metricOf);
    const units = { x: unitOfMetric(x), y: unitOfMetric(y), colour: unitOfMetric(colour) };
    const type = document.getElementById("front-log").checked ? "log" : "value";
    const hasCloud = x.objective !== undefined && y.objective !== undefined;
    const series = [];
    if (hasCloud && document.getElementById("front-cloud").checked) {
        for (const study of studies) series.push(cloudSeries(study, x, y, units, false), cloudSeries(study, x, y, units, true));
    }
    for (const study of studies) series.push(whiskerSeries(study, x, y, units));
    const fronts = studies.map((study) => frontSeries(study, x, y, colour, units));
    series.push(...fronts);
    const colours = fronts.flatMap((front) => front.data.map((item) => item.value[2])).filter(Number.isFinite);
    document.getElementById("front-note").textContent = cloudNote(hasCloud);
    return {
        ...baseOption(""),
        grid: narrow() ? { left: 70, right: 20, top: 46 + 20 * (1 + studies.length), bottom: 150 } : { left: 84, right: 150, top: 46, bottom: 64 },
        legend: legendStyle({ top: 10, left: 84, right: 20, data: series.map((one) => one.name).filter(Boolean) }),
        xAxis: axisStyle(axisTitle(x, units.x), { type, scale: true, nameGap: 34, ...rangeOf(x, units.x, type), axisLabel: { color: themeColour("soft"), hideOverlap: true, showMinLabel: false, showMaxLabel: false } }),
        yAxis: axisStyle(axisTitle(y, units.y), { type, scale: true, nameGap: 60, ...rangeOf(y, units.y, type), axisLabel: { color: themeColour("soft"), hideOverlap: true, showMinLabel: false, showMaxLabel: false } }),
        dataZoom: [{ type: "inside", xAxisIndex: 0, filterMode: "none" }, { type: "inside", yAxisIndex: 0, filterMode: "none" }],
        visualMap: colours.length === 0 ? undefined : {
            type: "continuous", dimension: 2, seriesIndex: fronts.map((front) => series.indexOf(front)), 
            ...(narrow() ? { orient: "horizontal", left: "center", bottom: 8 } : { right: 8, top: "middle" }),
            min: Math.min(...colours), max: Math.max(...colours), calculable: false,
            text: [digits(Math.max(...colours)), digits(Math.min(...colours))],
            textStyle: { color: themeColour("text"), width: 130, overflow: "break" },
            inRange: { color: ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"] }, // viridis
        },
        graphic: colours.length === 0 ? undefined : { type: "text", ...(narrow() ? { left: "center", bottom: 58 } : { right: 12, top: 84 }), style: {
            text: `${colour.name.replaceAll("_", " ")}${units.colour.name ? ` (${units.colour.name})` : ""}`, fill: themeColour("text"), fontSize: 12,
            lineHeight: 16, width: narrow() ? 280 : 125, overflow: "break", align: narrow() ? "center" : "right" } },
        series,
    };
}

function cloudNote(hasCloud) {
    if (!hasCloud) return "Plans off the front are shown only if both axes are objectives of the search.";
    const all = studies.reduce((sum, study) => sum + study.cloud.total, 0);
    const shown = studies.reduce((sum, study) => sum + study.cloud.index.length, 0);
    if (all === 0) return "";
    return shown === all ? `${counted(all, "plan")} off the front.` : `${grouped(shown)} of ${counted(all, "plan")} off the front, evenly subsampled.`;
}
