// Set of selected plans, which notifies the sections.

const selected = new Set(); // keys of points
const listeners = [];
const mostSelected = palette.length;

const selectedPoints = () => points.filter((point) => selected.has(point.key));
const onSelection = (listener) => listeners.push(listener);

/// A selected plan keeps its colour while the selection changes.
const colourOfKey = new Map();
function colourOf(point) {
    return colourOfKey.get(point.key) ?? themeColour("soft");
}

function add(key) {
    if (selected.has(key) || selected.size >= mostSelected) return false;
    const taken = new Set([...selected].map((other) => colourOfKey.get(other)));
    colourOfKey.set(key, palette.find((colour) => !taken.has(colour)));
    selected.add(key);
    return true;
}

function toggle(point) {
    if (!selected.delete(point.key) && !add(point.key)) {
        announce(`Only ${mostSelected} plans can be selected; unselect one first`);
        return;
    }
    announce(`${point.label} ${selected.has(point.key) ? "selected" : "unselected"}: ${point.plan}`);
    for (const listener of listeners) listener();
}

function announce(text) {
    document.getElementById("front-live").textContent = text;
}

/// Shows a note in the sections of selected plans if none is selected.
function startHints() {
    const tell = () => {
        for (const hint of document.querySelectorAll(".unselected")) hint.hidden = selected.size > 0;
    };
    tell();
    onSelection(tell);
}
