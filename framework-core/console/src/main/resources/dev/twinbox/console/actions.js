// What operators have changed.
import { doing, el, get, table, time } from "./console.js";

function open(root) {
  const part = el("div");
  const more = el("p");
  root.append(el("p", {}, "What operators have changed in the last 30 days, the newest first."), part, more);
  const rows = [];
  const list = async (before) => {
    const page = await get("/actions", before === undefined ? {} : { before });
    rows.push(...page.actions.map((each) => [
      time(each.at), each.who, each.via, each.action, each.selection ?? "", each.events === undefined ? "" : String(each.events)]));
    part.replaceChildren(rows.length === 0 ? el("p", {}, "Nothing.")
      : table("Actions", ["When", "Who", "By", "What", "Which events", "How many"], rows));
    more.replaceChildren(page.next === undefined
      ? "" : el("button", { type: "button", click: doing(() => list(page.next)) }, "Show more"));
  };
  return () => {
    rows.length = 0;
    return list();
  };
}

export const actions = { path: "actions", label: "Action log", open };
