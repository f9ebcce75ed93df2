// Comparison of studies: gains over the first study, and differences.

function startGains() {
    const { gains, hypervolumes, differences } = data.comparison;
    document.getElementById("gains").hidden = differences === "";
    if (differences === "") return;
    const warning = differences.split("\n").filter((line) => line.startsWith("Warning")).join(" ");
    const place = document.getElementById("gains-text");
    if (warning) place.append(element("p", { class: "warning" }, warning));
    if (gains.length > 0) place.append(plainTable(gains[0], gains.slice(1)), element("p", { class: "note" }, hypervolumes.trim()));
    else place.append(element("p", {}, "A front is empty: there is nothing to compare."));
    place.append(element("pre", { tabindex: "0" }, differences.trim()));
}
