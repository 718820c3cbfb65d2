// Topics that are paused, and what pauses and resumes one.
import { done, doing, el, post, sure, table, time } from "./console.js";

async function pause(topic) {
  const text = "Its events are set aside until somebody resumes it. All other topics are sent.";
  if (await sure(`Pause topic ${topic}?`, text, "Pause topic")) {
    await post("/pause", { topics: [topic] });
    done(`Topic ${topic} is paused.`);
  }
}

/** Sends what was set aside, in order. */
export async function resumeTopic(topic) {
  await post("/resume", { topics: [topic] });
  done(`Topic ${topic} is resumed.`);
}

/** The list, with a button for each topic. */
export function pausedTopics(topics) {
  if (topics.length === 0) {
    return el("p", {}, "No topic is paused.");
  }
  return table("Paused topics", ["Topic", "Since", ""], topics.map((each) => [each.topic, time(each.pausedSince),
    el("button", { type: "button", click: doing(() => resumeTopic(each.topic)) }, "Resume topic")]));
}

/** What pauses a topic by its name. */
export function pauseForm() {
  const name = el("input", { id: "pause-topic", required: "", maxlength: "249", autocomplete: "off" });
  const submit = async (event) => {
    event.preventDefault();
    await pause(name.value);
    name.value = "";
  };
  return el("form", { submit: doing(submit) },
    el("label", { for: "pause-topic" }, "Topic"), " ", name, " ", el("button", {}, "Pause topic"));
}
