// Printed pages are white, with charts as wide as the paper: two sheets for a decision, and the rest on request only.

const paper = { width: 708, height: 1025 };      // px between the margins of A4; as in the style of paper
const chartHeights = { tall: [230, 300], middle: [170, 340] }; // least and most, px

/// The elements on each sheet.
function sheets() {
    const all = [document.querySelector("header"), ...document.querySelectorAll("main > section"), document.querySelector("footer")].filter((one) => one.offsetParent !== null);
    const second = all.findIndex((one) => one.classList.contains("second-sheet"));
    return second < 0 ? [all] : [all.slice(0, second), all.slice(second)];
}

const heightOf = (sheet) => sheet.reduce((sum, one) => sum + one.getBoundingClientRect().height, 0);

/// Makes a sheet smaller until it fits, and its chart larger while there is room.
function fitSheet(sheet) {
    const zoom = (fit) => sheet.forEach((one) => one.style.setProperty("--fit", fit));
    let fit = 1;
    for (const least = 0.6; fit > least; fit -= 0.02) {
        zoom(fit);
        fitTables(sheet, paper.width / fit);
        if (heightOf(sheet) <= paper.height) break;
    }
    for (const [kind, [least, most]] of Object.entries(chartHeights)) {
        const places = sheet.flatMap((one) => [...one.querySelectorAll(`.chart.${kind}`)]).filter((place) => place.offsetParent !== null);
        if (places.length !== 1) continue;
        const room = Math.max(0, paper.height - heightOf(sheet)) / fit;
        sheet.forEach((one) => one.style.setProperty(`--${kind}`, `${Math.floor(Math.min(most, least + 0.95 * room))}px`));
    }
}

/// With the print style applied to the screen: what is printed fits two sheets.
function fitSheets() {
    const print = [...document.styleSheets[0].cssRules].find((rule) => rule instanceof CSSMediaRule && rule.conditionText === "print");
    const style = element("style", {}, [...print.cssRules].map((rule) => rule.cssText).join("\n"));
    document.head.append(style);
    const ofScreens = [...document.styleSheets[0].cssRules].filter((rule) => rule instanceof CSSMediaRule && rule.conditionText.includes("639px"));
    const conditions = ofScreens.map((rule) => rule.conditionText);
    for (const rule of ofScreens) rule.media.mediaText = "not all"; // the paper is wider than a narrow window
    document.body.style.width = `${paper.width}px`;
    if (document.documentElement.dataset.print === "all") fitTables(sheets().flat(), paper.width);
    else sheets().forEach(fitSheet);
    for (const [id, { chart }] of charts) {
        const place = document.getElementById(id);
        if (chart && place.offsetParent !== null) chart.resize({ width: place.clientWidth, height: place.clientHeight });
    }
    style.remove();
    for (const [i, rule] of ofScreens.entries()) rule.media.mediaText = conditions[i];
    document.body.style.width = "";
}

/// Tables that are wider than the paper are made smaller: their numbers are never broken.
function fitTables(sheet, width) {
    for (const table of sheet.flatMap((one) => [...one.querySelectorAll(".table-box > table")])) {
        table.style.zoom = "";
        if (table.offsetParent !== null && table.scrollWidth > width) table.style.zoom = Math.max(0.5, (0.99 * width) / table.scrollWidth);
    }
}

/// Sections on paper, unless all are asked for; a class marks where the second sheet begins.
function markSheets() {
    const second = ["sizes", "front"].map((id) => document.getElementById(id)).find((section) => !section.hidden);
    const one = studies.length > 1 ? document.getElementById("summary") : second;
    one?.classList.add("second-sheet");
    if (studies.length > 1) document.documentElement.dataset.compares = "true";
}

function startPrinting() {
    let dark = false;
    const all = document.getElementById("print-all");
    const mark = () => { document.documentElement.dataset.print = all.checked ? "all" : "summary"; };
    all.addEventListener("change", mark);
    mark();
    markSheets();
    document.getElementById("print").addEventListener("click", () => window.print());
    const everything = [document.querySelector("header"), ...document.querySelectorAll("main > section"), document.querySelector("footer")];
    window.addEventListener("beforeprint", () => {
        dark = document.documentElement.dataset.theme === "dark";
        printed = true;
        setTheme(false);
        fitSheets();
        drawFrontOnPaper();
        for (const { chart } of charts.values()) chart?.getZr().refreshImmediately(); // the sheet is printed before the next frame
    });
    window.addEventListener("afterprint", () => {
        printed = false;
        for (const one of everything) for (const name of ["--fit", "--tall", "--middle"]) one.style.removeProperty(name);
        for (const table of document.querySelectorAll(".table-box > table")) table.style.zoom = "";
        for (const { chart } of charts.values()) chart?.resize({ width: "auto", height: "auto" });
        setTheme(dark);
    });
}
