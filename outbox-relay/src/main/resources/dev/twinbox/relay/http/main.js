import { start } from "./console.js";
import { actions } from "./actions.js";
import { event } from "./event.js";
import { overview } from "./overview.js";
import { search } from "./search.js";
import { stuck } from "./stuck.js";

start("Twinbox relay", [overview, stuck, search, actions, event]);
