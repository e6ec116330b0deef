// A histogram of matches by time. A click on a bar asks for its time alone.

import { drawn, element, number } from "/_page/element.js";

const HEIGHT = 72;
const STEPS = [["1m", 6e4], ["5m", 3e5], ["15m", 9e5], ["1h", 36e5], ["6h", 216e5], ["day", 864e5], ["week", 6048e5]];
const BARS_MAX = 120;

/** Chooses a step for a span of time, in milliseconds. */
export function step(span) {
  return (STEPS.find(([, ms]) => span / ms <= BARS_MAX) ?? ["month"])[0];
}

/** Draws buckets. `onPick` gets the beginning and the end of a bar. */
export function draw(figure, buckets, onPick) {
  figure.replaceChildren();
  if (buckets.length < 2) return;
  const most = Math.max(...buckets.map((bucket) => bucket.count));
  const width = 1000 / buckets.length;
  const bars = buckets.map((bucket, at) => {
    const height = Math.max(1, (bucket.count / most) * HEIGHT);
    const next = buckets[at + 1]?.from ?? "*";
    const label = `${moment(bucket.from)}: ${number(bucket.count)}`;
    const pick = () => onPick(bucket.from, next);
    const key = (event) => { if (event.key === "Enter") pick(); };
    return drawn("rect", {
      x: at * width, y: HEIGHT - height, width: Math.max(width - 1.5, 1), height,
      tabindex: 0, role: "button", "aria-label": label, click: pick, keydown: key,
    }, drawn("title", {}, label));
  });
  figure.append(
    drawn("svg", { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: "none" }, ...bars),
    element("figcaption", {}, element("span", {}, moment(buckets[0].from)), element("span", {}, moment(buckets.at(-1).from))),
  );
}

/** Writes a moment as this place has it. */
export function moment(text) {
  const date = new Date(text);
  return Number.isNaN(date.valueOf()) ? String(text) : date.toLocaleString();
}
