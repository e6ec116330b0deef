// Elements of the page.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element with attributes and children. Functions are listeners. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Makes an element of a drawing. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** Makes nodes of a snippet: text, and marked text. Nothing else that it may have becomes an element. */
export function marked(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html").body;
  return [...parsed.childNodes].map((node) =>
    node.nodeName === "EM" ? element("em", {}, node.textContent) : document.createTextNode(node.textContent));
}

/** Writes a whole number with its thousands apart. */
export function number(value) {
  return Math.round(value).toLocaleString();
}

/** Writes a number of bytes. */
export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value.toFixed(value < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}
