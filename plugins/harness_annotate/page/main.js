// Starts a session with the token of the invitation, and shows the view of the person's role.

import { ask, el, fail, head, show, state } from "./base.js";
import * as judge from "./judge.js";
import * as review from "./review.js";

async function start() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname); // removes the token from the address
    try { await ask("/enter", { token }); } catch (error) { if (error.status !== 401) throw error; }
  }
  try {
    state.about = await ask("/about");
  } catch (error) {
    if (error.status !== 401) throw error;
    enter();
    return;
  }
  fail(null);
  document.title = `Judging ${state.about.pool}`;
  head(null);
  await (state.about.role === "reviewer" ? review : judge).begin();
}

/** A form for people without a session, who type or paste the token of their link. */
function enter() {
  fail(null);
  const field = el("input", { id: "token", autocomplete: "off", required: true, autofocus: true });
  const submit = (event) => {
    event.preventDefault();
    ask("/enter", { token: field.value.split("token=").at(-1) }).then(start).catch((error) => fail(error.message));
  };
  show(el("form", { class: "done", onsubmit: submit },
    el("h1", {}, "Open the link of your invitation"),
    el("p", {}, "Or paste it here. Whoever runs the server makes one with ", el("code", {}, "--invite"), "."),
    el("label", { class: "comment" }, el("span", {}, "Link or token"), field),
    el("div", { class: "actions" }, el("button", {}, "Enter"))));
  field.focus();
}

// A link that is opened in a tab that shows the page already changes only the part after #.
addEventListener("hashchange", () => { if (location.hash.includes("token=")) location.reload(); });
start().catch((error) => fail(error.message)).finally(() => { document.documentElement.dataset.ready = ""; });
