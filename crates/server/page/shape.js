// The shape of an index: which field is its text, which its time, and which may be filtered by.

const TEXTS = ["message", "text", "body", "msg", "log", "title", "content"];
const TIMES = ["@timestamp", "timestamp", "time", "created_at", "date", "at"];
/** Fields that are offered as filters, at most, and the values of each. */
const FILTERS = 6;
export const VALUES = 8;
/** A field of text with more different terms than this is no filter. */
export const DISTINCT_MAX = 500;

/** Reads a schema: kinds of fields by name. */
export function shape(schema) {
  const names = Object.keys(schema).filter((name) => !name.startsWith("_"));
  const of = (kind) => names.filter((name) => schema[name].startsWith(kind));
  const first = (wanted, found) => wanted.find((name) => found.includes(name)) ?? found[0];
  const texts = of("text");
  const text = first(TEXTS, texts);
  const filters = [...of("keyword"), ...of("boolean"), ...texts.filter((name) => name !== text)];
  return { schema, text, time: first(TIMES, of("time")), filters: filters.slice(0, FILTERS) };
}
