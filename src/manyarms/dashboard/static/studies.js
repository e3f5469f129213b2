// The list of studies.
import { announce, el, show } from "./dom.js";
import * as format from "./format.js";
import { get } from "./live.js";
import { badge, fact, progress } from "./parts.js";

const MANY = 8; // studies, above which a filter is useful

export class StudiesView {
  constructor(root) {
    this.root = root;
    this.study = null;
    this.title = "Studies";
    this.filter = "";
    this.onInput = (event) => {
      if (event.target.id !== "study-filter") return;
      this.filter = event.target.value.toLowerCase();
      this.draw();
    };
    root.addEventListener("input", this.onInput);
  }

  async refresh() {
    this.data = await get("/api/studies");
    document.getElementById("storage").textContent = this.data.storage;
    this.draw();
    const running = this.data.studies.filter((study) => study.state === "running").length;
    announce(`${format.count(this.data.studies.length, "study").replace("studys", "studies")}, ${running} running`);
  }

  draw() {
    const studies = this.data?.studies ?? [];
    const shown = studies.filter((study) => study.name.toLowerCase().includes(this.filter));
    show(
      this.root,
      el(
        "div",
        { class: "heading", "data-key": "heading" },
        el("h1", {}, "Studies"),
        studies.length > MANY ? this.search() : null,
      ),
      studies.length ? el("ul", { class: "studies", "data-key": "list" }, shown.map(item)) : none(),
      studies.length && !shown.length ? el("p", { class: "quiet", "data-key": "none" }, "No study matches.") : null,
    );
  }

  search() {
    return el(
      "label",
      { class: "field" },
      el("span", { class: "unseen" }, "Filter by name"),
      el("input", { id: "study-filter", type: "search", placeholder: "Filter by name" }),
    );
  }

  showMissing() {}

  close() {
    this.root.removeEventListener("input", this.onInput);
  }
}

function none() {
  return el(
    "div",
    { class: "empty", "data-key": "empty" },
    el("h2", {}, "No studies yet"),
    el("p", {}, "Start a search with this storage, and it appears here."),
  );
}

function item(study) {
  const isCounting = study.counted < study.events;
  return el(
    "li",
    { class: "card study", "data-key": `study-${study.number}` },
    el(
      "div",
      { class: "name" },
      el("a", { href: `#/study/${study.number}` }, study.name || "(no name)"),
      el("span", { class: "quiet" }, format.value(study.strategy)),
    ),
    badge(study.state),
    isCounting ? el(
      "div",
      { class: "progress" },
      el("progress", { max: 1, value: study.counted / study.events, "aria-label": "Counting" }),
      el("span", {}, "counting"),
    ) : progress(study),
    fact("Best reward", format.number(study.best_reward)),
    fact("Arms", format.number(study.arms)),
    fact("Failures", format.number(study.failures), study.failures ? "failed" : ""),
    fact("Speed", format.speed(study.speed)),
  );
}
