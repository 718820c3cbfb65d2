import { actions } from "./actions.js";
import { changes } from "./change.js";
import { start, time } from "./console.js";
import { event } from "./event.js";
import { overview } from "./overview.js";
import { search } from "./search.js";
import { stuck } from "./stuck.js";
import { resumeTopic } from "./topics.js";

const change = changes({
  retry: "They are sent again, and the later events of their keys follow in order.",
  discard: "They are never sent. This cannot be undone.",
  rest: "The relay does the rest within a second.",
});
const filters = [
  ["topic", "Topic"], ["key", "Key"], ["type", "Type"], ["error", "Error contains"],
  ["since", "Since, or an age such as PT1H"], ["cause", "Cause"],
];
const columns = [
  ["State", (each) => each.state], ["Topic", (each) => each.topic], ["Key", (each) => each.key],
  ["Type", (each) => each.type], ["Since", (each) => time(each.parkedAt)], ["Error", (each) => each.error],
];
const shown = [
  ["State", (each) => each.state], ["Topic", (each) => each.topic], ["Key", (each) => each.key],
  ["Id", (each) => each.id], ["Type", (each) => each.type], ["Events of its key after it", (each) => each.behind],
  ["Parked", (each) => time(each.parkedAt)], ["Attempts", (each) => each.attempts],
  ["Source", (each) => each.source], ["Subject", (each) => each.subject], ["Occurred", (each) => each.occurredAt],
  ["Content type", (each) => each.contentType],
];

start("Twinbox relay", [
  overview,
  stuck(change, (group) => ({ cause: group.cause, topic: group.topic }), (group) => group.cause === "paused"
    ? { label: "Resume the topic", run: () => resumeTopic(group.topic) }
    : null),
  search(change, filters, columns),
  actions,
  event(change, shown),
]);
