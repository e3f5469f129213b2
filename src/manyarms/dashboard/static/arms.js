// The table of arms. The server sorts and filters, and sends one page of rows.
import { el, show } from "./dom.js";
import * as format from "./format.js";
import { get } from "./live.js";
import { badge, reading } from "./parts.js";

const PAGE = 100;
const STATUSES = ["running", "failed", "done", "paused"];
const USUAL = ["arm", "status", "best_reward", "best_step", "steps", "failures", "parents"];
const MOST_CONFIG = 8; // columns of the config that are shown at first
const TEXT_PAUSE = 250; // milliseconds after the last letter of a filter

export class ArmsTab {
  constructor(root, study) {
    this.root = root;
    this.study = study;
    this.query = { sort: "best_reward", order: "desc", text: "", status: "", offset: 0 };
    this.key = `manyarms-columns-${study}`;
    this.chosen = stored(this.key);
    this.listeners = {
      click: (event) => this.click(event),
      input: (event) => this.input(event),
      change: (event) => this.change(event),
    };
    for (const [name, listener] of Object.entries(this.listeners)) root.addEventListener(name, listener);
  }

  async refresh(study) {
    if (study && !this.direction) {
      this.direction = study.direction;
      this.query.order = this.direction === "minimize" ? "asc" : "desc";
    }
    this.request?.abort();
    this.request = new AbortController();
    const answer = await get(`/api/study/${this.study}/arms?${this.parameters()}`, this.request.signal);
    const unknown = !this.answer && this.visible(answer.columns).some((name) => name.includes(":"));
    this.answer = answer;
    if (unknown) return this.refresh(); // the first answer says which columns there are
    this.query.offset = answer.offset;
    this.draw();
  }

  parameters() {
    const { sort, order, text, status, offset } = this.query;
    const given = new URLSearchParams({ sort, order, text, status, offset, limit: PAGE });
    this.asked = this.visible(this.answer?.columns ?? []);
    for (const name of this.asked.length ? this.asked : USUAL) given.append("column", name);
    if (!this.asked.length) this.asked = USUAL;
    return given;
  }

  /** The columns that are shown: those that the user chose, or the usual ones. */
  visible(columns) {
    if (this.chosen) return columns.map((column) => column.name).filter((name) => name === "arm" || this.chosen.includes(name));
    const configs = columns.filter((column) => column.group === "config").slice(0, MOST_CONFIG);
    return [...columns.filter((column) => USUAL.includes(column.name)), ...configs].map((column) => column.name);
  }

  draw() {
    const answer = this.answer;
    if (!answer) return;
    const isFiltered = this.query.text || this.query.status;
    show(
      this.root,
      el("h2", { class: "unseen", "data-key": "title" }, "Arms"),
      reading(answer),
      el(
        "div",
        { class: "tools", "data-key": "tools" },
        this.search(),
        this.statuses(),
        this.columns(answer.columns),
        this.pages(answer),
      ),
      answer.rows.length
        ? el(
          "div",
          { class: "scroll", role: "region", "aria-label": "Arms", tabindex: 0, "data-key": "scroll" },
          this.table(answer),
        )
        : el(
          "div",
          { class: "empty", "data-key": "empty" },
          el("h3", {}, isFiltered ? "No arm matches" : "No arms yet"),
          isFiltered ? el("button", { type: "button", "data-do": "clear" }, "Clear filters") : null,
        ),
    );
  }

  search() {
    return el(
      "label",
      { class: "field grow" },
      el("span", { class: "unseen" }, "Filter by config or arm"),
      el("input", { id: "arm-filter", type: "search", placeholder: "Filter by config or arm" }),
    );
  }

  statuses() {
    const options = STATUSES.map((status) => el("option", { value: status }, status));
    return el(
      "label",
      { class: "field" },
      el("span", { class: "unseen" }, "Status"),
      el("select", { id: "arm-status" }, el("option", { value: "" }, "all statuses"), options),
    );
  }

  columns(columns) {
    const shown = this.visible(columns);
    const boxes = columns.filter((column) => column.name !== "arm").map((column) => {
      const box = el("input", { type: "checkbox", "data-column": column.name });
      box.checked = shown.includes(column.name);
      return el(
        "label",
        { "data-key": column.name },
        box,
        el("span", {}, column.group === "arm" ? column.title : `${column.title} (${column.group})`),
      );
    });
    return el(
      "details",
      { class: "choice", "data-key": "columns" },
      el("summary", {}, "Columns"),
      el("div", { class: "menu" }, boxes),
    );
  }

  pages(answer) {
    const { offset, matching, total } = answer;
    const last = Math.max(0, Math.floor((matching - 1) / PAGE) * PAGE);
    const of = matching === total ? format.number(total) : `${format.number(matching)} (${format.number(total)} in total)`;
    const shown = `${format.number(offset + 1)}–${format.number(Math.min(offset + PAGE, matching))}`;
    const text = matching ? `${shown} of ${of}` : "0 arms";
    const button = (title, sign, to, off) => el(
      "button",
      {
        type: "button",
        "data-do": "page",
        "data-to": to,
        "aria-label": title,
        title,
        "aria-disabled": off ? "true" : null,
        "data-key": title,
      },
      sign,
    );
    return el(
      "div",
      { class: "pages", "data-key": "pages" },
      button("First page", "«", 0, offset <= 0),
      button("Previous page", "‹", Math.max(0, offset - PAGE), offset <= 0),
      el("span", {}, text),
      button("Next page", "›", Math.min(last, offset + PAGE), offset >= last),
      button("Last page", "»", last, offset >= last),
    );
  }

  table(answer) {
    const titles = new Map(answer.columns.map((column) => [column.name, column]));
    const hasNumbers = (place) => answer.rows.some((row) => typeof row.cells[place] === "number");
    const kinds = this.asked.map((name, place) => (name !== "arm" && hasNumbers(place) ? "number" : null));
    const kind = (place) => kinds[place];
    const head = this.asked.map((name, place) => this.header(titles.get(name) ?? { name, title: name }, kind(place)));
    const rows = answer.rows.map((row) => el(
      "tr",
      { "data-key": row.arm, "data-arm": row.arm },
      row.cells.map((cell, place) => el("td", { class: kind(place) }, this.content(this.asked[place], cell))),
    ));
    return el("table", { class: "arms" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
  }

  header(column, kind) {
    const isSorted = this.query.sort === column.name;
    const order = this.query.order === "asc" ? "ascending" : "descending";
    const sign = isSorted ? (order === "ascending" ? "▲" : "▼") : "";
    return el(
      "th",
      { scope: "col", "aria-sort": isSorted ? order : null, "data-key": column.name, class: kind },
      el(
        "button",
        { type: "button", "data-do": "sort", "data-sort": column.name, title: column.title },
        el("span", { class: "title" }, column.title),
        el("span", { class: "sign", "aria-hidden": "true" }, sign),
      ),
    );
  }

  content(name, cell) {
    const link = (arm, label) => el("a", { href: `#/study/${this.study}/arms/${arm}`, "aria-label": label }, arm);
    if (name === "arm") return link(cell, `Arm ${cell}`);
    if (name === "status") return badge(cell);
    if (name === "parents") {
      return cell.length ? cell.flatMap((arm, place) => [place ? ", " : null, link(arm, `Parent, arm ${arm}`)]) : "–";
    }
    if (name === "seconds") return format.duration(cell);
    if (name === "checkpoint_bytes") return format.bytes(cell);
    return name.startsWith("config:") ? format.value(cell) : format.number(cell);
  }

  ask(changes) {
    Object.assign(this.query, { offset: 0 }, changes);
    return this.refresh().catch((error) => {
      if (error.name !== "AbortError") throw error;
    });
  }

  click(event) {
    const button = event.target.closest("button");
    const act = button?.dataset.do;
    if (act === "sort") {
      const isSame = this.query.sort === button.dataset.sort;
      this.ask({ sort: button.dataset.sort, order: isSame && this.query.order === "desc" ? "asc" : "desc" });
    } else if (act === "page" && !button.hasAttribute("aria-disabled")) {
      this.ask({ offset: Number(button.dataset.to) });
    } else if (act === "clear") {
      this.root.querySelector("#arm-filter").value = "";
      this.root.querySelector("#arm-status").value = "";
      this.ask({ text: "", status: "" });
      this.root.querySelector("#arm-filter").focus();
    } else if (!button && !event.target.closest("a") && !String(getSelection())) {
      const row = event.target.closest("tr[data-arm]");
      if (row) location.hash = `#/study/${this.study}/arms/${row.dataset.arm}`;
    }
  }

  input(event) {
    if (event.target.id !== "arm-filter") return;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.ask({ text: event.target.value.trim() }), TEXT_PAUSE);
  }

  change(event) {
    if (event.target.id === "arm-status") this.ask({ status: event.target.value });
    const column = event.target.dataset.column;
    if (column) {
      const shown = new Set(this.visible(this.answer.columns));
      if (event.target.checked) shown.add(column);
      else shown.delete(column);
      this.chosen = [...shown];
      store(this.key, this.chosen);
      this.ask({ offset: this.query.offset });
    }
  }

  close() {
    this.request?.abort();
    clearTimeout(this.typing);
    for (const [name, listener] of Object.entries(this.listeners)) this.root.removeEventListener(name, listener);
  }
}

function stored(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    return Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}

function store(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // storage may be switched off; the choice then lasts as long as the page
  }
}
