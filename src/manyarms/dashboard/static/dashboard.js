// Shows the view that the address names, and keeps it up to date.
import { announce, el, show } from "./dom.js";
import { Live } from "./live.js";
import { ArmPanel } from "./arm.js";
import { StudiesView } from "./studies.js";
import { StudyView } from "./study.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const connection = document.getElementById("live");
const page = { view: null, live: null, panel: new ArmPanel(document.getElementById("panel"), report) };

/** The parts of the address after the #: study number, tab and arm. */
function route() {
  const [, kind, study, tab, arm] = location.hash.replace(/^#/, "").split("/");
  if (kind !== "study" || !/^\d+$/.test(study ?? "")) return { study: null };
  const isArm = tab === "arms" && /^\d+$/.test(arm ?? "");
  return {
    study: Number(study),
    tab: ["charts", "strategy", "arms", "failures"].includes(tab) ? tab : "charts",
    arm: isArm ? Number(arm) : null,
  };
}

async function navigate() {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const wanted = route();
  if (!page.view || page.view.study !== wanted.study) open(wanted);
  else if (wanted.study !== null && page.view.tab !== wanted.tab) page.view.select(wanted.tab);
  page.panel.open(wanted.study, wanted.arm);
  await update();
}

function open(wanted) {
  page.live?.close();
  page.view?.close();
  main.replaceChildren(el("p", { class: "quiet" }, "Loading"));
  page.view = wanted.study === null ? new StudiesView(main) : new StudyView(main, wanted.study, wanted.tab);
  const address = wanted.study === null ? "/api/changes" : `/api/study/${wanted.study}/changes`;
  page.live = new Live(address, update, report);
  window.scrollTo(0, 0);
}

/** Show what is new. Returns false if the storage could not be read. */
async function update() {
  const view = page.view;
  let isCurrent = true;
  try {
    await Promise.all([view.refresh(), page.panel.refresh()]);
    report({});
  } catch (problem) {
    if (problem.name === "AbortError") return true;
    if (!problem.status && !problem.detail && problem.name !== "Error") throw problem;
    if (problem.status === 404) view.showMissing(problem.message);
    else {
      report({ problem: problem.message, detail: problem.detail });
      isCurrent = false;
    }
  }
  document.title = view.title ? `${view.title} – manyarms` : "manyarms";
  return isCurrent;
}

/** Show whether the page is up to date, and why not. */
function report(news) {
  if (news.connection) {
    connection.textContent = news.connection === "live" ? "Live" : "Reconnecting";
    connection.dataset.state = news.connection;
  }
  if (news.problem) {
    show(banner, el("strong", {}, news.problem), news.detail ? el("span", {}, ` ${news.detail}`) : null);
    banner.hidden = false;
  } else if (!banner.hidden && !news.connection) {
    banner.hidden = true;
    announce("The storage can be read again.");
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details.choice[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (page.panel.isOpen) page.panel.leave();
});
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.choice[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
window.addEventListener("hashchange", navigate);
navigate();
