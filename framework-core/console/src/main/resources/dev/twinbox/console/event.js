// One parked event.
import { count, doing, el, facts, get, table } from "./console.js";

function payload(number) {
  const place = el("div");
  const button = el("button", {
    type: "button",
    "data-do": "payload",
    click: doing(async () => {
      const answer = await get(`/parked/${number}/payload`);
      const text = answer.text ?? answer.base64;
      place.replaceChildren(
        el("p", {}, count(answer.bytes, "byte"), answer.isCut ? ", the beginning of it:" : ":",
          answer.text === undefined && text !== undefined ? " no text, as base64" : ""),
        el("pre", { tabindex: "0" }, text ?? "There is none."));
    }),
  }, "Show the payload");
  return [el("h2", {}, "Payload"), button, place];
}

/**
 * The page.
 * @param change what retries and discards
 * @param shown facts of an event, each with a label and what it shows
 */
export function event(change, shown) {
  function open(root, { number }) {
    return async () => {
      const one = await get(`/parked/${encodeURIComponent(number)}`);
      const button = (name, label) => el("button", {
        type: "button", "data-do": name, click: doing(() => change(name, { numbers: [one.number] })),
      }, label);
      root.replaceChildren(
        el("h2", {}, `Parked event ${one.number}`),
        one.error === undefined ? "" : el("p", { class: "alert" }, one.error),
        el("p", { class: "buttons" }, button("retry", "Retry"), " ", button("discard", "Discard")),
        facts("The event", shown.map(([label, value]) => {
          const known = value(one);
          return [label, known === undefined ? undefined : String(known)];
        })),
        el("h2", {}, "Headers"),
        one.headers.length === 0 ? el("p", {}, "None.")
          : table("Headers", ["Name", "Value"], one.headers.map((each) => [each.name, each.value])),
        ...payload(one.number));
    };
  }
  return { path: "event", label: "Parked event", isInMenu: false, open };
}
