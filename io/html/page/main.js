// Starts all sections of the page.

function startNavigation() {
    const nav = document.getElementById("nav");
    for (const section of document.querySelectorAll("main section")) {
        if (!section.hidden) nav.append(element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
    }
}

const names = studies.map((study) => study.name).join(" vs. ");
document.getElementById("subtitle").textContent = `${studies.length > 1 ? "" : `Study ${names}, `}minimising ${studies[0].objectives.map((objective) => objective.long_name).join(", ")}; ` +
    `${studies.map((study) => `${study.provisional ? "provisional " : ""}front of ${counted(study.front.length, "plan")}`).join(" and ")}. ${populationText()}`;
document.getElementById("written-by").textContent = `Written by ${data.program}. Charts: Apache ECharts ${echarts.version}.`;

for (const study of studies) {
    for (const point of [best(study), knee(study)]) if (point) add(point.key);
}
startTheme();
startHints();
startSummary();
startGains();
startFront();
startBestPlans();
startTable();
startBatches();
startDistributions();
startBreakdown();
startTimeline();
startSensitivity();
startReliability();
startParallel();
startInfeasible();
startProgress();
startTrust();
startScrollMarks();
startNavigation();
watchWidth();
startPrinting();
document.documentElement.dataset.ready = "true";
