// Retry and discard: first counted, then asked, then done.
import { count, done, post, sure } from "./console.js";

const EXPLAINED = {
  retry: "They are sent again, and the later events of their keys follow in order.",
  discard: "They are never sent. This cannot be undone.",
};

/** Changes the selected parked events if the operator is sure; returns whether anything was done. */
export async function change(name, selection) {
  const past = name === "retry" ? "retried" : "discarded";
  const title = name === "retry" ? "Retry" : "Discard";
  const number = (await post(`/parked/${name}`, { ...selection, dryRun: true }))[past];
  if (number === 0) {
    done("There is nothing to do: these events have moved on.");
    return false;
  }
  if (!await sure(`${title} ${count(number, "event")}?`, EXPLAINED[name], `${title} ${count(number, "event")}`)) {
    return false;
  }
  const changed = (await post(`/parked/${name}`, selection))[past];
  done(`${count(changed, "event")} ${past}. The relay does the rest within a second.`);
  return true;
}
