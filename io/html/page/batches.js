// What choices of the training cost: a table of each, with the best plan of each row.

function showChoices(id) {
    const shown = studies.filter((study) => study[id].cells.length > 0);
    document.getElementById(id).hidden = shown.length === 0;
    const place = document.getElementById(`${id}-text`);
    for (const study of shown) {
        const { title, cells, note } = study[id];
        placeOf(study, place).append(element("p", {}, title), plainTable(cells[0], cells.slice(1)), element("p", { class: "note" }, note));
    }
}

// Global batches: tokens, steps and the best plan of each, or the stages of a batch ramp; precisions and attention kernels; steps between two
// exchanges of buildings.
function startBatches() {
    showChoices("batches");
    showChoices("numerics");
    showChoices("apart");
}

/// Break-even prices of the values of knobs.
function startKnobs() {
    const shown = studies.filter((study) => study.knobs.cells.length > 0);
    document.getElementById("knobs").hidden = shown.length === 0;
    const place = document.getElementById("knobs-text");
    for (const study of shown) {
        const figure = element("div", { class: "picture" });
        figure.innerHTML = study.knobs.svg;
        placeOf(study, place).append(
            element("p", {}, "Addition to the price of a GPU-hour at which a machine costs as much as the base, each with its cheapest plan; limits follow from the draws and bounds of both."),
            figure, plainTable(study.knobs.cells[0], study.knobs.cells.slice(1), "stacks labelled"),
            ...study.knobs.notes.map((note) => element("p", { class: "note" }, note)));
    }
}
