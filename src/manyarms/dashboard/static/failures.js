// The failures of a study, by reason.
import { el, show } from "./dom.js";
import * as format from "./format.js";
import { get } from "./live.js";
import { reading } from "./parts.js";

export class FailuresTab {
  constructor(root, study) {
    this.root = root;
    this.study = study;
  }

  async refresh() {
    const answer = await get(`/api/study/${this.study}/failures`);
    const more = answer.reasons - answer.groups.length;
    show(
      this.root,
      el("h2", { class: "unseen" }, "Failures"),
      reading(answer),
      answer.total || answer.events < answer.length ? null : el(
        "div",
        { class: "empty" },
        el("h3", {}, "No failures"),
        el("p", {}, "No pull of this study has failed."),
      ),
      answer.total ? el(
        "ul",
        { class: "failures" },
        answer.groups.map((group) => this.group(group, answer.total)),
      ) : null,
      more > 0 ? el("p", { class: "quiet" }, `${format.count(more, "other reason")}.`) : null,
    );
  }

  group(group, total) {
    const arm = group.arm === undefined || group.arm === null ? null : el(
      "a",
      { href: `#/study/${this.study}/arms/${group.arm}` },
      `arm ${group.arm}`,
    );
    const share = `${Math.round((100 * group.count) / total)}%`;
    return el(
      "li",
      { class: "card failure", "data-key": group.reason },
      el(
        "div",
        { class: "count" },
        el("strong", {}, format.number(group.count)),
        el("span", { class: "quiet" }, share),
      ),
      el(
        "div",
        {},
        el("p", { class: "reason" }, group.reason || "(no reason)"),
        arm ? el(
          "p",
          { class: "quiet" },
          "Newest: ",
          arm,
          `, step ${format.number(group.start)} to ${format.number(group.stop)}`,
        ) : null,
        group.details ? el(
          "details",
          {},
          el("summary", {}, "Traceback"),
          el("pre", { tabindex: 0 }, group.details),
        ) : null,
      ),
    );
  }

  close() {}
}
