// The data of the page, and values derived from them once. `points`: the members of all fronts.

const data = JSON.parse(document.getElementById("data").textContent);
const studies = data.studies;
/// Forward passes train nothing.
const trains = !studies.every((study) => study.job.task === "inference");
const runTime = trains ? "training time" : "run time";
const points = [];

/// Little-endian numbers of `kind` (Uint16Array, Uint32Array) from base64.
function decoded(kind, text) {
    const bytes = atob(text);
    const raw = new Uint8Array(bytes.length);
    for (let i = 0; i < bytes.length; ++i) raw[i] = bytes.charCodeAt(i);
    return new kind(raw.buffer);
}

/// A column of the cloud: 16-bit steps between two ends (of the logarithm where `log`), 65535 where there is no value.
function column(packed) {
    const steps = decoded(Uint16Array, packed.values);
    const values = new Float64Array(steps.length);
    const [low, high] = packed.log ? [Math.log(packed.low), Math.log(packed.high)] : [packed.low, packed.high];
    for (let i = 0; i < steps.length; ++i) {
        const at = low + (high - low) * (steps[i] / 65534);
        values[i] = steps[i] === 65535 ? NaN : packed.log ? Math.exp(at) : at;
    }
    return values;
}

for (const [s, study] of studies.entries()) {
    const cloud = study.cloud;
    cloud.index = decoded(Uint32Array, cloud.index);
    cloud.upper = cloud.upper ? decoded(Uint32Array, cloud.upper) : null;
    cloud.columns = cloud.objectives.map(column);
    study.shown = [...study.front, ...study.off_front];
    for (const point of study.shown) {
        point.study = study;
        point.key = `${s}:${point.id}`;
        point.label = studies.length > 1 ? `${study.name} ${point.id}` : `point ${point.id}`;
        point.off_front = study.off_front.includes(point);
        points.push(point);
    }
}

/// Of many studies, the comparison comes first, what is said of each is folded, and charts of a study are of the first few.
const fewStudies = 4;
const manyStudies = studies.length > fewStudies;

/// Where a section writes about a study: under its name.
function placeOf(study, place, title = study.name) {
    if (studies.length === 1) return place;
    const own = manyStudies ? element("details", {}, element("summary", {}, title)) : element("h3", {}, title);
    place.append(own);
    return manyStudies ? own : place;
}

/// "a, b, c and 47 others".
const fewNames = (list) => (list.length > fewStudies ? `${list.slice(0, fewStudies - 1).join(", ")} and ${list.length - fewStudies + 1} others` : list.join(", "));

/// Note on a stopped search, whose front is not confirmed.
const anyProvisional = studies.some((study) => study.provisional);
const provisionalText = `Provisional${studies.length > 1 ? ` (${fewNames(studies.filter((study) => study.provisional).map((study) => study.name))})` : ""}: ` +
    "the search was stopped, and these are the best plans so far. Their estimates are optimistic, because the same draws selected them; " +
    "some rest on few draws. A complete search (prismopt resume) confirms its front on fresh draws.";

/// Note on figures of the first phase, in a study with several phases.
function phasesText() {
    const several = studies.filter((study) => study.phases_note);
    return several.map((study) => `${studies.length > 1 ? `${study.name}: ` : ""}${study.phases_note}`).join(" ");
}

/// Population that quantiles are taken over. Quantiles over different populations are not comparable.
const samePopulation = studies.every((study) => study.population === studies[0].population);

function populationText() {
    if (samePopulation) return `Quantiles are taken over ${studies[0].population}.`;
    return `Quantiles are taken over different populations: ${studies.map((study) => `${study.name} over ${study.population}`).join(", ")}; ` +
        "differences come from the nodes as well as from the plans.";
}

/// Values of a raw tuple by its index: the last axis varies fastest. Indices may exceed 2^53.
function labelsAt(study, index) {
    let rest = index;
    const labels = [];
    for (const axis of [...study.axes].reverse()) {
        const size = BigInt(axis.labels.length);
        labels.unshift(axis.labels[Number(rest % size)]);
        rest /= size;
    }
    return labels;
}

function cloudIndex(study, i) {
    return (study.cloud.upper ? BigInt(study.cloud.upper[i]) << 32n : 0n) + BigInt(study.cloud.index[i]);
}

/// A plan as text: the values of the axes that varied.
function planOf(study, labels) {
    const words = study.axes.map((axis, a) => (axis.labels.length > 1 ? `${axis.name} ${labels[a]}` : "")).filter(Boolean);
    return words.join(", ");
}

/// Quantities for the axes of the front chart and the table: objectives of all studies first, then other estimates and numbers.
const metrics = [];
for (const [k, objective] of studies[0].objectives.entries()) {
    metrics.push({ ...objective, objective: k, of: (point) => point.objectives[k] });
}
for (const info of data.estimates) {
    if (!metrics.some((metric) => metric.name === info.name)) metrics.push({ ...info, of: (point) => point.estimates[info.name] });
}
const yesOrNo = new Set(["model_fitted"]);
for (const info of data.numbers) {
    if (!yesOrNo.has(info.name)) metrics.push({ ...info, of: (point) => [point.numbers[info.name], null, null] });
}

if (points.some((point) => point.risk?.mean !== undefined)) {
    metrics.push({ name: "miss_probability_with_model_error", units: "1", long_name: "probability of missing the deadline, model error included", of: (point) => [point.risk?.mean ?? null, null, null] });
}

const metricOf = (name) => metrics.find((metric) => metric.name === name);
