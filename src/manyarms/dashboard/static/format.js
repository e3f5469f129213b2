// Turns values into short text.

const DASH = "–";

/** A number with up to six digits. */
export function number(value) {
  if (value === null || value === undefined) return DASH;
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(3).replace("e+", "e");
  return Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 9 });
}

/** A value of a config: a number, text, true or false. */
export function value(given) {
  if (given === null || given === undefined) return DASH;
  if (typeof given === "number") return number(given).replaceAll(",", "");
  return String(given);
}

/** A duration, from seconds. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return DASH;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A size, from bytes. */
export function bytes(size) {
  if (size === null || size === undefined) return DASH;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit && size < 99.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** A speed, from steps per second. */
export function speed(steps) {
  if (steps === null || steps === undefined) return DASH;
  if (steps >= 0.95) return `${number(Number(steps.toPrecision(2)))} steps/s`;
  if (steps * 60 >= 0.95) return `${number(Number((steps * 60).toPrecision(2)))} steps/min`;
  return `${number(Number((steps * 3600).toPrecision(2)))} steps/h`;
}

/** A date and time, from seconds since 1970. */
export function time(seconds) {
  if (!seconds) return DASH;
  return new Date(seconds * 1000).toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" });
}

/** A number and a noun in the right form. */
export function count(howMany, noun) {
  return `${number(howMany)} ${noun}${howMany === 1 ? "" : "s"}`;
}
