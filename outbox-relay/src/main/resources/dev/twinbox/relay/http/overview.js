// The overview reads /api/v1/status and shows it. Text of the relay stays text: it is never parsed as markup.
const EVERY_MILLIS = 5000;
const FACTS = [
  ["lease", "Lease"],
  ["pausedSince", "Paused since"],
  ["unsent", "Unsent events"],
  ["unsentUnknown", "Unsent events not known"],
  ["oldestUnsentSeconds", "Oldest unsent, seconds"],
  ["parked", "Parked events"],
  ["missingTopics", "Missing topics"],
  ["missingTopicsUnknown", "Missing topics not known"],
  ["position", "Position"],
  ["lastSaveSeconds", "Last save, seconds ago"],
  ["delivery", "Delivery"],
  ["database", "Database"],
  ["role", "Server"],
  ["tables", "Tables"],
  ["retention", "Retention"],
];

const at = (id) => document.getElementById(id);
let token = null; // only in this page: a reload forgets it

function row(name, ...values) {
  const line = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = name;
  line.append(head);
  for (const value of values) {
    const cell = document.createElement("td");
    cell.textContent = value;
    line.append(cell);
  }
  return line;
}

function text(name, value) {
  if (name === "parked") {
    return value.map((each) => `${each.number} ${each.state}`).join(", ") || "none";
  }
  if (name === "missingTopics") {
    return value.map((each) => `${each.topic}: ${each.reason}`).join("; ") || "none";
  }
  return String(value);
}

function show(status) {
  at("relay").textContent = status.relay;
  const reasons = status.stuck.length > 0 ? status.stuck : ["Nothing."];
  at("stuck").replaceChildren(...reasons.map((reason) => {
    const item = document.createElement("li");
    item.textContent = reason;
    item.className = status.stuck.length > 0 ? "stuck" : "";
    return item;
  }));
  const known = FACTS.filter(([name]) => name in status);
  at("facts").replaceChildren(...known.map(([name, label]) => row(label, text(name, status[name]))));
  at("slots").replaceChildren(
    ...status.slots.map((each) => row(each.slot, `${Math.round(each.bytes / 1024)} kB`, each.state)));
}

function report(problem) {
  at("problem").textContent = problem;
  at("problem").hidden = problem === "";
}

async function ask() {
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  const answer = await fetch("/api/v1/status", { headers, credentials: "omit", cache: "no-store" });
  const body = await answer.json();
  at("login").hidden = answer.status !== 401;
  if (answer.ok) {
    show(body);
    at("asked").textContent = `As of ${new Date().toLocaleTimeString()}`;
    report("");
  } else {
    report(body.detail);
  }
}

async function run() {
  if (document.visibilityState === "visible" && (at("login").hidden || token !== null)) {
    try {
      await ask();
    } catch (failure) {
      report(`The relay does not answer: ${failure.message}`);
    }
    if (!at("login").hidden) {
      token = null;
    }
  }
  setTimeout(run, EVERY_MILLIS);
}

at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = at("token").value;
  at("token").value = "";
});
run();
