// The charts of a study, drawn by plotly. Only charts that can be seen are asked for.
import { el, show } from "./dom.js";
import { get, Problem } from "./live.js";
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
    this.seen = new Set();
    this.loading = new Set();
    this.later = new Map(); // timers of charts that were not up to date
    this.observer = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "200px" });
  }

  async refresh(study) {
    const titles = this.titles(study);
    if (!this.places || Object.keys(titles).join() !== [...this.places.keys()].join()) this.build(Object.entries(titles));
    for (const name of this.seen) this.load(name);
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
      if (!entry.isIntersecting) this.seen.delete(name);
      else if (!this.seen.has(name)) {
        this.seen.add(name);
        this.load(name);
      }
    }
  }

  /** Ask for a chart, unless that is under way: some take seconds, and the rest of the page does not wait for them. */
  async load(name) {
    if (this.loading.has(name)) return;
    this.loading.add(name);
    try {
      await this.show(name, await get(`/api/study/${this.study}/chart/${encodeURIComponent(name)}`));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem; // the page shows why the storage cannot be read, and tries again
    } finally {
      this.loading.delete(name);
    }
  }

  async show(name, answer) {
    if (!this.places?.has(name)) return;
    const { place, note } = this.places.get(name);
    show(this.status, reading(answer));
    const hasData = answer.figure.data.length > 0;
    place.hidden = !hasData;
    place.closest(".chart").classList.toggle(
      "wide",
      "xaxis2" in answer.figure.layout || "shapes" in answer.figure.layout,
    );
    note.textContent = answer.figure.note || (hasData ? "" : "Nothing to show yet.");
    if (hasData) await draw(place, answer.figure);
    clearTimeout(this.later.get(name));
    if (answer.drawn < answer.events) this.later.set(name, setTimeout(() => this.load(name), LATER));
  }

  close() {
    for (const timer of this.later.values()) clearTimeout(timer);
    this.observer.disconnect();
    for (const { place } of this.places?.values() ?? []) erase(place);
    this.places = null;
  }
}
