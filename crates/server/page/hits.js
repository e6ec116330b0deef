// Documents that were found, and those that arrive.

import { element, marked } from "/_page/element.js";
import { moment } from "/_page/histogram.js";

/** Documents that the page keeps, at most. */
const KEPT = 500;

/** The list of hits. */
export class Hits {
  #list;
  #shape;
  #onOpen;
  #keys = new Set();

  constructor(list, onOpen) {
    this.#list = list;
    this.#onOpen = onOpen;
  }

  /** Shows hits instead of all that were there. */
  replace(hits, shape) {
    this.#shape = shape;
    this.#keys = new Set();
    this.#list.replaceChildren();
    this.append(hits);
    if (hits.length === 0) this.#list.append(element("li", { class: "empty" }, "nothing matches"));
  }

  /** Shows older hits behind the others. */
  append(hits) {
    for (const hit of hits) {
      this.#keys.add(hit.key);
      this.#list.append(this.#item(hit));
    }
  }

  /** Shows hits that arrived, the newest on top. Returns how many are not there yet. */
  arrive(hits) {
    this.#list.querySelector(".empty")?.remove();
    let added = 0;
    for (const hit of hits) {
      if (this.#keys.has(hit.key)) this.#find(hit.key)?.remove();
      else added += 1;
      this.#keys.add(hit.key);
      const item = this.#item(hit);
      item.classList.add("new");
      this.#list.prepend(item);
    }
    while (this.#list.children.length > KEPT) {
      this.#keys.delete(this.#list.lastElementChild.dataset.key);
      this.#list.lastElementChild.remove();
    }
    return added;
  }

  /** Moves the focus to the next hit, or the one before. */
  step(by) {
    const items = [...this.#list.querySelectorAll("li[tabindex]")];
    const at = items.indexOf(document.activeElement);
    items[Math.min(Math.max(at + by, 0), items.length - 1)]?.focus();
  }

  #find(key) {
    return [...this.#list.children].find((item) => item.dataset.key === key);
  }

  #item(hit) {
    const fields = values(hit);
    const { text, time } = this.#shape;
    const whole = String(fields[text] ?? hit.text ?? "");
    const content = hit.snippets?.length > 0
      ? hit.snippets.flatMap((snippet, at) => [...(at > 0 ? [" … "] : []), ...marked(snippet)])
      : [whole.length > 400 ? `${whole.slice(0, 400)}…` : whole];
    const others = Object.entries(fields).filter(([name]) => name !== text && name !== time);
    const open = () => this.#onOpen(hit.key);
    return element("li", { tabindex: 0, "data-key": hit.key, click: open, keydown: (event) => { if (event.key === "Enter") open(); } },
      fields[time] === undefined ? undefined : element("time", {}, moment(fields[time])),
      element("p", {}, ...content),
      element("div", { class: "fields" }, ...others.slice(0, 8).map(([name, value]) =>
        element("span", {}, element("b", {}, name), `: ${short(value)}`))));
  }
}

/** Returns the fields of a hit, by their names. */
function values(hit) {
  if (hit.source !== undefined) return hit.source;
  return hit.fields ?? {};
}

function short(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
