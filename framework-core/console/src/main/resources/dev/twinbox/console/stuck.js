// Keys that stand still, by cause, with what helps.
import { count, doing, el, get, keeper, time } from "./console.js";

function card(group, change, which, instead, refresh) {
  const selection = which(group);
  const button = (name, label) => el("button", {
    type: "button",
    "data-do": name,
    click: doing(async () => {
      if (await change(name, selection)) {
        await refresh();
      }
    }),
  }, label);
  const other = instead(group);
  const where = new URLSearchParams(selection).toString();
  return el("section", { class: "card", "data-cause": group.cause },
    el("h3", {}, group.topic === undefined ? group.title : `${group.title}: ${group.topic}`),
    el("p", {}, `${count(group.keys, "key")} with ${count(group.events, "event")}, ${group.refused} of them given up.`,
      ` The oldest stands since ${time(group.oldest)}.`),
    el("p", {}, el("strong", {}, "What helps: "), group.remedy),
    group.error === undefined ? null : el("details", {}, el("summary", {}, "The error of the first one"),
      el("p", {}, group.error)),
    el("p", { class: "buttons" },
      other === null ? button("retry", "Retry all of this cause") : el("button", {
        type: "button",
        click: doing(async () => {
          await other.run();
          await refresh();
        }),
      }, other.label), " ",
      button("discard", "Discard all of this cause"), " ",
      el("a", { href: `#/event?number=${group.example}` }, "See the first one"), " ",
      el("a", { href: `#/search?${where}` }, "List them")));
}

/**
 * The page.
 * @param change what retries and discards
 * @param which the selection of a group's events
 * @param instead what helps instead of a retry, as a label and what runs; null: a retry helps
 */
export function stuck(change, which, instead = () => null) {
  return {
    path: "stuck",
    label: "Stuck keys",
    every: 3000,
    open(root) {
      const part = el("div");
      root.append(part);
      const show = keeper(part);
      const refresh = async () => show(await get("/causes"), (all) => [
        all.causes.length === 0 ? el("p", {}, "No key is stuck.") : "",
        all.moving > 0 ? el("p", {}, `${count(all.moving, "parked event")} move by themselves.`) : "",
        all.isCut ? el("p", { class: "alert" }, "There are more than were counted.") : "",
        ...all.causes.map((group) => card(group, change, which, instead, refresh)),
      ]);
      return refresh;
    },
  };
}
