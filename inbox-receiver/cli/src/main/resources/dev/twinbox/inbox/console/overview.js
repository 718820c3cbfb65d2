// How the receivers of this inbox stand, by the tables and by Kafka.
import { el, facts, figures, get, keeper, table, time } from "./console.js";
import { Chart } from "./chart.js";
import { pausedList, pauseForm } from "./paused.js";

const unknown = (value) => value ?? "not known";

function list(texts) {
  return texts.length === 0 ? el("p", {}, "Nothing.") : el("ul", { "aria-label": "Troubles" },
    ...texts.map((text) => el("li", { class: "alert" }, text)));
}

function sum(values) {
  return values.some((value) => value === undefined) ? undefined : values.reduce((all, each) => all + each, 0);
}

function groups(status) {
  return table("Consumer groups", ["Group", "State", "Instances", "Lag", "Partitions"],
    status.groups.map((each) => [each.group, unknown(each.state), String(unknown(each.members)),
      String(unknown(each.lag)), each.partitions.map((one) =>
        `${one.topic} ${one.partition}: ${unknown(one.lag)}`).join(", ")]));
}

function handlers(status) {
  const done = (row) => status.effects.find((each) => each.group === row.group && each.handler === row.handler);
  return table("Handlers", ["Group", "Handler", "Topic", "Type", "Running", "Effects of the last hour"],
    status.handlers.map((each) => [each.group, each.handler, each.topic, each.type, each.running ? "yes" : "no",
      `${done(each)?.lastHour ?? 0}${done(each)?.isCut ? " or more" : ""}`]));
}

function open(root) {
  const numbers = el("div");
  const plot = el("div", { role: "img", "aria-label": "Lag in records, and parked events" });
  const trouble = el("div");
  const paused = el("div");
  const rest = el("div");
  root.append(numbers, plot, el("h2", {}, "What keeps events from being handled"), trouble,
    el("h2", {}, "Paused topics and handlers"), paused, pauseForm("topic"), pauseForm("handler"), rest);
  const chart = new Chart(plot, ["Lag", "Parked"]);
  const [showTrouble, showPaused, showRest] = [trouble, paused, rest].map(keeper);
  return async () => {
    const status = await get("/status");
    const lag = status.groups.length === 0 ? undefined : sum(status.groups.map((each) => each.lag));
    const parked = status.parked === undefined ? undefined : sum(status.parked.map((each) => each.number));
    chart.add(lag ?? null, parked ?? null);
    numbers.replaceChildren(figures([
      ["Lag in records", unknown(lag)],
      ["Parked events", unknown(parked)],
      ["Given up", unknown(status.parked === undefined ? undefined
        : sum(status.parked.filter((each) => each.state === "DEAD" || each.state === "PASSED").map((each) => each.number)))],
      ["Rows of the inbox, about", unknown(status.inboxRows)],
    ]));
    showTrouble(status.troubles, (all) => [list(all),
      parked > 0 ? el("p", {}, el("a", { href: "#/stuck" }, "See which keys are stuck, and free them")) : ""]);
    showPaused([status.pausedTopics, status.pausedHandlers], ([topics, handlers]) => [topics === undefined
      ? el("p", {}, "Not known.")
      : pausedList(topics, handlers)]);
    showRest(status, () => [
      el("h2", {}, "Consumer groups"), groups(status),
      ...(status.handlers === undefined ? [] : [el("h2", {}, "Handlers"), handlers(status)]),
      el("h2", {}, "Tables"),
      facts("Tables", [["Version", status.version], ["Oldest parked event", time(status.oldestParkedAt)],
        ...(status.retention ?? []).map((each) => [`Rows deleted of ${each.group} up to`, time(each.doneTo)])]),
    ]);
  };
}

export const overview = { path: "overview", label: "Overview", every: 5000, open };
