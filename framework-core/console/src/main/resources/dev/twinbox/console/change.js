// Retry and discard: first counted, then asked, then done.
import { count, done, post, sure } from "./console.js";

/**
 * What changes the selected parked events if the operator is sure, and returns whether anything was done.
 * @param explained what "retry" and "discard" do, and "rest": what comes after it
 */
export function changes(explained) {
  return async (name, selection) => {
    const past = name === "retry" ? "retried" : "discarded";
    const title = name === "retry" ? "Retry" : "Discard";
    const counted = await post(`/parked/${name}`, { ...selection, dryRun: true });
    const number = counted[past];
    if (number === 0) {
      done("There is nothing to do: these events have moved on.");
      return false;
    }
    const text = [explained[name], ...(counted.warnings ?? [])].join(" ");
    if (!await sure(`${title} ${count(number, "event")}?`, text, `${title} ${count(number, "event")}`)) {
      return false;
    }
    const changed = (await post(`/parked/${name}`, selection))[past];
    done(`${count(changed, "event")} ${past}. ${explained.rest}`);
    return true;
  };
}
