// Makes and updates elements. Data only ever becomes text nodes and attributes, never HTML.

/** A new element. Children are elements or text; null and undefined are left out. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Make the content of a parent equal to new children, changing only what differs. Focus, selection and scrolling stay. */
export function show(parent, ...children) {
  const source = document.createElement(parent.tagName);
  source.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  morphChildren(parent, source);
}

function isSame(one, other) {
  if (one.nodeType !== other.nodeType) return false;
  if (one.nodeType !== Node.ELEMENT_NODE) return true;
  return one.tagName === other.tagName && one.getAttribute("data-key") === other.getAttribute("data-key");
}

function morphChildren(target, source) {
  let place = target.firstChild;
  for (const wanted of [...source.childNodes]) {
    let found = place;
    while (found && !isSame(found, wanted)) found = found.nextSibling;
    if (!found) {
      target.insertBefore(wanted, place);
      continue;
    }
    const isKept = found.contains(document.activeElement);
    if (found !== place && !isKept) target.insertBefore(found, place);
    else while (place !== found) place = removed(place);
    place = found.nextSibling;
    morph(found, wanted);
  }
  while (place) place = removed(place);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function morph(target, source) {
  if (target.nodeType !== Node.ELEMENT_NODE) {
    if (target.data !== source.data) target.data = source.data;
    return;
  }
  if (target.hasAttribute("data-own")) return; // its content belongs to someone else, such as a chart
  for (const { name, value } of [...source.attributes]) {
    if (target.getAttribute(name) !== value) target.setAttribute(name, value);
  }
  for (const { name } of [...target.attributes]) {
    if (!source.hasAttribute(name) && name !== "open") target.removeAttribute(name);
  }
  if (target.tagName === "INPUT" || target.tagName === "SELECT") return; // what the user has entered stays
  morphChildren(target, source);
}

const QUIET = 10000; // milliseconds between two announcements
let latest = "";
let pause = null;

/** Tell users of screen readers about a change, but not so often that they hear nothing else. */
export function announce(text) {
  latest = text;
  const announcer = document.getElementById("announcer");
  if (pause || announcer.textContent === text) return;
  announcer.textContent = text;
  pause = setTimeout(() => {
    pause = null;
    announce(latest);
  }, QUIET);
}
