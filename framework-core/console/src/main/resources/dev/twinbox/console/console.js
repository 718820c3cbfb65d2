// What all pages of a console share. Text of the server stays text: it is never parsed as markup.
const API = "/api/v1";
const at = (id) => document.getElementById(id);
let role = "stranger";
let current = null; // the view that is open, with its timer
let opened = 0;

/** An element with attributes and children. A function among the attributes listens to the event of that name. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value !== null && value !== false) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A table. Each row is a list of texts or nodes; the labels stand beside them on narrow screens. */
export function table(caption, labels, rows) {
  const body = rows.map((cells) => el("tr", {},
    ...cells.map((cell, index) => el("td", { "data-label": labels[index] }, cell ?? ""))));
  return el("table", { "aria-label": caption },
    el("thead", {}, el("tr", {}, ...labels.map((label) => el("th", { scope: "col" }, label)))),
    el("tbody", {}, ...body));
}

/** A table of names and what they stand for. What is not known is left out. */
export function facts(caption, pairs) {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return el("table", { "aria-label": caption }, el("tbody", {},
    ...known.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))));
}

/** Large figures with their names. */
export function figures(pairs) {
  return el("dl", { class: "figures" },
    ...pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))));
}

/** "1 event", "2 events". */
export const count = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;

export const time = (text) => (text === undefined ? "" : text.replace("T", " ").replace(/\.\d+Z$/, " UTC").replace(/Z$/, " UTC"));

/** What the server refused. */
class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function call(path, options) {
  let answer;
  try {
    answer = await fetch(API + path, { cache: "no-store", credentials: "same-origin", ...options });
  } catch (failure) {
    throw new Problem(0, `The server does not answer: ${failure.message}`);
  }
  const body = await answer.json();
  if (!answer.ok) {
    throw new Problem(answer.status, body.detail);
  }
  return body;
}

const send = (path, body) => call(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
});

async function loggedIn(work) {
  try {
    return await work();
  } catch (problem) {
    const mayHelp = problem.status === 401 || (problem.status === 403 && role !== "operator");
    if (mayHelp && await login(problem.message)) {
      return work();
    }
    throw problem;
  }
}

/** Reads. Asks for a token if one is needed. */
export function get(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined);
  const query = new URLSearchParams(given).toString();
  return loggedIn(() => call(path + (query === "" ? "" : `?${query}`)));
}

/** Changes. Asks for a token if one is needed. */
export const post = (path, body = {}) => loggedIn(() => send(path, body));

/** Shows what is wrong until something succeeds. */
export function report(problem) {
  at("problem").textContent = problem;
  at("problem").hidden = problem === "";
}

/** Says what was done. */
export function done(text) {
  at("done").textContent = text;
}

/** Runs what a button or a form does. */
export function doing(work) {
  return async (event) => {
    event.preventDefault();
    try {
      await work(event);
      report("");
    } catch (problem) {
      report(problem.message);
    }
  };
}

let asked = null; // the login that is being asked for

function login(why) {
  asked ??= new Promise((answer) => {
    at("login-why").textContent = why;
    at("login-problem").textContent = "";
    at("login").returnValue = "";
    at("login").addEventListener("close", () => {
      asked = null;
      at("token").value = "";
      answer(at("login").returnValue === "in");
    }, { once: true });
    at("login").showModal();
  });
  return asked;
}

function known(session) {
  role = session.role;
  const names = { stranger: "", visitor: "Without a token: read only", reader: "Reader", operator: "Operator" };
  at("role").textContent = names[role];
  at("enter").textContent = role === "reader" || role === "operator" ? "Log out" : "Log in";
}

async function sendToken(event) {
  event.preventDefault();
  try {
    known(await send("/login", { token: at("token").value }));
    at("login").close("in");
  } catch (problem) {
    at("login-problem").textContent = problem.message;
    at("token").value = "";
    at("token").focus();
  }
}

async function enterOrLeave() {
  if (role === "reader" || role === "operator") {
    await send("/logout", {});
    known(await get("/session"));
    done("You are logged out.");
  } else if (await login("")) {
    done("You are logged in.");
  }
}

/** Asks before something is done that many may notice. */
export function sure(title, text, button) {
  at("ask-title").textContent = title;
  at("ask-text").textContent = text;
  at("ask-do").textContent = button;
  at("ask-do").disabled = false;
  return new Promise((answer) => {
    const end = (isSure) => () => {
      at("ask").close(isSure ? "yes" : "");
    };
    const yes = end(true);
    const no = end(false);
    at("ask-do").addEventListener("click", yes);
    at("ask-cancel").addEventListener("click", no);
    at("ask").returnValue = "";
    at("ask").addEventListener("close", () => {
      at("ask-do").removeEventListener("click", yes);
      at("ask-cancel").removeEventListener("click", no);
      answer(at("ask").returnValue === "yes");
    }, { once: true });
    at("ask").showModal();
    at("ask-cancel").focus();
  });
}

/** Replaces what a part shows, unless it shows that already: a reader's focus stays where it is. */
export function keeper(part) {
  let shown = null;
  return (data, nodes) => {
    const text = JSON.stringify(data);
    if (text !== shown) {
      shown = text;
      part.replaceChildren(...nodes(data));
    }
  };
}

async function open(views) {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const view = views.find((each) => each.path === path) ?? views[0];
  const number = ++opened;
  clearTimeout(current?.timer);
  for (const link of at("pages").querySelectorAll("a")) {
    link.toggleAttribute("aria-current", link.dataset.path === view.path);
    if (link.dataset.path === view.path) {
      link.setAttribute("aria-current", "page");
    }
  }
  report("");
  const root = el("div", {}, el("h2", {}, view.label));
  at("main").replaceChildren(root);
  const refresh = view.open(root, Object.fromEntries(new URLSearchParams(query ?? "")));
  const turn = async () => {
    if (document.visibilityState === "visible") {
      try {
        await refresh();
        if (number === opened) {
          report("");
        }
      } catch (problem) {
        if (number === opened) {
          report(problem.message);
        }
      }
    }
    if (number === opened && view.every) {
      current = { timer: setTimeout(turn, view.every) };
    }
  };
  await turn();
}

/**
 * Runs the console.
 * @param title of all pages
 * @param views each with a path, a label, whether it is in the menu, milliseconds between two looks, and open(root,
 *   parameters), which fills the page and returns what looks again
 */
export async function start(title, views) {
  document.title = title;
  at("title").textContent = title;
  at("pages").append(...views.filter((view) => view.isInMenu !== false).map((view) => el("li", {},
    el("a", { href: `#/${view.path}`, "data-path": view.path }, view.label))));
  at("login-form").addEventListener("submit", sendToken);
  at("login-cancel").addEventListener("click", () => at("login").close(""));
  at("enter").addEventListener("click", doing(enterOrLeave));
  at("skip").addEventListener("click", () => at("main").focus());
  addEventListener("hashchange", () => {
    done("");
    open(views);
    at("main").focus();
  });
  try {
    known(await get("/session"));
  } catch (problem) {
    report(problem.message);
  }
  open(views);
}
