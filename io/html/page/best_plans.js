// Which plan is the best on each number of GPUs, given the error of the model.

const shownContenders = 8;

function contestTable(contest) {
    const bar = (share) => element("span", { class: "share", style: `width: ${(100 * share).toFixed(1)}%` });
    const rows = contest.plans.slice(0, shownContenders).map((plan) => element("tr", {},
        element("td", { class: "text" }, plan.plan),
        element("td", {}, quantityText(plan.value, contest.units, 4)),
        element("td", { class: "share-cell" }, bar(plan.best), percent(plan.best)),
        element("td", {}, percent(plan.regret)),
        element("td", {}, percent(plan.fits))));
    return element("div", { class: "table-box" }, element("table", {},
        element("thead", {}, element("tr", {}, element("th", { scope: "col", class: "text" }, `${grouped(contest.gpus)} GPUs`),
            ...[contest.long_name, "is the best", "expected regret", "fits into memory"].map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...rows)));
}

function startBestPlans() {
    const section = document.getElementById("best-plans");
    const place = document.getElementById("best-plans-text");
    for (const study of studies.filter((one) => one.contests.length > 0)) {
        if (studies.length > 1) place.append(element("h3", {}, study.name));
        for (const contest of study.contests) {
            place.append(contestTable(contest), element("p", { class: "note" },
                `${contest.shortlist === 1 ? "The first plan is" : `One of ${contest.shortlist} plans is`} the best with ${percent(contest.cover)}; ` +
                `${counted(contest.contenders, "plan")} ${contest.contenders === 1 ? "is" : "are"} within 15 % of the best.`));
        }
    }
    section.hidden = place.childElementCount === 0;
}
