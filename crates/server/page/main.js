// The page: it asks as you type, shows matches as they arrive, and keeps all of it in its address.

import { Problem, ask, json, parameters, useKey } from "/_page/api.js";
import { element, number } from "/_page/element.js";
import * as facets from "/_page/facets.js";
import * as heap from "/_page/heap.js";
import { Hits } from "/_page/hits.js";
import * as histogram from "/_page/histogram.js";
import { toggled, within } from "/_page/query.js";
import { VALUES, shape } from "/_page/shape.js";
import * as state from "/_page/state.js";
import { listen } from "/_page/stream.js";

const PAGE = 50;
/** The pause after the last letter before the server is asked, in milliseconds. */
const TYPING = 120;

const at = (id) => document.getElementById(id);
const hits = new Hits(at("hits"), (key) => open(key));
/** What is under way for the query that is shown. */
let current = new AbortController();
let form;
let count = 0;
let cursor;
let isLive = true;

function say(problem) {
  at("problem").textContent = problem;
  at("problem").hidden = problem === "";
}

function own(index, path, members = {}) {
  return `/api/v1/${encodeURIComponent(index)}/${path}?${parameters(members)}`;
}

/** Runs work, and says what is wrong with it. Asks for a key if the server does. */
async function tried(work, signal) {
  try {
    await work();
  } catch (error) {
    if (signal?.aborted) return;
    if (error instanceof Problem && error.status === 401) at("key").showModal();
    else say(error.message);
  }
}

function members(query) {
  const asked = { q: query || "*", limit: PAGE, count: "yes", highlight: 3, highlight_field: form.text };
  return asked.highlight_field === undefined ? { ...asked, highlight: undefined } : asked;
}

function summarize(took) {
  const time = took === undefined ? "" : ` in ${took < 1000 ? `${Math.round(took)} µs` : `${(took / 1000).toFixed(1)} ms`}`;
  at("summary").textContent = `${number(count)} ${count === 1 ? "match" : "matches"}${time}`;
}

/** Shows what the address says. */
async function show() {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const { index, q, heap: asHeap, doc } = state.read();
  if (document.activeElement !== at("query")) at("query").value = q;
  at("view").setAttribute("aria-pressed", String(asHeap !== ""));
  at("heap").hidden = asHeap === "";
  at("search").hidden = asHeap !== "";
  document.title = [q, index, "spirit"].filter(Boolean).join(" · ");
  if (index === "") return;
  if (asHeap !== "") {
    heap.show(at("heap"), (signal) => json(own(index, "stats", { heap: "yes" }), { signal }), signal, say);
    return;
  }
  await tried(async () => {
    form = shape(await json(own(index, "schema"), { signal }));
    const found = await json(own(index, "search", members(q)), { signal });
    say("");
    ({ count, cursor } = found);
    hits.replace(found.hits, form);
    summarize(found.took_us);
    at("more").hidden = cursor === undefined || found.hits.length < PAGE;
    if (isLive) follow(index, q, signal);
    await aggregate(index, q, signal);
    if (doc !== "") await openDocument(index, doc);
  }, signal);
}

/** Shows matches as they arrive. */
function follow(index, q, signal) {
  listen(index, { q: q || "*", highlight_field: form.text }, {
    signal,
    onHits: (arrived) => {
      count += hits.arrive(arrived);
      summarize();
    },
    onState: (is) => at("live").classList.toggle("on", is),
    onMissed: (missed) => say(`${number(missed)} documents were dropped before they came here`),
  });
}

/** Counts by time and by values, beside the hits. */
async function aggregate(index, q, signal) {
  const facet = form.filters.map((field) => `terms:${field}:${VALUES}`);
  if (form.time !== undefined) facet.push(`stats:${form.time}`);
  if (facet.length === 0) return;
  const found = await json(own(index, "search", { q: q || "*", limit: 0, facet }), { signal });
  const pick = (clause) => change(toggled(q, clause));
  const answers = form.filters.map((field, at) => ({ field, answer: found.facets[at] }));
  facets.show(at("facets"), answers, q, pick);
  const span = form.time === undefined ? undefined : found.facets.at(-1);
  if (span?.min === undefined || span.min === null) return histogram.draw(at("histogram"), [], pick);
  const step = histogram.step(new Date(span.max) - new Date(span.min));
  const by = await json(own(index, "search", { q: q || "*", limit: 0, facet: `dates:${form.time}:${step}` }), { signal });
  const buckets = by.facets[0].buckets.filter((bucket) => bucket.from !== null && bucket.from !== undefined);
  histogram.draw(at("histogram"), buckets, (from, to) => pick(within(form.time, from, to)));
}

function change(query) {
  at("query").value = query;
  state.write({ q: query, doc: "" });
  show();
}

function open(key) {
  const { index } = state.read();
  state.write({ doc: key });
  tried(() => openDocument(index, key));
}

async function openDocument(index, key) {
  const path = key.split("/").map(encodeURIComponent).join("/");
  const response = await ask(`/api/v1/${encodeURIComponent(index)}/documents/${path}`);
  const document = await response.json();
  const dialog = at("document");
  dialog.querySelector("h2").textContent = key;
  dialog.querySelector("pre").textContent = JSON.stringify(document.source ?? document, null, 2);
  if (!dialog.open) dialog.showModal();
}

async function loadIndexes() {
  const indexes = await json("/api/v1");
  const names = indexes.map(({ index }) => index);
  at("index").replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  const { index } = state.read();
  if (names.length === 0) say("There is no index yet. The first document makes one: POST it to /NAME/_doc.");
  else if (!names.includes(index)) state.write({ index: names[0] }, true);
  at("index").value = state.read().index;
}

function pressed(button, is) {
  button.setAttribute("aria-pressed", String(is));
}

let typing;
at("query").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    state.write({ q: at("query").value, doc: "" }, true);
    show();
  }, TYPING);
});
at("index").addEventListener("change", () => {
  state.write({ index: at("index").value, q: "", doc: "" });
  at("query").value = "";
  show();
});
at("live").addEventListener("click", () => {
  isLive = !isLive;
  pressed(at("live"), isLive);
  show();
});
at("view").addEventListener("click", () => {
  state.write({ heap: state.read().heap === "" ? "1" : "" });
  show();
});
at("more").addEventListener("click", () => {
  const { index, q } = state.read();
  tried(async () => {
    const found = await json(own(index, "search", { ...members(q), after: cursor }));
    cursor = found.cursor;
    hits.append(found.hits);
    at("more").hidden = cursor === undefined || found.hits.length < PAGE;
  });
});
at("document").addEventListener("close", () => state.write({ doc: "" }, true));
at("key").addEventListener("close", () => {
  useKey(at("key").querySelector("input").value);
  start();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
  const does = {
    "/": () => at("query").focus(),
    j: () => hits.step(1),
    k: () => hits.step(-1),
    l: () => at("live").click(),
    h: () => at("view").click(),
  }[event.key];
  if (does === undefined) return;
  event.preventDefault();
  does();
});
addEventListener("popstate", show);

function start() {
  tried(async () => {
    await loadIndexes();
    await show();
  });
}
at("query").value = state.read().q;
at("query").focus();
start();
