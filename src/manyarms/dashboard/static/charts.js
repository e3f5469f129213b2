// The charts of a study, drawn by plotly. Only charts that can be seen are asked for.
import { el, show } from "./dom.js";
import { get, Problem } from "./live.js";
import { restAfter, shownSince } from "./pace.js";
import { reading } from "./parts.js";

const LATER = 2000; // milliseconds until a chart that is not up to date is asked for again

const ON_DARK = [[0, "#6f7fc4"], [0.35, "#2fa6a0"], [0.7, "#6ece58"], [1, "#fde725"]]; // Viridis without its dark end

let library = null;

/** The drawing library, loaded when the first chart is shown. */
function plotly() {
  library ??= new Promise((resolve, reject) => {
    const script = el("script", { src: "/static/plotly.js" });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      library = null;
      reject(new Error("The charts could not be loaded."));
    };
    document.head.append(script);
  });
  return library;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map(); // places and their figures, to draw them again in other colors
dark.addEventListener("change", () => {
  for (const [place, figure] of drawn) draw(place, figure);
});

/** Draw a figure in the colors of the page. Zooming stays when it is drawn again. */
export async function draw(place, figure) {
  const Plotly = await plotly();
  if (!place.isConnected) return;
  drawn.set(place, figure);
  place.classList.add("drawn");
  const layout = themed(figure.layout ?? {});
  await Plotly.react(place, figure.data.map(lightened), layout, { displayModeBar: false, responsive: true });
}

/** A trace in which no point is as dark as the background. */
function lightened(trace) {
  if (!dark.matches || !trace.marker?.colorscale) return trace;
  return { ...trace, marker: { ...trace.marker, colorscale: ON_DARK } };
}

/** Free the memory of a chart. */
export function erase(place) {
  drawn.delete(place);
  window.Plotly?.purge(place);
}

function themed(given) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const axis = {
    gridcolor: color("--line"),
    zerolinecolor: color("--line"),
    linecolor: color("--line"),
    tickcolor: color("--line"),
    automargin: true,
  };
  const layout = structuredClone(given);
  for (const name of Object.keys(layout).concat("xaxis", "yaxis")) {
    if (/^[xy]axis\d*$/.test(name)) layout[name] = { ...layout[name], ...axis };
  }
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
  layout.font = { ...layout.font, family: style.getPropertyValue("font-family"), size: 12, color: color("--text") };
  layout.hoverlabel = { bgcolor: color("--card"), bordercolor: color("--line"), font: { color: color("--text") } };
  layout.uirevision = "stay";
  layout.autosize = true;
  layout.margin = { ...layout.margin, t: layout.annotations ? 50 : 12 };
  delete layout.width;
  delete layout.title;
  return layout;
}

export class ChartsTab {
  constructor(root, study) {
    this.root = root;
    this.study = study;
    this.seen = new Set(); // names of charts in or near the window
    this.stale = new Set(); // those that may have changed
    this.rested = 0; // when a chart may be drawn again
    this.observer = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "200px" });
  }

  async refresh(study) {
    const titles = this.titles(study);
    if (!this.places || Object.keys(titles).join() !== [...this.places.keys()].join()) this.build(Object.entries(titles));
    for (const name of this.seen) this.stale.add(name);
    this.work();
  }

  /** The titles of the charts, by name. */
  titles(study) {
    return study.charts;
  }

  build(names) {
    for (const { place } of this.places?.values() ?? []) erase(place);
    this.observer.disconnect();
    this.seen.clear();
    this.places = new Map();
    this.status = el("div", {});
    const cards = names.map(([name, title]) => {
      const place = el("div", { class: "plot", role: "img", "aria-label": title, "data-chart": name });
      const note = el("p", { class: "quiet note" }, "Loading");
      this.places.set(name, { place, note });
      return el(
        "figure",
        { class: "card chart", "data-chart": name },
        el("figcaption", {}, el("h3", {}, title), note),
        el("div", { class: "frame" }, place),
      );
    });
    const none = el("div", { class: "empty" }, el("h3", {}, "No charts"), el("p", {}, "This study has no charts."));
    this.root.replaceChildren(
      el("h2", { class: "unseen" }, "Charts"),
      this.status,
      cards.length ? el("div", { class: "charts" }, ...cards) : none,
    );
    for (const card of this.root.querySelectorAll(".chart")) this.observer.observe(card);
  }

  look(entries) {
    for (const entry of entries) {
      const name = entry.target.dataset.chart;
      if (entry.isIntersecting) this.seen.add(name);
      else this.seen.delete(name);
      if (entry.isIntersecting) this.stale.add(name);
    }
    this.work();
  }

  /** Ask for one chart after the other. New ones come first; to draw others again, the page rests in between. */
  async work() {
    if (this.isWorking) return;
    this.isWorking = true;
    try {
      for (let name = this.next(); name; name = this.next()) await this.load(name);
    } finally {
      this.isWorking = false;
    }
    if (this.places && this.seenAndStale().length) this.workLater(Math.max(0, this.rested - performance.now()));
  }

  workLater(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.work(), milliseconds);
  }

  /** The chart to ask for now; undefined if there is none. */
  next() {
    if (!this.places || document.hidden) return undefined;
    const waiting = this.seenAndStale();
    const first = waiting.find((name) => !this.places.get(name).version);
    if (first || performance.now() < this.rested) return first;
    const visible = waiting.filter((name) => isVisible(this.places.get(name).place.closest(".chart")));
    return visible.sort((one, other) => this.places.get(one).shown - this.places.get(other).shown)[0];
  }

  seenAndStale() {
    return [...this.places.keys()].filter((name) => this.seen.has(name) && this.stale.has(name));
  }

  /** Ask for a chart and show it. The time that the server and the browser took sets when the next one may follow. */
  async load(name) {
    this.stale.delete(name);
    const known = this.places.get(name).version ?? "";
    try {
      const address = `/api/study/${this.study}/chart/${encodeURIComponent(name)}?known=${encodeURIComponent(known)}`;
      const answer = await get(address);
      const began = performance.now();
      await this.show(name, answer);
      const took = 1000 * answer.seconds + (answer.figure ? await shownSince(began) : 0);
      if (known) this.rested = performance.now() + restAfter(took);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem; // the page shows why the storage cannot be read, and tries again
    }
  }

  async show(name, answer) {
    if (!this.places?.has(name)) return;
    const shown = this.places.get(name);
    show(this.status, reading(answer));
    shown.version = answer.version;
    shown.shown = performance.now();
    if (answer.drawn < answer.events) setTimeout(() => this.again(name), LATER);
    if (!answer.figure) return;
    const { place, note } = shown;
    const hasData = answer.figure.data.length > 0;
    place.hidden = !hasData;
    place.closest(".chart").classList.toggle(
      "wide",
      "xaxis2" in answer.figure.layout || "shapes" in answer.figure.layout,
    );
    note.textContent = answer.figure.note || (hasData ? "" : "Nothing to show yet.");
    if (hasData) await draw(place, answer.figure);
  }

  /** Ask again for a chart that was not up to date. */
  again(name) {
    this.stale.add(name);
    this.work();
  }

  close() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    for (const { place } of this.places?.values() ?? []) erase(place);
    this.places = null;
  }
}

function isVisible(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}
