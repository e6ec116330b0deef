// Requests to this server, with the key of this tab if there is one.

const KEY = "spirit-key";

/** An answer that is an error, with what the server says about it. */
export class Problem extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `status ${status}`);
    this.status = status;
  }
}

function headers(more = {}) {
  const key = sessionStorage.getItem(KEY);
  return key ? { ...more, authorization: `ApiKey ${key}` } : more;
}

/** Keeps a key until this tab is closed. */
export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

/** Sends a request, and returns the response if it is no error. */
export async function ask(path, { signal, last } = {}) {
  const more = last === undefined ? {} : { "last-event-id": last };
  const response = await fetch(path, { signal, headers: headers(more) });
  if (response.ok) return response;
  const text = await response.text();
  let problem = {};
  try { problem = JSON.parse(text); } catch { problem = { detail: text.slice(0, 300) }; }
  throw new Problem(response.status, problem);
}

/** Returns the JSON of an answer. */
export async function json(path, options) {
  return (await ask(path, options)).json();
}

/** Writes parameters of a URL. A list has its name several times. */
export function parameters(members) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== "") all.append(name, one);
    }
  }
  return all.toString();
}
