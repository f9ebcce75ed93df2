// Starts all sections of the page.

function startNavigation() {
    const nav = document.getElementById("nav");
    for (const section of document.querySelectorAll("main section")) {
        if (!section.hidden) nav.append(element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
    }
}

/// The words of the page itself, where nothing is trained.
function startWords() {
    if (trains) return;
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) => (node.parentElement.closest("script, style") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
    while (words.nextNode()) words.currentNode.data = words.currentNode.data.replaceAll("Training time", "Run time").replaceAll("training time", "run time").replaceAll("training and step", "run and step");
}

const names = studies.map((study) => study.name).join(" vs. ");
document.getElementById("subtitle").textContent = `${studies.length > 1 ? "" : `Study ${names}, `}minimising ${studies[0].objectives.map((objective) => objective.long_name).join(", ")}; ` +
    `${manyStudies ? `fronts of ${counted(points.length, "plan")}` : studies.map((study) => `${study.provisional ? "provisional " : ""}front of ${counted(study.front.length, "plan")}`).join(" and ")}. ${populationText()}`;
if (manyStudies) document.querySelector("main").prepend(document.getElementById("gains"));
document.getElementById("written-by").textContent = `Written by ${data.program}. Charts: Apache ECharts ${echarts.version}.`;

for (const study of studies.slice(0, fewStudies)) {
    for (const point of [best(study), knee(study)]) if (point) add(point.key);
}
startWords();
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
