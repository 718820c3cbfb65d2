// Where is my event, and which parked events match a filter.
import { count, doing, el, get, table } from "./console.js";

function field(name, label, value) {
  return el("label", {}, label, el("input", { name, value: value ?? "", autocomplete: "off", spellcheck: "false" }));
}

function values(form) {
  return Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim() !== ""));
}

function found(event) {
  const records = event.records ?? [];
  const where = records.map((each) => `${each.topic}, partition ${each.partition}, offset ${each.offset}`).join("; ");
  const parked = [event.parked ?? []].flat().flatMap((each) => [" ",
    el("a", { href: `#/event?number=${each.number}` }, `parked as ${each.number}`)]);
  return [event.id ?? "", event.state, el("span", {}, event.explanation, " ", where, ...parked)];
}

function whereForm(result) {
  const form = el("form", {
    submit: doing(async () => {
      const { id, key, topic } = values(form);
      const answer = id === undefined
        ? await get("/events", { key, topic }) : await get(`/events/${encodeURIComponent(id)}`, { key, topic });
      const events = answer.events ?? [answer];
      result.replaceChildren(
        events.length === 0 ? el("p", {}, "No event of this key was found.")
          : table("Events", ["Id", "State", "What it means"], events.map(found)),
        answer.isCut ? el("p", { class: "alert" }, "The search was cut: there may be more.") : "");
    }),
  }, field("id", "Id of the event"), field("key", "or its key"), field("topic", "Topic, if you know it"),
  el("button", {}, "Where is it?"));
  return form;
}

/**
 * The page.
 * @param change what retries and discards
 * @param filters of parked events, each with its name and label
 * @param columns of the list, each with a label and what it shows of an event
 */
export function search(change, filters, columns) {
  const line = (event) => [el("a", { href: `#/event?number=${event.number}` }, String(event.number)),
    ...columns.map(([, shown]) => String(shown(event) ?? ""))];
  const labels = ["Number", ...columns.map(([label]) => label)];
  function open(root, parameters) {
    const result = el("div", { "aria-live": "polite" });
    const parked = el("div");
    const more = el("p");
    const rows = [];
    let chosen = {};
    const list = async (after) => {
      const page = await get("/parked", { ...chosen, ...(after === undefined ? {} : { after }) });
      rows.push(...page.parked.map(line));
      parked.replaceChildren(
        el("p", { role: "status" }, rows.length === 0 ? "No parked event matches." : `${count(rows.length, "event")} shown.`),
        rows.length === 0 ? "" : table("Parked events", labels, rows));
      more.replaceChildren(page.next === undefined
        ? "" : el("button", { type: "button", click: doing(() => list(page.next)) }, "Show more"));
    };
    const again = async () => {
      chosen = values(form);
      rows.length = 0;
      await list();
    };
    const all = (name, label) => el("button", {
      type: "button",
      click: doing(async () => {
        const selection = values(form);
        if (await change(name, Object.keys(selection).length === 0 ? { all: true } : selection)) {
          await again();
        }
      }),
    }, label);
    const form = el("form", { submit: doing(again) },
      ...filters.map(([name, label]) => field(name, label, parameters[name])),
      el("button", {}, "List"), all("retry", "Retry all that match"), all("discard", "Discard all that match"));
    root.append(whereForm(result), result, el("h2", {}, "Parked events"), form, parked, more);
    return again;
  }
  return { path: "search", label: "Search", open };
}
