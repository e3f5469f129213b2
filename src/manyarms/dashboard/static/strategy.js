// What the strategy of a study knows and does, as charts.
import { el } from "./dom.js";
import { ChartsTab } from "./charts.js";

export class StrategyTab extends ChartsTab {
  async refresh(study) {
    await super.refresh(study);
    this.remark.textContent = study.strategy_note;
  }

  titles(study) {
    return study.strategy_charts;
  }

  build(names) {
    super.build(names);
    this.remark = el("p", { class: "quiet remark" });
    this.root.querySelector("h2").textContent = "Strategy";
    this.status.before(this.remark);
  }
}
