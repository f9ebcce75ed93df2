// Named plans.

const kept = (study) => study.front.filter((point) => !point.dominated && point.objectives.every(([value]) => Number.isFinite(value)));

/// Other plans of the front whose objectives are equal within the sampling error.
const tiesOf = (point) => kept(point.study).filter((other) => (point.ties_with ?? []).includes(other.id));

const namedPoint = (study, name) => study.front.find((point) => point.id === study.named[name]) ?? null;

/// The plan closest to the ideal point, with each objective scaled from the front's best to its worst value.
const knee = (study) => namedPoint(study, "knee");

/// Best in the first objective.
const best = (study) => namedPoint(study, "best");

/// The cheapest plan whose first objective is within `share` of the best.
function cheapestWithin(study, share) {
    const least = best(study);
    if (least === null) return null;
    const limit = least.objectives[0][0] + share * Math.abs(least.objectives[0][0]);
    const near = kept(study).filter((point) => point.objectives[0][0] <= limit);
    const cost = (point) => point.estimates.cost[0];
    return near.reduce((cheapest, point) => (cheapest === null || cost(point) < cost(cheapest) ? point : cheapest), null);
}

const overlap = (a, b) => a[1] !== null && b[1] !== null && a[1] <= b[2] && b[1] <= a[2];
