// Filters: values of fields with the number of their matches. A click adds one to the query.

import { element, number } from "/_page/element.js";
import { clause, has } from "/_page/query.js";
import { DISTINCT_MAX } from "/_page/shape.js";

/** Shows the answers of facets. `onPick` gets a clause. */
export function show(aside, facets, query, onPick) {
  const shown = facets.filter(({ answer }) => answer.buckets?.length > 0 && !(answer.distinct > DISTINCT_MAX));
  aside.replaceChildren(...shown.map(({ field, answer }) => {
    const values = answer.buckets.filter(({ value }) => value !== null).map(({ value, count }) => {
      const added = clause(field, value);
      return element("button", { type: "button", "aria-pressed": String(has(query, added)), title: added, click: () => onPick(added) },
        element("span", {}, String(value)), element("span", {}, number(count)));
    });
    return element("div", {}, element("h3", {}, field), ...values);
  }));
}
