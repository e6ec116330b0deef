// Queries as text: clauses that a click adds to them.

const PLAIN = /^[\p{L}\p{N}_.@-]+$/u;

function quoted(value) {
  return PLAIN.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** A clause for a value of a field. */
export function clause(field, value) {
  return `${quoted(field)}:${quoted(String(value))}`;
}

/** A clause for a time from one moment to before another. */
export function within(field, from, to) {
  return `${quoted(field)}:[${from} TO ${to}}`;
}

/** Adds a clause to a query, or takes it away if it is there. */
export function toggled(query, added) {
  const parts = query.trim() === "" ? [] : query.trim().split(" AND ");
  const at = parts.indexOf(added);
  if (at >= 0) parts.splice(at, 1);
  else parts.push(added);
  return parts.map((part) => (parts.length > 1 && / OR /.test(part) && !part.startsWith("(") ? `(${part})` : part)).join(" AND ");
}

/** True if a clause is one of a query's. */
export function has(query, wanted) {
  return query.trim().split(" AND ").includes(wanted);
}
