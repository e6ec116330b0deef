// What the page shows, as its address has it: so a link shows the same.

const EMPTY = { index: "", q: "", heap: "", doc: "" };

/** Reads the address. */
export function read() {
  const address = new URLSearchParams(location.search);
  return Object.fromEntries(Object.keys(EMPTY).map((name) => [name, address.get(name) ?? ""]));
}

/** Writes changes to the address. A step that "back" takes back, unless it replaces the last one. */
export function write(changes, replace = false) {
  const state = { ...read(), ...changes };
  const address = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== ""));
  const path = address.size > 0 ? `/?${address}` : "/";
  if (path === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", path);
}
