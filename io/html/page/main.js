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

/// The job that all studies share; otherwise the comparison lists them.
function jobsText() {
    const jobs = new Set(studies.map((study) => study.title));
    return jobs.size === 1 ? studies[0].title : "Different jobs or machines";
}

const names = studies.map((study) => study.name).join(" vs. ");
document.getElementById("subtitle").textContent = `${studies.length > 1 ? `${jobsText()}. Minimising` : `Study ${names}, minimising`} ${studies[0].objectives.map((objective) => objective.long_name).join(", ")}; ` +
    `${manyStudies ? `fronts of ${counted(points.length, "plan")}` : studies.map((study) => `${study.provisional ? "provisional " : ""}front of ${counted(study.front.length, "plan")}`).join(" and ")}. ${populationText()}`;
if (studies.length > 1) document.querySelector("main").prepend(...["gains", "front", "completion"].map((id) => document.getElementById(id)));
document.getElementById("written-by").textContent = `Written by ${data.program}. Charts: Apache ECharts ${echarts.version}.`;

for (const study of studies.slice(0, fewStudies)) {
    for (const point of [subjectOf(study), best(study), knee(study)]) if (point) add(point.key);
}
startWords();
startTheme();
startHints();
startSummary();
startCompletion();
startSizes();
startChanges();
startAssumed();
startGains();
startFront();
startBestPlans();
startTable();
startBatches();
startKnobs();
startDistributions();
startBreakdown();
startTimeline();
startSensitivity();
startReliability();
startParallel();
startInfeasible();
startProgress();
startMachines();
startTrust();
startScrollMarks();
startNavigation();
watchWidth();
startPrinting();
document.documentElement.dataset.ready = "true";
