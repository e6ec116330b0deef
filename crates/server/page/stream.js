// Documents as they arrive: server-sent events over fetch, which can send a key. It comes back by itself.

import { Problem, ask, parameters } from "/_page/api.js";

/** The pause before it comes back, in milliseconds: twice as long after each failure. */
const PAUSE = 500;
const PAUSE_MAX = 15000;

/** Listens to what is asked for until `signal` is aborted. `onHits` gets lists of hits, `onState` true while it listens. */
export async function listen(index, asked, { signal, onHits, onState, onMissed }) {
  let last;
  let pause = PAUSE;
  while (!signal.aborted) {
    try {
      const path = `/api/v1/${encodeURIComponent(index)}/tail?${parameters(asked)}`;
      const response = await ask(path, { signal, last });
      onState(true);
      pause = PAUSE;
      for await (const events of read(response.body)) {
        const hits = [];
        for (const { event, id, data } of events) {
          if (id !== undefined) last = id;
          if (event === "missed") onMissed(Number(data));
          else if (event === "end") throw new Error(data);
          else hits.push(JSON.parse(data));
        }
        if (hits.length > 0) onHits(hits);
      }
    } catch (error) {
      if (signal.aborted) return;
      onState(false);
      // What the server refuses stays refused.
      if (error instanceof Problem && error.status < 500 && error.status !== 429) return;
    }
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(pause * 2, PAUSE_MAX);
  }
}

/** Yields the events of each piece that comes. */
async function* read(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    yield blocks.map(event).filter((one) => one.data !== "");
  }
}

function event(block) {
  const one = { event: "message", id: undefined, data: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    const [name, value] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 2)];
    if (name === "data") one.data += (one.data ? "\n" : "") + value;
    else if (name === "id" || name === "event") one[name] = value;
  }
  return one;
}
