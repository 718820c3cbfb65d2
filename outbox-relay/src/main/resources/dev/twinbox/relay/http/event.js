// One parked event.
import { count, doing, el, facts, get, table, time } from "./console.js";
import { change } from "./change.js";

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

function open(root, { number }) {
  const refresh = async () => {
    const event = await get(`/parked/${encodeURIComponent(number)}`);
    const button = (name, label) => el("button", {
      type: "button", "data-do": name, click: doing(() => change(name, { numbers: [event.number] })),
    }, label);
    root.replaceChildren(
      el("h2", {}, `Parked event ${event.number}`),
      event.error === undefined ? "" : el("p", { class: "alert" }, event.error),
      el("p", { class: "buttons" }, button("retry", "Retry"), " ", button("discard", "Discard")),
      facts("The event", [
        ["State", event.state], ["Topic", event.topic], ["Key", event.key], ["Id", event.id], ["Type", event.type],
        ["Events of its key after it", String(event.behind)], ["Parked", time(event.parkedAt)],
        ["Attempts", String(event.attempts)], ["Source", event.source], ["Subject", event.subject],
        ["Occurred", event.occurredAt], ["Content type", event.contentType],
      ]),
      el("h2", {}, "Headers"),
      event.headers.length === 0 ? el("p", {}, "None.")
        : table("Headers", ["Name", "Value"], event.headers.map((each) => [each.name, each.value])),
      ...payload(event.number));
  };
  return refresh;
}

export const event = { path: "event", label: "Parked event", isInMenu: false, open };
