// How the relay stands: figures of this process each second, of the tables every fifth time.
import { done, doing, el, facts, figures, get, keeper, post, sure, table } from "./console.js";
import { Chart } from "./chart.js";
import { pausedTopics, pauseForm } from "./topics.js";

const EVERY = 5;

const FACTS = [
  ["lease", "Lease"],
  ["pausedSince", "Paused since"],
  ["unsentUnknown", "Unsent events not known"],
  ["missingTopicsUnknown", "Missing topics not known"],
  ["position", "Position"],
  ["lastSaveSeconds", "Last save, seconds ago"],
  ["delivery", "Delivery"],
  ["database", "Database"],
  ["role", "Server"],
  ["tables", "Tables"],
  ["retention", "Retention"],
];

function list(caption, texts) {
  return texts.length === 0 ? el("p", {}, "Nothing.") : el("ul", { "aria-label": caption },
    ...texts.map((text) => el("li", { class: "alert" }, text)));
}

function troubles(process, status) {
  const down = process.checks.filter((check) => check.status === "DOWN");
  const missing = status.missingTopics ?? [];
  return [
    ...status.stuck,
    ...down.map((check) => `${check.name}: ${check.data.cause}`),
    ...missing.map((each) => `topic ${each.topic}: ${each.reason}`),
  ];
}

async function pause() {
  if (await sure("Pause the relay?", "Nothing is sent to any topic until somebody resumes it.", "Pause")) {
    await post("/pause");
    done("The relay is paused.");
  }
}

async function resume() {
  await post("/resume");
  done("The relay is resumed.");
}

function open(root) {
  const numbers = el("div");
  const plot = el("div", { role: "img", "aria-label": "Events sent each second, and events in flight" });
  const trouble = el("div");
  const buttons = el("p");
  const topics = el("div");
  const rest = el("div");
  root.append(numbers, plot, el("h2", {}, "What keeps events from being sent"), trouble, buttons,
    el("h2", {}, "Paused topics"), topics, pauseForm(), rest);
  const chart = new Chart(plot, ["Sent each second", "In flight"]);
  const [showTrouble, showButtons, showTopics, showRest] = [trouble, buttons, topics, rest].map(keeper);
  let status = null;
  let before = null;
  let turn = 0;
  return async () => {
    const process = await get("/process");
    const now = performance.now();
    const sent = before === null ? 0 : (process.acknowledged - before.sent) / ((now - before.now) / 1000);
    before = { sent: process.acknowledged, now };
    chart.add(Math.max(0, sent), process.inFlight);
    if (status === null || turn++ % EVERY === 0) {
      status = await get("/status");
    }
    const parked = status.parked.reduce((sum, each) => sum + each.number, 0);
    numbers.replaceChildren(figures([
      ["Sent each second", process.lease === "held" ? Math.max(0, sent).toFixed(0) : "by the owner"],
      ["Unsent events", status.unsent ?? "not known"],
      ["Oldest unsent", status.oldestUnsentSeconds === undefined ? "–" : `${status.oldestUnsentSeconds} s`],
      ["In flight", process.inFlight],
      ["Parked events", parked],
      ["This process", process.lease === "held" ? "owner" : process.lease],
    ]));
    showTrouble(troubles(process, status), (all) => [
      list("Troubles", all),
      parked > 0 ? el("p", {}, el("a", { href: "#/stuck" }, "See which keys are stuck, and free them")) : null,
    ].filter((each) => each !== null));
    showButtons("pausedSince" in status, (isPaused) => [isPaused
      ? el("button", { type: "button", click: doing(resume) }, "Resume sending")
      : el("button", { type: "button", click: doing(pause) }, "Pause sending")]);
    showTopics(status.pausedTopics, (paused) => [pausedTopics(paused)]);
    const known = FACTS.map(([name, label]) => [label, status[name] === undefined ? undefined : String(status[name])]);
    showRest(status, () => [
      el("h2", {}, "How the relay stands"),
      facts("Facts", [["Relay", status.relay], ["Owner", process.owner], ...known]),
      el("h2", {}, "Slots of the event table"),
      table("Slots", ["Slot", "Size", "State"],
        status.slots.map((each) => [String(each.slot), `${Math.round(each.bytes / 1024)} kB`, each.state])),
    ]);
  };
}

export const overview = { path: "overview", label: "Overview", every: 1000, open };
