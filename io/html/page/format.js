// Formatting of numbers.

/// Display unit for quantities up to `largest`: its name and its size.
function unitFor(unit, largest) {
    const row = (data.units[unit] ?? []).find(([, from]) => Math.abs(largest) >= from);
    return row ? { name: row[0], size: row[2] } : { name: unit === "1" ? "" : unit, size: 1 };
}

const largestOf = (values) => values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);

function unitOfMetric(metric) {
    return unitFor(metric.units, largestOf(points.map((point) => metric.of(point)[0])));
}

/// Four significant digits; whole numbers as they are.
function digits(value, count = 4) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    if (Number.isInteger(value)) return String(value);
    const size = Math.max(0, Math.min(count + 3, count - 1 - Math.floor(Math.log10(Math.abs(value)))));
    return value.toFixed(size);
}

/// As many digits as the confidence limits justify.
function estimateText([value, low, high], unit) {
    const exact = low === null || high === null || !(high > low);
    const places = exact ? 4 : Math.min(6, Math.max(3, 1 + Math.ceil(Math.log10(Math.abs(value) / (high - low)))));
    const shown = (x) => digits(x / unit.size, places);
    const name = unit.name ? ` ${unit.name}` : "";
    return exact ? `${shown(value)}${name}` : `${shown(value)}${name} (${shown(low)} to ${shown(high)})`;
}

/// "1 plan", "2 plans".
const counted = (count, thing) => `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;

/// A quantity in its display unit.
function quantityText(value, units, count = 3) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const unit = unitFor(units, value);
    const scaled = value / unit.size;
    return `${Math.abs(scaled) >= 1e4 ? grouped(Math.round(scaled)) : digits(scaled, count)}${unit.name ? ` ${unit.name}` : ""}`;
}

/// A share in percent. What is neither none nor all is not rounded to look like it: the rules of io/base/percent.cpp.
function percentFigure(share, places = 1) {
    if (!Number.isFinite(share)) return "–";
    const [step, rounding] = [10 ** -places, 1e-9];
    const least = 0.005 * step;
    if (share > rounding && share < least) return `<${step.toFixed(places)}`;
    if (share < -rounding && share > -least) return `>${(-step).toFixed(places)}`;
    if (share < 1 - rounding && share >= 1 - least) return `>${(100 - step).toFixed(places)}`;
    return (Math.abs(share) <= rounding ? 0 : 100 * share).toFixed(places);
}
const percent = (share, places = 1) => `${percentFigure(share, places)}${Number.isFinite(share) ? " %" : ""}`;

/// A probability as a share of some hundred draws, which prove neither 0 nor 1.
const chanceText = (p) => percent(Number.isFinite(p) ? Math.min(Math.max(p, 1e-3), 1 - 1e-3) : p, 0);

/// A probability of which small values matter: they keep two digits.
function probabilityText(p) {
    if (p > 0 && p < 0.1) return `${Number((100 * p).toPrecision(2))} %`;
    return percent(p, p > 0.99 && p < 1 ? 1 : 0);
}
/// Where no draw misses, or each does, the value is a limit.
function drawnProbabilityText([p, low, high]) {
    if (low === 0 && high > 0 && p === high) return `less than ${probabilityText(p)}`;
    if (high === 1 && low < 1 && p === low) return `more than ${probabilityText(p)}`;
    return probabilityText(p);
}

const grouped = (count) => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const titleOf = (metric) => metric.long_name || metric.name;

function axisTitle(metric, unit) {
    const name = titleOf(metric);
    const short = name.length > 36 ? metric.name.replaceAll("_", " ") : name;
    return unit.name ? `${short} (${unit.name})` : short;
}

/// Text for innerHTML.
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/// An element with attributes and children (elements or texts).
function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

/// A text in which dates, and numbers with their units, are not broken across lines.
function unbroken(text) {
    const pattern = /\d{4}-\d\d-\d\d|[<>]?\d[\d.,]* (?:%|[kM] USD|USD|[kMGT]?W|[kMGT]?Wh|GPUs?|days?|h|min|ms|s)(?![\w])/g;
    const made = document.createDocumentFragment();
    let from = 0;
    for (const match of text.matchAll(pattern)) {
        made.append(text.slice(from, match.index), element("span", { class: "whole" }, match[0]));
        from = match.index + match[0].length;
    }
    made.append(text.slice(from));
    return made;
}
