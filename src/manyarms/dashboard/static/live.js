// Asks the server for data, and listens for changes.

import { restAfter } from "./pace.js";

const LEAST_PAUSE = 1000; // milliseconds between two updates

/** The JSON at an address. Throws an error with a message for the user. */
export async function get(address, signal) {
  let response;
  try {
    response = await fetch(address, { signal, headers: { accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The dashboard cannot be reached. It may have been stopped.", "", 0);
  }
  if (response.ok) return response.json();
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    problem = { error: "The dashboard could not answer." };
  }
  throw new Problem(problem.error, problem.detail || "", response.status);
}

/** An error with a message for the user. */
export class Problem extends Error {
  constructor(message, detail, status) {
    super(message);
    this.detail = detail;
    this.status = status;
  }
}

/** Calls `update` when the server reports a change: at most once a second, less often if it takes long, never while hidden. */
export class Live {
  constructor(address, update, report) {
    this.address = address;
    this.update = update;
    this.report = report;
    this.rest = LEAST_PAUSE;
    this.ended = performance.now(); // the page has just asked for everything
    this.onVisibility = () => (document.hidden ? this.disconnect() : this.connect());
    document.addEventListener("visibilitychange", this.onVisibility);
    if (!document.hidden) this.connect();
  }

  connect() {
    if (this.source) return;
    this.source = new EventSource(this.address);
    this.source.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.source.onerror = () => {
      this.report({ connection: "lost" });
      if (this.source && this.source.readyState === EventSource.CLOSED) {
        this.disconnect();
        this.again = setTimeout(() => this.connect(), 3000);
      }
    };
  }

  receive(message) {
    this.report({ connection: "live", ...message });
    if (!message.problem) this.schedule();
  }

  schedule() {
    if (this.isClosed) return;
    if (this.timer) {
      this.missed ||= this.busy; // what it asks for may be older than this message
      return;
    }
    const wait = Math.max(0, this.rest - (performance.now() - this.ended));
    this.timer = setTimeout(async () => {
      this.busy = true;
      const began = performance.now();
      try {
        const isCurrent = await this.update();
        if (!isCurrent) this.missed = true; // try again: the server may not have noticed a short outage
      } finally {
        this.busy = false;
        this.ended = performance.now();
        this.rest = restAfter(this.ended - began, LEAST_PAUSE);
        this.timer = null;
        if (this.missed) {
          this.missed = false;
          this.schedule();
        }
      }
    }, wait);
  }

  disconnect() {
    clearTimeout(this.again);
    if (this.source) this.source.close();
    this.source = null;
  }

  close() {
    this.isClosed = true;
    document.removeEventListener("visibilitychange", this.onVisibility);
    clearTimeout(this.timer);
    this.disconnect();
  }
}
