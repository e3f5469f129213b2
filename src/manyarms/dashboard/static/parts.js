// Small parts that several views show.
import { el } from "./dom.js";
import * as format from "./format.js";

/** A word for the state of a study or arm. */
export function badge(state) {
  return el("span", { class: `badge ${state}` }, state);
}

/** How much of the budget is spent: a bar and text. */
export function progress(study) {
  const [spent, limit, text] = spending(study);
  if (!limit) return el("div", { class: "progress" }, el("span", {}, text));
  const label = `${text}, ${Math.floor((100 * spent) / limit)}%`;
  return el(
    "div",
    { class: "progress" },
    el("progress", { max: 1, value: Math.min(1, spent / limit), "aria-label": label }),
    el("span", {}, text),
  );
}

function spending(study) {
  const { steps, seconds, cost } = study.limits;
  if (steps) return [study.steps, steps, `${format.number(study.steps)} of ${format.count(steps, "step")}`];
  if (seconds) return [study.seconds, seconds, `${format.duration(study.seconds)} of ${format.duration(seconds)}`];
  if (cost) return [study.cost, cost, `cost ${format.number(study.cost)} of ${format.number(cost)}`];
  return [study.steps, null, format.count(study.steps, "step")];
}

/** A label and a value. */
export function fact(label, value, kind = "") {
  return el(
    "div",
    { class: `fact ${kind}` },
    el("span", { class: "label" }, label),
    el("span", { class: "value" }, value),
  );
}

/** A bar while the events of a long study are being read; null afterwards. */
export function reading(answer) {
  if (answer.events >= answer.length) return null;
  const share = answer.events / answer.length;
  return el(
    "div",
    { class: "reading", "data-key": "reading" },
    el("progress", { max: 1, value: share, "aria-label": "Reading the journal" }),
    el("span", {}, `Reading the journal: ${Math.floor(100 * share)}%`),
  );
}
