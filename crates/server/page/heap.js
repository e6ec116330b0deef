// A picture of an index's memory: how full its parts are, and its segments as blocks that change their
// colour as they are flushed, engraved and merged.

import { bytes, drawn, element, number } from "/_page/element.js";

const EVERY = 1000;
const STATES = ["ingested", "flushed", "engraved", "committed", "merged"];

/** Shows an index until `signal` is aborted. `load` returns its statistics. */
export async function show(main, load, signal, onProblem) {
  let before;
  while (!signal.aborted) {
    try {
      const stats = await load(signal);
      const now = performance.now();
      const rate = before === undefined ? undefined : ((stats.accepted - before.accepted) * 1000) / (now - before.now);
      before = { accepted: stats.accepted, now };
      if (!signal.aborted) main.replaceChildren(...picture(stats, rate));
      onProblem("");
    } catch (error) {
      if (signal.aborted) return;
      onProblem(error.message);
    }
    await new Promise((done) => setTimeout(done, EVERY));
  }
}

function picture(stats, rate) {
  const figure = (value, name) => element("div", {}, element("b", {}, value), element("span", {}, name));
  const { partitions, segments } = stats.heap;
  return [
    element("div", { class: "figures" },
      figure(number(stats.documents), "documents"),
      figure(rate === undefined ? "…" : number(Math.max(rate, 0)), "documents/s"),
      figure(number(segments.length), "segments"),
      figure(number(stats.expired), "dropped documents"),
      figure(bytes(stats.bytes), "in use")),
    element("h3", {}, "Memory"),
    ...partitions.map(partition),
    element("h3", {}, "Segments, the newest first"),
    element("div", { class: "blocks" }, ...segments.map(block)),
    element("div", { class: "legend" }, ...[...STATES, "dead"].map((state) =>
      element("span", {}, drawn("svg", { viewBox: "0 0 1 1" }, drawn("rect", { class: state, width: 1, height: 1 })), state))),
  ];
}

function partition({ executor, name, used, size }) {
  const share = size > 0 ? (used / size) * 100 : 0;
  const bar = drawn("svg", { viewBox: "0 0 100 1", preserveAspectRatio: "none" }, drawn("rect", { class: "used", width: share, height: 1 }));
  return element("div", { class: "partition" },
    element("span", {}, executor > 0 ? `${name} ${executor}` : name),
    element("div", { class: "bar" }, bar),
    element("span", {}, `${bytes(used)} of ${bytes(size)}`));
}

/** A block whose width grows with the segment's rows. What is dead of it is at its bottom. */
function block({ position, state, rows, dead, bytes: taken }) {
  const width = Math.round(8 + Math.min(Math.log2(rows + 1) * 2.5, 60));
  const height = 26;
  const gone = rows > 0 ? (dead / rows) * height : 0;
  const label = `segment ${position}: ${state}, ${number(rows)} rows, ${number(dead)} of them dead, ${bytes(taken)}`;
  return drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    drawn("title", {}, label),
    drawn("rect", { class: state, width, height }),
    drawn("rect", { class: "dead", y: height - gone, width, height: gone }));
}
