// One study: its facts, and a tab with its charts, strategy, arms or failures.
import { announce, el, show } from "./dom.js";
import * as format from "./format.js";
import { get } from "./live.js";
import { ArmsTab } from "./arms.js";
import { ChartsTab } from "./charts.js";
import { FailuresTab } from "./failures.js";
import { badge, fact, progress } from "./parts.js";
import { StrategyTab } from "./strategy.js";

const TABS = { charts: ChartsTab, strategy: StrategyTab, arms: ArmsTab, failures: FailuresTab };

/** What the state of a study means. */
function meaning({ state, events, steps, limits }) {
  if (state === "running") return "Events are arriving.";
  if (state === "waiting" && !events) return "Nothing has been recorded yet.";
  if (state === "waiting") return "No event has arrived since the dashboard was started.";
  if (state === "interrupted") return "The budget is not spent, and no event has arrived for a while.";
  if (limits.steps && steps < limits.steps) return "The remaining budget is too small to fully train another arm.";
  return "The budget is spent.";
}

export class StudyView {
  constructor(root, study, tab) {
    this.root = root;
    this.study = study;
    this.tab = tab;
    this.content = el("section", { class: "tab", id: "tab", "data-own": true, "data-key": "tab" });
    this.body = new TABS[tab](this.content, study);
  }

  select(tab) {
    this.body.close();
    this.tab = tab;
    this.content.replaceChildren();
    this.body = new TABS[tab](this.content, this.study);
    if (this.data) this.draw();
  }

  async refresh() {
    this.data = await get(`/api/study/${this.study}`);
    this.title = this.data.name;
    document.getElementById("storage").textContent = this.data.storage;
    this.draw();
    await this.body.refresh(this.data);
    const { name, state, pulls, best_reward: best } = this.data;
    announce(`${name}: ${state}, ${format.count(pulls, "pull")}, best reward ${format.number(best)}`);
  }

  draw() {
    const data = this.data;
    show(
      this.root,
      el(
        "nav",
        { class: "path", "aria-label": "Path", "data-key": "path" },
        el("a", { href: "#/" }, "Studies"),
        el("span", { "aria-hidden": true }, "/"),
      ),
      el(
        "div",
        { class: "heading", "data-key": "heading" },
        el("h1", {}, data.name || "(no name)"),
        badge(data.state),
        el("span", { class: "quiet" }, meaning(data)),
      ),
      el("div", { class: "facts card", "data-key": "facts" }, this.facts(data)),
      el("div", { class: "details", "data-key": "details" }, this.details(data)),
      el("nav", { class: "tabs", "aria-label": "Views", "data-key": "tabs" }, this.tabs(data)),
      this.content.isConnected ? el(
        "section",
        { "data-key": "tab" },
      ) : this.content, // moving it would lose focus and scrolling
    );
  }

  facts(data) {
    const best = data.recommended;
    const arm = best ? el("a", { href: `#/study/${this.study}/arms/${best.arm}` }, `arm ${best.arm}`) : "–";
    return [
      el("div", { class: "fact wide" }, el("span", { class: "label" }, "Progress"), progress(data)),
      fact("Best reward", format.number(data.best_reward), "strong"),
      el("div", { class: "fact" }, el("span", { class: "label" }, "Recommended"), el("span", { class: "value" }, arm)),
      fact("Arms", format.number(data.arms)),
      fact("Pulls", format.number(data.pulls)),
      fact("In flight", format.number(data.in_flight)),
      fact("Failures", format.number(data.failures), data.failures ? "failed" : ""),
      fact("Speed", format.speed(data.speed)),
      fact("Training time", format.duration(data.seconds)),
    ];
  }

  details(data) {
    const facts = [
      ["Strategy", format.value(data.strategy)],
      ["Direction", format.value(data.direction)],
      ["Seed", format.value(data.seed)],
      ["Created", format.time(data.created)],
      ["Version", format.value(data.manyarms)],
    ];
    const settings = Object.entries(data.settings);
    return [
      el("dl", { class: "inline" }, facts.map(pair)),
      settings.length ? el(
        "details",
        { "data-key": "settings" },
        el("summary", {}, "Strategy settings"),
        el("dl", { class: "inline" }, settings.map(pair)),
      ) : null,
    ];
  }

  tabs(data) {
    const titles = {
      charts: "Charts",
      strategy: "Strategy",
      arms: `Arms (${format.number(data.arms)})`,
      failures: `Failures (${format.number(data.failures)})`,
    };
    return Object.entries(titles).map(([name, title]) =>
      el(
        "a",
        { href: `#/study/${this.study}/${name}`, "aria-current": name === this.tab ? "page" : null, "data-key": name },
        title,
      ),
    );
  }

  showMissing(message) {
    show(
      this.root,
      el(
        "div",
        { class: "empty", "data-key": "missing" },
        el("h1", {}, message),
        el("p", {}, el("a", { href: "#/" }, "Show all studies")),
      ),
    );
  }

  close() {
    this.body.close();
  }
}

function pair([name, value]) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, format.value(value)));
}
