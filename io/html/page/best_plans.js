// Which plan is the best on each number of GPUs, given the error of the model.

const shownContenders = 8;

const contestPlans = (contest) => contest.plans.slice(0, shownContenders);

function contestTable(contest) {
    const bar = (share) => element("span", { class: "share", style: `width: ${(100 * share).toFixed(1)}%` });
    const rows = contestPlans(contest).map((plan) => element("tr", {},
        element("td", { class: "text" }, plan.plan),
        element("td", {}, quantityText(plan.value, contest.units, 4)),
        element("td", { class: "share-cell" }, bar(plan.best), chanceText(plan.best)),
        element("td", {}, percent(plan.regret)),
        element("td", {}, chanceText(plan.fits))));
    return element("div", { class: "table-box" }, element("table", {},
        element("thead", {}, element("tr", {}, element("th", { scope: "col", class: "text" }, `${grouped(contest.gpus)} GPUs`),
            ...[contest.long_name, "is the best", "expected regret", "fits into memory"].map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...rows)));
}

/// An interval per plan, with the predicted value and the share of draws in which it is the best.
function contestOption(contest) {
    const plans = contestPlans(contest).filter((plan) => plan.low !== null && plan.high !== null);
    if (plans.length === 0) return null;
    const unit = unitFor(contest.units, largestOf(plans.map((plan) => plan.high)));
    const base = baseOption(`${grouped(contest.gpus)} GPUs: 90 % of draws`);
    const wide = narrow() ? 110 : 300;
    return {
        ...base,
        grid: { left: 14, right: 64, top: 40, bottom: 44, containLabel: true },
        tooltip: {
            ...base.tooltip, trigger: "item",
            formatter: ({ data: [, , , , i] }) => `${escaped(plans[i].plan)}<br>${quantityText(plans[i].low, contest.units, 4)} to ` +
                `${quantityText(plans[i].high, contest.units, 4)} in 90 % of draws<br>the best in ${chanceText(plans[i].best)}`,
        },
        xAxis: { type: "value", scale: true, ...axisStyle(unit.name ? `${contest.long_name} (${unit.name})` : contest.long_name) },
        yAxis: {
            type: "category", inverse: true, data: plans.map((plan) => plan.plan), axisTick: { show: false },
            axisLine: { show: false }, axisLabel: { color: themeColour("soft"), width: wide, overflow: "truncate", interval: 0 },
        },
        series: [{
            type: "custom", encode: { x: [0, 2, 3], y: 1 },
            data: plans.map((plan, i) => [plan.value / unit.size, i, plan.low / unit.size, plan.high / unit.size, i]),
            renderItem: (params, api) => {
                const [left, y] = api.coord([api.value(2), api.value(1)]);
                const [right] = api.coord([api.value(3), api.value(1)]);
                const [middle] = api.coord([api.value(0), api.value(1)]);
                const { best } = plans[api.value(1)];
                const colour = palette[0];
                return { type: "group", children: [
                    { type: "rect", shape: { x: left, y: y - 5, width: right - left, height: 10, r: 3 }, style: { fill: colour, opacity: 0.2 + 0.6 * best } },
                    { type: "line", shape: { x1: middle, x2: middle, y1: y - 8, y2: y + 8 }, style: { stroke: themeColour("text"), lineWidth: 2 } },
                    { type: "text", style: { text: chanceText(best), x: right + 8, y, align: "left", verticalAlign: "middle", fill: themeColour("text"), fontSize: 12 } },
                ] };
            },
        }],
    };
}

/// The most probable plan of each number of GPUs.
function contestsTable(study) {
    const rows = study.contests.filter((contest) => contest.plans.length > 0).map((contest) => {
        const [first] = contest.plans;
        return element("tr", {}, element("td", {}, grouped(contest.gpus)), element("td", {}, quantityText(first.value, contest.units, 4)), element("td", {}, chanceText(first.best)),
            element("td", {}, percent(first.regret)), element("td", {}, chanceText(first.fits)), element("td", { class: "text" }, first.plan));
    });
    const { long_name: name } = study.contests[0];
    return element("div", { class: "table-box" }, element("table", { class: "overview" },
        element("thead", {}, element("tr", {}, ...["GPUs", name, "is the best", "expected regret", "fits into memory"].map((head) => element("th", { scope: "col" }, head)), element("th", { scope: "col", class: "text" }, "most probable plan"))),
        element("tbody", {}, ...rows)));
}

/// All that is known of the plans on one number of GPUs, folded; its chart is made when it is opened.
function contestDetails(contest, id) {
    const title = `${grouped(contest.gpus)} GPUs: ${contest.shortlist === 1 ? "the first plan is" : `one of ${contest.shortlist} plans is`} the best with ${chanceText(contest.cover)}`;
    const details = element("details", {}, element("summary", {}, title), contestTable(contest));
    const place = element("div", { class: "chart contest", id, style: `height: ${100 + 30 * contestPlans(contest).length}px` });
    details.append(place, element("p", { class: "note" }, `${counted(contest.contenders, "plan")} ${contest.contenders === 1 ? "is" : "are"} within 30 % of the best.`));
    details.addEventListener("toggle", () => {
        if (!details.open || charts.has(id)) return;
        makeChart(id, `Plans on ${grouped(contest.gpus)} GPUs: intervals of ${contest.long_name} and shares of draws in which each is the best`, () => contestOption(contest));
        followWidth(place);
    });
    return details;
}

function startBestPlans() {
    const section = document.getElementById("best-plans");
    const place = document.getElementById("best-plans-text");
    let count = 0;
    for (const study of studies.filter((one) => one.contests.length > 0)) {
        const own = placeOf(study, place);
        own.append(contestsTable(study), ...study.contests.map((contest) => contestDetails(contest, `best-plans-chart-${count++}`)));
    }
    section.hidden = place.childElementCount === 0;
}
