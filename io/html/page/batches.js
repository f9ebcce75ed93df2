// Global batches: tokens, steps and the best plan of each; or the stages of a batch ramp.

function startBatches() {
    const shown = studies.filter((study) => study.batches.cells.length > 0);
    document.getElementById("batches").hidden = shown.length === 0;
    const place = document.getElementById("batches-text");
    for (const study of shown) {
        const { title, cells, note } = study.batches;
        if (studies.length > 1) place.append(element("h3", {}, study.name));
        place.append(element("p", {}, `${title}.`), plainTable(cells[0], cells.slice(1)), element("p", { class: "note" }, note));
    }
}
