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
    for (const id of ["front-log", "front-cloud", "front-error", "front-all"]) document.getElementById(id).addEventListener("change", () => redraw("front-chart"));
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

const frontTip = (point) => `<b>${escaped(point.label)}</b>${point.study.provisional ? " (provisional)" : ""}${point.dominated ? " (dominated by another plan)" : ""}${point.off_front ? " (off the front)" : ""}<br>${escaped(point.plan)}<br>` +
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

/// Plans off the front as one picture of the chart's size: some viewers of PDF files drop a chart that has thousands of marks.
function cloudPicture(x, y, units) {
    const { chart } = charts.get("front-chart");
    const scale = 3; // dots per px, for paper
    const picture = element("canvas", { width: scale * chart.getWidth(), height: scale * chart.getHeight() });
    const pen = picture.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = themeColour("soft");
    const { x: left, y: top, width, height } = chart.getModel().getComponent("grid").coordinateSystem.getRect();
    pen.rect(left, top, width, height);
    pen.clip();
    for (const study of studies) {
        const { columns, drawn, index } = study.cloud;
        for (let i = 0; i < index.length; ++i) {
            const [at, over] = chart.convertToPixel("grid", [columns[x.objective][i] / units.x.size, columns[y.objective][i] / units.y.size]);
            const radius = i < drawn ? 1.6 : 1.1;
            pen.globalAlpha = i < drawn ? 0.55 : 0.3;
            pen.fillRect(at - radius, over - radius, 2 * radius, 2 * radius);
        }
    }
    return { type: "image", left: 0, top: 0, z: 1, silent: true, style: { image: picture, x: 0, y: 0, width: chart.getWidth(), height: chart.getHeight() } };
}

/// Factors of the model error of a quantity that is proportional to times; null: of none, or unknown.
function modelFactors(metric, point) {
    const row = data.estimates.find((info) => info.name === metric.name);
    const { model_low: low, model_high: high } = point.numbers;
    return row?.follows_model && low !== null && high !== null ? [low, high] : null;
}

/// Value and both errors of a quantity of a plan, in its unit.
function whiskerOf(metric, point, size) {
    const [value, low, high] = metric.of(point);
    const factors = modelFactors(metric, point);
    const scaled = (one) => (one ?? value) / size;
    return [value / size, scaled(low), scaled(high), ...(factors ?? [1, 1]).map((factor) => (factor * value) / size)];
}

const showsModelError = () => document.getElementById("front-error").checked;

/// Thin: the model error; thick: the sampling error.
function whiskerSeries(study, x, y, units) {
    const data = study.shown.map((point) => [...whiskerOf(x, point, units.x.size), ...whiskerOf(y, point, units.y.size)]);
    return {
        id: `whiskers${studies.indexOf(study)}`, type: "custom", data, silent: true, z: 2, tooltip: { show: false }, clip: true, encode: { x: 0, y: 5 },
        renderItem: (params, api) => {
            const at = (i, j) => api.coord([api.value(i), api.value(j)]);
            const line = ([x1, y1], [x2, y2], lineWidth, opacity) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: themeColour("soft"), lineWidth, opacity, fill: null } });
            const model = showsModelError() ? [line(at(3, 5), at(4, 5), 1, 0.75), line(at(0, 8), at(0, 9), 1, 0.75)] : [];
            return { type: "group", children: [...model, line(at(1, 5), at(2, 5), 3, 1), line(at(0, 6), at(0, 7), 3, 1)] };
        },
    };
}

/// The deadline, where an axis has the time of the run.
function deadlineLines(x, y, units) {
    const [study] = studies.filter((one) => one.limit_s);
    const along = [x, y].map((metric) => metric.name.startsWith("training_time"));
    if (!study || !along.some(Boolean)) return [];
    const line = limitLine(0, limitName(study), along[0] ? "end" : "insideEndTop");
    return [{ type: "scatter", id: "deadline", silent: true, symbolSize: 0, data: [], markLine: { ...line,
        data: [along[0] ? { xAxis: study.limit_s / units.x.size } : { yAxis: study.limit_s / units.y.size }] } }];
}

function frontSeries(study, x, y, colour, units) {
    const s = studies.indexOf(study);
    const data = study.shown.map((point) => {
        const chosen = selected.has(point.key);
        const active = points.indexOf(point) === keyboardAt && document.activeElement?.id === "front-chart";
        return {
            value: [x.of(point)[0] / units.x.size, y.of(point)[0] / units.y.size, colour.of(point)[0] / units.colour.size],
            at: points.indexOf(point), symbolSize: chosen || active ? 17 : 12,
            itemStyle: { borderWidth: chosen || active ? 3 : 1, borderColor: chosen ? colourOf(point) : themeColour(active ? "accent" : "text"),
                opacity: point.dominated || point.off_front ? 0.45 : 1 },
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
    const values = points.flatMap((point) => (showsModelError() ? whiskerOf(metric, point, 1) : metric.of(point))).filter((value) => value !== null && Number.isFinite(value)).map((value) => value / unit.size);
    if (document.getElementById("front-all").checked || values.length === 0) return {};
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (type === "log") return low > 0 ? { min: low / Math.pow(high / low, 0.1) * 0.98, max: high * Math.pow(high / low, 0.1) * 1.02 } : {};
    const margin = 0.1 * (high - low) || 0.1 * Math.abs(high) || 1;
    return { min: low >= 0 ? Math.max(0, low - margin) : low - margin, max: high + margin };
}

/// On paper, the picture of the plans off the front needs the axes, which a first drawing sets.
function drawFrontOnPaper() {
    const entry = charts.get("front-chart");
    if (!entry?.chart) return;
    entry.draw();
    const [x, y] = [frontChoice.x, frontChoice.y].map(metricOf);
    if (x.objective === undefined || y.objective === undefined || !document.getElementById("front-cloud").checked) return;
    entry.chart.setOption({ graphic: [{ $action: "merge", id: "cloud", ...cloudPicture(x, y, { x: unitOfMetric(x), y: unitOfMetric(y) }) }] });
}

function frontOption() {
    if (points.length === 0) return null;
    const [x, y, colour] = [frontChoice.x, frontChoice.y, frontChoice.colour].map(metricOf);
    const units = { x: unitOfMetric(x), y: unitOfMetric(y), colour: unitOfMetric(colour) };
    const type = document.getElementById("front-log").checked ? "log" : "value";
    const hasCloud = x.objective !== undefined && y.objective !== undefined;
    const series = [];
    if (hasCloud && !printed && document.getElementById("front-cloud").checked) {
        for (const study of studies) series.push(cloudSeries(study, x, y, units, false), cloudSeries(study, x, y, units, true));
    }
    for (const study of studies) series.push(whiskerSeries(study, x, y, units));
    series.push(...deadlineLines(x, y, units));
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
            min: Math.min(...colours), max: Math.max(...colours), calculable: false, ...(printed ? { itemHeight: 90 } : {}),
            text: [digits(Math.max(...colours)), digits(Math.min(...colours))],
            textStyle: { color: themeColour("text"), width: 130, overflow: "break" },
            inRange: { color: ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"] }, // viridis
        },
        graphic: colours.length === 0 ? undefined : { type: "text", ...(narrow() ? { left: "center", bottom: 58 } : { right: 12, top: printed ? 22 : 84 }), style: {
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
