import { actions } from "./actions.js";
import { changes } from "./change.js";
import { start, time } from "./console.js";
import { event } from "./event.js";
import { overview } from "./overview.js";
import { resume } from "./paused.js";
import { search } from "./search.js";
import { stuck } from "./stuck.js";

const change = changes({
  retry: "Their handlers are called again, and the later events of their keys follow in order.",
  discard: "Their handlers are never called. This cannot be undone.",
  rest: "The application does the rest within a few seconds, if it runs.",
});
const filters = [
  ["group", "Consumer group"], ["handler", "Handler"], ["topic", "Topic"], ["key", "Key"], ["type", "Type"],
  ["error", "Error contains"], ["since", "Since, or an age such as PT1H"],
];
const columns = [
  ["State", (each) => each.state], ["Handler", (each) => each.handler], ["Topic", (each) => each.topic],
  ["Key", (each) => each.key], ["Type", (each) => each.type], ["Since", (each) => time(each.parkedAt)],
  ["Error", (each) => each.error],
];
const shown = [
  ["State", (each) => each.state], ["Consumer group", (each) => each.group], ["Handler", (each) => each.handler],
  ["Topic", (each) => each.topic], ["Partition", (each) => each.partition], ["Offset", (each) => each.offset],
  ["Key", (each) => each.key], ["Id", (each) => each.id], ["Type", (each) => each.type],
  ["Parked", (each) => time(each.parkedAt)], ["Attempts", (each) => each.attempts],
  ["Failed last", (each) => time(each.failedAt)], ["Next attempt", (each) => time(each.nextTry)],
  ["Time of the record", (each) => time(each.time)], ["Bytes of the value", (each) => each.valueBytes],
];

start("Twinbox receiver", [
  overview,
  stuck(change, (group) => group.selection, (group) => group.isPaused
    ? { label: "Resume the handler", run: () => resume("handler", group.handler, group.group) }
    : null),
  search(change, filters, columns),
  actions,
  event(change, shown),
]);
