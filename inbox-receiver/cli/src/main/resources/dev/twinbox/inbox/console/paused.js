// Topics and handlers that are paused, and what pauses and resumes one.
import { done, doing, el, post, sure, table, time } from "./console.js";

const KINDS = {
  topic: { list: "topics", title: "Topic", text: "Its partitions are held until somebody resumes it. All other topics go on." },
  handler: {
    list: "handlers",
    title: "Handler",
    text: "Its events are parked in order until somebody resumes it. All other handlers go on.",
  },
};

async function pause(kind, name) {
  const { list, title, text } = KINDS[kind];
  if (await sure(`Pause ${kind} ${name}?`, text, `Pause ${kind}`)) {
    const answer = await post("/pause", { [list]: [name] });
    done([`${title} ${name} is paused.`, ...(answer.warnings ?? [])].join(" "));
  }
}

/** Lets events follow, in order. */
export async function resume(kind, name, group) {
  const { list, title } = KINDS[kind];
  await post("/resume", { [list]: [name], group });
  done(`${title} ${name} of group ${group} is resumed.`);
}

/** The list, with a button for each. */
export function pausedList(topics, handlers) {
  const all = [...topics.map((each) => ["topic", each.topic, each]), ...handlers.map((each) => ["handler", each.handler, each])];
  if (all.length === 0) {
    return el("p", {}, "No topic and no handler is paused.");
  }
  return table("Paused topics and handlers", ["What", "Name", "Group", "Since", ""], all.map(([kind, name, each]) => [
    KINDS[kind].title, name, each.group, time(each.pausedSince),
    el("button", { type: "button", click: doing(() => resume(kind, name, each.group)) }, `Resume ${kind}`)]));
}

/** What pauses a topic or a handler by its name. */
export function pauseForm(kind) {
  const id = `pause-${kind}`;
  const name = el("input", { id, required: "", maxlength: "249", autocomplete: "off" });
  const submit = async (event) => {
    event.preventDefault();
    await pause(kind, name.value);
    name.value = "";
  };
  return el("form", { submit: doing(submit) },
    el("label", { for: id }, KINDS[kind].title), " ", name, " ", el("button", {}, `Pause ${kind}`));
}
