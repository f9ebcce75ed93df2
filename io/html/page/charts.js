// Charts that follow the theme and the width of the page. A chart is drawn when it is created, and again when its content changes.

const charts = new Map(); // element id -> {chart, draw}
const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#999933"]; // Okabe and Ito, and two more
const symbols = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];

/// Colours of the palette identify selected plans. Shade, symbol, dash and pattern identify studies.
function studyStyle(study) {
    const s = studies.indexOf(study);
    const kind = s % 4;
    const stripe = (angle, gap) => ({ color: themeColour("panel"), symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, gap], rotation: angle });
    return {
        color: themeColour(s % 2 === 0 ? "text" : "soft"), symbol: symbols[s % symbols.length],
        dash: ["solid", "dashed", "dotted", [9, 3, 2, 3]][kind], decal: [{ symbol: "none" }, stripe(Math.PI / 4, 6), stripe(-Math.PI / 4, 6), stripe(0, 4)][kind],
    };
}

const themeColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

let printed = false; // while a sheet is made, which is never narrow

/// Whether the window is as narrow as that of a telephone.
const narrow = () => !printed && document.documentElement.clientWidth < 640;

const textFont = "12px sans-serif"; // of texts in charts
/// Pixels that the widest of some texts takes.
function widestText(texts, font = textFont) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = font;
    return Math.ceil(Math.max(0, ...texts.map((text) => context.measureText(text).width)));
}

/// Options common to all charts.
function baseOption(title) {
    const text = themeColour("text");
    return {
        animation: false,
        color: palette,
        textStyle: { color: text },
        title: { text: title, left: 10, top: 6, textStyle: { fontSize: 14, fontWeight: "bold", color: text } },
        tooltip: {
            confine: true, backgroundColor: themeColour("page"), borderColor: themeColour("line"),
            textStyle: { color: text, fontSize: 12.5 }, extraCssText: "max-width: 440px; white-space: normal;",
        },
        aria: { enabled: true },
    };
}

function axisStyle(name, more = {}) {
    const soft = themeColour("soft");
    return {
        name, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: soft }, axisLabel: { color: soft, hideOverlap: true },
        axisLine: { show: true, lineStyle: { color: themeColour("line") } }, splitLine: { lineStyle: { color: themeColour("line"), opacity: 0.5 } },
        ...more,
    };
}

/// In narrow windows, the legend uses several lines instead of pages, whose numbers would overlap its text.
const legendStyle = (more = {}) => ({
    textStyle: { color: themeColour("text") }, inactiveColor: themeColour("mark"), type: narrow() ? "plain" : "scroll", ...more,
    ...(narrow() ? { left: 10, right: 10, textStyle: { color: themeColour("text"), fontSize: 11 }, itemWidth: 14, itemGap: 8, itemHeight: 10 } : {}),
});

/// `option(chart)` returns the options, or null if there is nothing to show; `label`: description for screen readers.
function makeChart(id, label, option) {
    const place = document.getElementById(id);
    const draw = () => {
        const options = option();
        place.hidden = options === null;
        if (options === null) return;
        const entry = charts.get(id);
        entry.chart ??= echarts.init(place, null, { renderer: "canvas" });
        place.removeAttribute("aria-label");
        entry.chart.setOption(options, { notMerge: true }); // sets a description of the data as the label
        place.setAttribute("role", "img");
        place.setAttribute("aria-label", `${label}. ${place.getAttribute("aria-label") ?? ""}`.slice(0, 600));
    };
    charts.set(id, { chart: null, draw });
    draw();
    return charts.get(id);
}

const redraw = (id) => charts.get(id)?.draw();

let drawnNarrow = narrow();
const widths = new ResizeObserver((entries) => {
    for (const entry of entries) charts.get(entry.target.id)?.chart?.resize();
    if (drawnNarrow !== narrow()) {
        drawnNarrow = narrow();
        for (const { draw } of charts.values()) draw();
    }
});

/// Resizes a chart with its place.
const followWidth = (place) => widths.observe(place);

function watchWidth() {
    for (const id of charts.keys()) followWidth(document.getElementById(id));
}

function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const button = document.getElementById("theme");
    button.setAttribute("aria-pressed", String(dark));
    button.textContent = dark ? "Light" : "Dark";
    for (const { draw } of charts.values()) draw();
}

function startTheme() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    setTheme(system.matches);
    system.addEventListener("change", (event) => setTheme(event.matches));
    document.getElementById("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
}
