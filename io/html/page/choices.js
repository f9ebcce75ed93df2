// Plans that are worth naming.

const kept = (study) => study.front.filter((point) => !point.dominated && point.objectives.every(([value]) => Number.isFinite(value)));

/// Other plans of the front that are equal in all that is minimised.
const tiesOf = (point) => kept(point.study).filter((other) => other !== point && other.objectives.every(([value], k) => value === point.objectives[k][0]));

/// The plan nearest to the best of every objective at once, each on the scale from the front's best to its worst.
function knee(study) {
    const members = kept(study);
    const ends = study.objectives.map((_, k) => {
        const values = members.map((point) => point.objectives[k][0]);
        return [Math.min(...values), Math.max(...values)];
    });
    const distance = (point) => Math.hypot(...point.objectives.map(([value], k) => {
        const [low, high] = ends[k];
        return high > low ? (value - low) / (high - low) : 0;
    }));
    return members.reduce((best, point) => (best === null || distance(point) < distance(best) ? point : best), null);
}

/// Best in the first objective.
function best(study) {
    return kept(study).reduce((least, point) => (least === null || point.objectives[0][0] < least.objectives[0][0] ? point : least), null);
}

/// The cheapest of those whose first objective is within `share` of the best.
function cheapestWithin(study, share) {
    const least = best(study);
    if (least === null) return null;
    const limit = least.objectives[0][0] + share * Math.abs(least.objectives[0][0]);
    const near = kept(study).filter((point) => point.objectives[0][0] <= limit);
    const cost = (point) => point.estimates.cost[0];
    return near.reduce((cheapest, point) => (cheapest === null || cost(point) < cost(cheapest) ? point : cheapest), null);
}

const overlap = (a, b) => a[1] !== null && b[1] !== null && a[1] <= b[2] && b[1] <= a[2];
