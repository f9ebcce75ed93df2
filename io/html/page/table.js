// The front as a sortable table, and the cheapest plan within a percentage of the best.

const estimate = (name) => metricOf(name) ?? { ...data.estimates.find((info) => info.name === name), of: (point) => point.estimates[name] };
const sorting = { column: 0, descending: false };

/// Studies of several variants, or whose prices differ.
const hasVariants = (list) => list.some((point) => point.variant !== "");

/// Names the peak of which MFU is a share; older files do not state it.
function mfuTitle(list) {
    const peaks = [...new Set(list.map((point) => (point.numbers.peak_tflops_per_gpu ?? null) === null ? "16-bit peak" : `${point.numbers.peak_tflops_per_gpu.toFixed(0)} TFLOP/s`))];
    return `MFU (% of ${peaks.length === 1 ? peaks[0] : "peak"})`;
}

function tableColumns() {
    const timed = (name, title, more) => {
        const metric = estimate(name);
        const unit = unitFor("s", largestOf(points.map((point) => point.estimates[name][0])));
        return { title: `${title} (${unit.name}${name.startsWith("training") ? ", model exact" : ""})`, key: (point) => point.estimates[name][0], metric, unit, ...more };
    };
    const ninetieth = () => {
        const unit = unitFor("s", largestOf(points.map((point) => point.completion[1].seconds)));
        return { title: `p90 (${unit.name}, model exact)`, key: (point) => point.completion[1].seconds, text: (point) => digits(point.completion[1].seconds === null ? null : point.completion[1].seconds / unit.size) };
    };
    /// By when a run is done with 90 %, model error included; below it, assuming the model is exact.
    const doneBy = () => ({ title: "done by (90 %, model error included)", key: (point) => point.completion[1].with_error.seconds ?? point.completion[1].seconds,
        text: (point) => point.completion[1].with_error.date || "–", below: (point) => `model exact: ${point.completion[1].date || "–"}` });
    /// A column of an estimate that older files do not have.
    const known = (name, title, textIn) => {
        if (points.every((point) => point.estimates[name][0] === null)) return [];
        const unit = unitFor(data.estimates.find((info) => info.name === name).units, largestOf(points.map((point) => point.estimates[name][0])));
        return [{ title: unit.name ? `${title} (${unit.name})` : title, key: (point) => point.estimates[name][0],
            text: (point) => (point.estimates[name][0] === null ? "–" : textIn(unit)(point.estimates[name][0])) }];
    };
    /// Plans with a deadline: with the error of the model, and without.
    const risks = () => [{
        title: "misses deadline", key: (point) => point.risk?.mean ?? point.estimates.miss_probability[0] ?? 0, text: (point) => point.risk?.shown ?? "–",
        below: (point) => `model exact: ${point.risk?.exact || "–"}` }];
    const share = (name, title) => {
        const { decimals } = data.numbers.find((info) => info.name === name);
        return { title: `${title} (%)`, key: (point) => point.numbers[name], text: (point) => percentFigure(point.numbers[name], decimals) };
    };
    const money = unitFor("USD", largestOf(points.map((point) => point.estimates.cost[0])));
    const columns = [
        { title: "point", key: (point) => Number(point.id), text: (point) => point.id },
        { title: "GPUs", key: (point) => point.gpus, text: (point) => grouped(point.gpus) },
        { title: "plan", key: (point) => point.design, text: (point) => point.design, wide: true },
        ...(hasVariants(points) ? [
            { title: "variant", key: (point) => point.variant, text: (point) => point.variant, wide: true },
            { title: "GPU price (USD/h)", key: (point) => point.numbers.gpu_price, text: (point) => digits(point.numbers.gpu_price, 3) }] : []),
        timed("training_time_p50", `${runTime.split(" ")[0]} p50`), ninetieth(), timed("training_time_p99", "p99", { limits: true }),
        ...(points.some((point) => point.completion[1].date) ? [doneBy()] : []),
        { title: `cost (${money.name}${studies.some((study) => study.placeholder_price) ? ", placeholder" : ""})`, key: (point) => point.estimates.cost[0], text: (point) => digits(point.estimates.cost[0] / money.size) },
        ...known("energy", "energy", (unit) => (value) => digits(value / unit.size, 3)),
        ...(studies.some((study) => study.limit_s) ? risks() : []),
        timed("step_time_p50", "step p50"), timed("step_time_p95", "p95"), timed("step_time_p99", "p99"),
        share("memory_headroom", "memory free"), ...(points.some((point) => (point.numbers.fit_probability ?? null) !== null) ? [share("fit_probability", "fits")] : []), { ...share("mfu", "MFU"), title: mfuTitle(points) }, share("ettr", "ETTR"),
    ];
    for (const metric of metrics.filter((one) => one.objective !== undefined)) {
        const shown = ["gpus", "cost", "training_time_p50", "training_time_p99", "step_time_p50", "step_time_p95", "step_time_p99", "energy", "miss_probability"];
        if (shown.includes(metric.name)) continue;
        const unit = unitOfMetric(metric);
        const name = metric.name.replaceAll("_", " ") + (unit.name ? ` (${unit.name})` : "");
        columns.push({ title: name, key: (point) => metric.of(point)[0], text: (point) => digits(metric.of(point)[0] / unit.size) });
    }
    if (studies.length > 1) columns.unshift({ title: "study", key: (point) => point.study.name, text: (point) => point.study.name, wide: true });
    return columns;
}

function cell(column, point) {
    if (column.text) {
        const made = element("td", { class: column.wide ? (column.title === "plan" ? "text plan" : "text") : null, "data-label": column.title }, column.text(point));
        if (column.below) made.append(element("br"), element("span", { class: "limits" }, column.below(point)));
        if (column.title === "plan") for (const tag of point.tags) made.append(element("span", { class: "tag" }, tag));
        return made;
    }
    const [value, low, high] = point.estimates[column.metric.name];
    const made = element("td", { "data-label": column.title }, digits(value / column.unit.size));
    if (column.limits && high > low && low !== null) {
        made.append(element("br"), element("span", { class: "limits" }, `${digits(low / column.unit.size)} – ${digits(high / column.unit.size)}`));
    }
    return made;
}

function row(columns, point) {
    const chosen = selected.has(point.key);
    const box = element("input", { type: "checkbox", "aria-label": `select ${point.label}` });
    box.checked = chosen;
    const made = element("tr", { "aria-selected": String(chosen), "data-key": point.key, class: point.dominated ? "dominated" : null },
        element("td", {}, box), ...columns.map((column) => cell(column, point)));
    if (chosen) made.firstChild.style.boxShadow = `inset 4px 0 ${colourOf(point)}`;
    made.addEventListener("click", (event) => {
        const typed = document.activeElement === box;
        toggle(point);
        if (typed || event.target === box) document.querySelector(`tr[data-key="${point.key}"] input`)?.focus();
    });
    return made;
}

function drawTable() {
    const columns = tableColumns();
    const by = columns[sorting.column];
    const order = [...points].sort((a, b) => {
        const [p, q] = [by.key(a), by.key(b)];
        return (p < q ? -1 : p > q ? 1 : 0) * (sorting.descending ? -1 : 1);
    });
    const heads = columns.map((column, c) => {
        const sorted = c === sorting.column ? (sorting.descending ? "descending" : "ascending") : "none";
        const button = element("button", { type: "button", title: `sort by ${column.title}` }, `${column.title}${{ ascending: " ▲", descending: " ▼", none: "" }[sorted]}`);
        button.addEventListener("click", () => {
            sorting.descending = sorting.column === c && !sorting.descending;
            sorting.column = c;
            drawTable();
            document.querySelectorAll("#points-table th button")[c].focus();
        });
        return element("th", { scope: "col", "aria-sort": sorted, class: column.wide ? "text" : null }, button);
    });
    const table = document.getElementById("points-table");
    const corner = element("th", { scope: "col" }, element("span", { class: "limits" }, "show"));
    table.replaceChildren(element("thead", {}, element("tr", {}, corner, ...heads)), element("tbody", {}, ...order.map((point) => row(columns, point))));
}

function tagPoints() {
    for (const point of points) point.tags = [];
    for (const study of studies) {
        if (study.subject && study.subject.reason !== "best") subjectOf(study).tags.push(study.subject.reason === "asked" ? "asked for" : study.subject.reason);
        for (const point of study.off_front) point.tags.push("off the front");
        best(study)?.tags.push(`best ${study.objectives[0].name.replaceAll("_", " ")}`);
        if (study.objectives.length > 1) knee(study)?.tags.push("knee");
        for (const point of kept(study)) for (const other of tiesOf(point)) point.tags.push(`ties with ${other.id}`);
    }
}

function showCheapest() {
    const share = Math.max(0, Number(document.getElementById("within").value) || 0) / 100;
    const lines = studies.map((study) => {
        const found = cheapestWithin(study, share);
        return found === null ? "no plan" : `${found.label} (${found.plan}), ${estimateText(found.estimates.cost, unitFor("USD", found.estimates.cost[0]))}`;
    });
    document.getElementById("within-result").textContent = lines.join("; ");
}

/// Plans that would be on the front if they fit into memory: "faster, may not fit (64 %)".
function mayNotFitTable(study) {
    const list = study.may_not_fit.plans;
    const [time, step, money] = [["training_time_p99", "s"], ["step_time_p50", "s"], ["cost", "USD"]].map(([name, units]) => unitFor(units, largestOf(list.map((point) => point.estimates[name][0]))));
    const first = study.objectives[0];
    const best = Math.min(...study.front.map((point) => point.objectives[0][0]));
    const cells = [
        ["point", (point) => point.id], ["GPUs", (point) => grouped(point.gpus)], ["plan", (point) => point.design + (point.variant ? `; variant: ${point.variant}` : ""), true],
        ["", (point) => `${point.objectives[0][0] < best ? `${percent(1 - point.objectives[0][0] / best)} less ${first.name.replaceAll("_", " ")}, ` : ""}may not fit (${percentFigure(point.numbers.fit_probability, 0)} %)`, true],
        [`${runTime} p99 (${time.name}, model exact)`, (point) => digits(point.estimates.training_time_p99[0] / time.size)],
        [`cost (${money.name})`, (point) => digits(point.estimates.cost[0] / money.size)],
        [`step p50 (${step.name})`, (point) => digits(point.estimates.step_time_p50[0] / step.size)],
        ["memory free (%)", (point) => percentFigure(point.numbers.memory_headroom, 1)]];
    return element("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Plans that may not fit into memory" }, element("table", { class: "stacks" },
        element("thead", {}, element("tr", {}, ...cells.map(([name, , text]) => element("th", { scope: "col", class: text ? "text" : null }, name)))),
        element("tbody", {}, ...list.map((point) => element("tr", {}, ...cells.map(([name, of, text]) => element("td", { class: text ? "text" : null, "data-label": name }, of(point))))))));
}

function startMayNotFit() {
    for (const study of studies.filter((one) => one.may_not_fit.plans.length > 0)) {
        document.getElementById("may-not-fit").append(
            element("h3", {}, `Better, but may not fit into memory${studies.length > 1 ? `: ${study.name}` : ""}`),
            element("p", { class: "note" }, `These plans would be on the front, but their predicted memory leaves less room than its error asks for. In parentheses: the probability that they fit. Their search: ${study.may_not_fit.outcome}.`),
            mayNotFitTable(study));
    }
}

function startTable() {
    startMayNotFit();
    tagPoints();
    sorting.column = tableColumns().findIndex((column) => column.limits);
    drawTable();
    document.getElementById("within-of").textContent = studies[0].objectives[0].long_name;
    document.getElementById("within").addEventListener("input", showCheapest);
    showCheapest();
    const notes = [populationText(), phasesText(), "Model exact: without the model error. So are step times, and the cost, which is that of the p99 time.", "Knee: the plan closest to the ideal point, with each objective scaled from the front's best value to its worst."];
    if (points.some((point) => point.dominated)) {
        notes.push("Grey: dominated by another plan; kept because the first estimates selected it, or as the best plan of its cluster.");
    }
    if (anyProvisional) notes.unshift(provisionalText);
    document.getElementById("points-note").textContent = notes.filter(Boolean).join(" ");
    onSelection(drawTable);
}

/// Scrollable boxes have a shadow at each edge beyond which there is more content.
function startScrollMarks() {
    const mark = (box) => {
        const frame = box.parentElement;
        frame.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
        frame.classList.toggle("more-left", box.scrollLeft > 1);
    };
    for (const box of document.querySelectorAll(".table-box")) {
        const frame = element("div", { class: "table-frame" });
        box.replaceWith(frame);
        frame.append(box);
    }
    const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target.closest(".table-box"))));
    for (const box of document.querySelectorAll(".table-box")) {
        box.addEventListener("scroll", () => mark(box), { passive: true });
        observer.observe(box);
        if (box.firstElementChild) observer.observe(box.firstElementChild);
        mark(box);
    }
}
