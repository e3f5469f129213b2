// The panel with everything about one arm.
import { el, show } from "./dom.js";
import * as format from "./format.js";
import { get } from "./live.js";
import { draw, erase } from "./charts.js";
import { badge, fact } from "./parts.js";

export class ArmPanel {
  constructor(root) {
    this.root = root;
    this.plot = el(
      "div",
      { class: "plot small", role: "img", "aria-label": "Learning curve", "data-own": true, "data-key": "plot" },
    );
    root.addEventListener("click", (event) => {
      if (event.target.closest("[data-do=close]")) this.leave();
    });
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** Open an arm; null closes the panel. */
  open(study, arm) {
    if (this.study === study && this.arm === arm) return;
    const before = this.arm;
    this.study = study;
    this.arm = arm;
    this.data = null;
    if (arm === null || arm === undefined) return this.hide(before);
    erase(this.plot);
    this.root.replaceChildren();
    this.draw();
    this.root.hidden = false;
    this.root.scrollTop = 0;
    this.root.focus({ preventScroll: true });
  }

  hide(before) {
    if (!this.isOpen) return;
    erase(this.plot);
    this.root.hidden = true;
    this.root.replaceChildren();
    const link = document.querySelector(`tr[data-arm="${Number(before)}"] a`) ?? document.querySelector(".tabs [aria-current]");
    link?.focus({ preventScroll: true });
  }

  /** Close the panel, and return to the table. */
  leave() {
    location.hash = `#/study/${this.study}/arms`;
  }

  async refresh() {
    if (!this.isOpen) return;
    const arm = this.arm;
    try {
      const data = await get(`/api/study/${this.study}/arm/${arm}`);
      if (this.arm !== arm) return;
      this.data = data;
      this.missing = null;
    } catch (problem) {
      if (problem.status !== 404 || this.arm !== arm) throw problem;
      this.missing = problem.message;
    }
    this.draw();
    if (this.data && hasPoints(this.data)) await draw(this.plot, curve(this.data.curve));
  }

  draw() {
    const data = this.data;
    show(
      this.root,
      el(
        "header",
        { "data-key": "header" },
        el("h2", { id: "panel-title" }, `Arm ${this.arm}`),
        data ? badge(data.status) : null,
        el("button", { type: "button", "data-do": "close", "aria-label": "Close arm details" }, "Close"),
      ),
      data ? this.content(data) : el("p", { class: "quiet", "data-key": "loading" }, this.missing ?? "Loading"),
    );
  }

  content(data) {
    const failures = data.pull_rows.filter((pull) => pull.status === "failed");
    return [
      el(
        "div",
        { class: "facts", "data-key": "facts" },
        fact("Best reward", format.number(data.best_reward), "strong"),
        fact("Best step", format.number(data.best_step)),
        fact("Last reward", format.number(data.reward)),
        fact("Steps", format.number(data.steps)),
        fact("Training time", format.duration(data.seconds)),
        fact("Checkpoint", format.bytes(data.checkpoint_bytes)),
      ),
      part(
        "curve",
        "Learning curve",
        hasPoints(data) ? this.holder() : el("p", { class: "quiet" }, "No reward yet."),
      ),
      data.network ? part("network", "Network", this.network(data)) : null,
      part(
        "config",
        data.parents.length ? `Config, compared with arm ${data.parents[0]}` : "Config",
        this.config(data),
      ),
      part("lineage", "Lineage", this.lineage(data)),
      failures.length ? part("failures", "Failures", failures.slice(-5).map((pull) => this.failure(pull))) : null,
      part("pulls", `Pulls (${format.number(data.pulls_total)})`, this.pulls(data)),
    ];
  }

  holder() {
    return this.plot.isConnected ? el("div", { "data-key": "plot" }) : this.plot;
  }

  network(data) {
    const address = `/api/study/${this.study}/arm/${this.arm}/network.svg`;
    const [parent] = data.parents;
    const colors = "green: added, orange: changed, red: removed";
    return [
      parent === undefined ? null : el("p", { class: "quiet" }, `Compared with arm ${parent}: ${colors}.`),
      el(
        "a",
        { class: "drawing", href: address, target: "_blank", rel: "noopener" },
        el("img", { src: address, alt: data.network }),
      ),
    ];
  }

  config(data) {
    const hasParent = data.parents.length > 0;
    const rows = data.values.map((value) => {
      const before = value.changed ? (value.added ? "not set" : format.value(value.before)) : "same";
      return el(
        "tr",
        { "data-key": value.name, class: value.changed ? "changed" : null },
        el("th", { scope: "row" }, value.name),
        el("td", {}, value.missing ? "not set" : format.value(value.value)),
        hasParent ? el("td", { class: value.changed ? null : "quiet" }, before) : null,
      );
    });
    const head = el(
      "tr",
      {},
      el("th", { scope: "col" }, "Name"),
      el("th", { scope: "col" }, "Value"),
      hasParent ? el("th", { scope: "col" }, "Parent") : null,
    );
    return [
      rows.length ? el(
        "div",
        { class: "scroll low", tabindex: 0, role: "region", "aria-label": "Config" },
        el("table", {}, el("thead", {}, head), el("tbody", {}, rows)),
      ) : el("p", { class: "quiet" }, "The config is empty."),
      el("details", {}, el("summary", {}, "As JSON"), el("pre", { tabindex: 0 }, data.config)),
    ];
  }

  lineage(data) {
    const links = (arms) => arms.flatMap((arm, place) => [
      place ? ", " : null,
      el("a", { href: `#/study/${this.study}/arms/${arm}` }, `arm ${arm}`),
    ]);
    const more = data.children_total - data.children.length;
    return el(
      "dl",
      { class: "pairs" },
      el("dt", {}, "Parents"),
      el("dd", {}, data.parents.length ? links(data.parents) : "none (not a mutant)"),
      el("dt", {}, "Children"),
      el(
        "dd",
        {},
        data.children.length ? links(data.children) : "none",
        more > 0 ? ` and ${format.number(more)} more` : null,
      ),
    );
  }

  failure(pull) {
    return el(
      "div",
      { class: "failure", "data-key": `${pull.start}-${pull.stop}` },
      el("p", { class: "reason" }, pull.reason || "(no reason)"),
      el(
        "p",
        { class: "quiet" },
        `Step ${format.number(pull.start)} to ${format.number(pull.stop)}, ${format.duration(pull.seconds)}`,
      ),
      pull.details ? el("details", {}, el("summary", {}, "Traceback"), el("pre", { tabindex: 0 }, pull.details)) : null,
    );
  }

  pulls(data) {
    const metrics = [...new Set(data.pull_rows.flatMap((pull) => Object.keys(pull.metrics ?? {})))].slice(0, 20);
    const numbers = ["Reward", "Time", ...metrics].map((title) => el("th", { scope: "col", class: "number" }, title));
    const head = [...["Steps", "Status"].map(plainHead), ...numbers, plainHead("Notes")];
    const rows = data.pull_rows.map((pull, place) =>
      el(
        "tr",
        { "data-key": place },
        el("td", {}, `${format.number(pull.start)}–${format.number(pull.stop)}`),
        el("td", {}, badge(pull.status)),
        el("td", { class: "number" }, format.number(pull.reward)),
        el("td", { class: "number" }, format.duration(pull.seconds)),
        metrics.map((name) => el("td", { class: "number" }, format.value(pull.metrics?.[name]))),
        el(
          "td",
          { class: "quiet" },
          Object.entries(pull.notes ?? {}).map(([name, value]) => `${name}: ${format.value(value)}`).join(", "),
        ),
      ),
    );
    const less = data.pulls_total - data.pull_rows.length;
    return [
      less > 0 ? el("p", { class: "quiet" }, `The last ${data.pull_rows.length} pulls.`) : null,
      el(
        "div",
        { class: "scroll low", tabindex: 0, role: "region", "aria-label": "Pulls" },
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, head)),
          el("tbody", {}, rows),
        ),
      ),
    ];
  }
}

function hasPoints({ curve }) {
  return curve.steps.length + curve.point_steps.length > 0;
}

function part(key, title, ...content) {
  return el("section", { "data-key": key }, el("h3", {}, title), ...content);
}

/** The figure of a learning curve. It contains only numbers and fixed text. */
function curve(points) {
  const data = [];
  if (points.point_steps.length) {
    data.push({
      x: points.point_steps,
      y: points.point_rewards,
      mode: "lines",
      name: "reported",
      line: { color: "#56b4e9", width: 1.5 },
      hovertemplate: "step %{x}: %{y:.6g}<extra></extra>",
    });
  }
  data.push({
    x: points.steps,
    y: points.rewards,
    mode: "lines+markers",
    name: "reward",
    line: { color: "#0072b2", width: 2 },
    hovertemplate: "step %{x}: %{y:.6g}<extra></extra>",
  });
  const layout = {
    height: 180,
    margin: { l: 44, r: 8, t: 8, b: 34 },
    showlegend: false,
    xaxis: { title: { text: "step" }, rangemode: "tozero" },
    yaxis: {},
  };
  return { data, layout };
}

function plainHead(title) {
  return el("th", { scope: "col" }, title);
}
