// How often the page is updated: it and the server use only a small share of a processor, so that a search is not slowed down.

const SHARE = 0.04; // as in pace.py
const LONGEST = 60000; // milliseconds

/** Milliseconds to wait after work that took this long. */
export function restAfter(took, least = 0) {
  return Math.min(LONGEST, Math.max(least, took / SHARE - took));
}

/** Milliseconds until the browser has shown what was changed since `began`. */
export function shownSince(began) {
  return new Promise((resolve) => {
    const channel = new MessageChannel(); // its message arrives after the frame
    channel.port1.onmessage = () => resolve(performance.now() - began);
    requestAnimationFrame(() => channel.port2.postMessage(null));
  });
}
