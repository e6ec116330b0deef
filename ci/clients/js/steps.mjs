// Real JavaScript clients do what programs do with them, and check what comes back: node steps.mjs URL CLIENT

import assert from "node:assert/strict";

const [url, name] = process.argv.slice(2);
const { Client } = await import(name === "opensearch" ? "@opensearch-project/opensearch" : name);
const client = new Client({ node: url });
const index = `posts-${name}`;
// Newer clients give the body, and take its members beside the parameters.
const wraps = name === "opensearch" || name === "elasticsearch7";
const body = (answer) => (wraps ? answer.body : answer);
const withBody = (parameters, members) => (wraps ? { ...parameters, body: members } : { ...parameters, ...members });
const write = (parameters, document) => (wraps ? { ...parameters, body: document } : { ...parameters, document });

async function refused(status, work) {
  const error = await work().then(() => undefined, (error) => error);
  assert.equal(error?.statusCode ?? error?.meta?.statusCode, status, `${error}`);
  return error;
}

assert.equal(body(await client.ping()), true);
assert.equal(body(await client.info()).tagline, "You Know, for Search");
assert.equal(body(await client.cluster.health()).status, "green");
assert.equal(body(await client.indices.exists({ index })), false);

// An index is made by its first document, and conditions are the server's.
const source = { text: "a grey heron", n: 1, at: "2026-11-25T10:00:00Z" };
const first = body(await client.index(write({ index, id: "1", refresh: true }, source)));
assert.deepEqual([first.result, first._version], ["created", 1]);
assert.deepEqual(body(await client.get({ index, id: "1" }))._source, source);
await refused(409, () => client.create(write({ index, id: "1" }, source)));
const condition = { if_seq_no: first._seq_no, if_primary_term: first._primary_term };
const second = body(await client.index(write({ index, id: "1", ...condition }, { ...source, n: 2 })));
assert.equal(second._version, 2);
await refused(409, () => client.index(write({ index, id: "1", ...condition }, source)));
const updated = body(await client.update(withBody({ index, id: "1" }, { doc: { n: 7 } })));
assert.equal(updated._version, 3);

// The helper sends many bulks, and counts.
const documents = Array.from({ length: 1000 }, (_, n) => ({ id: `b${n}`, text: `heron ${n}`, n: n + 100 }));
const counted = await client.helpers.bulk({
  datasource: documents,
  flushBytes: 10_000,
  refreshOnCompletion: index,
  onDocument: (document) => ({ index: { _index: index, _id: document.id } }),
});
assert.deepEqual([counted.total, counted.successful, counted.failed], [1000, 1000, 0]);
const dropped = [];
const refusals = await client.helpers.bulk({
  datasource: [{ n: "many" }, { n: 5 }],
  onDocument: () => ({ index: { _index: index } }),
  onDrop: (drop) => dropped.push(drop.error.type),
});
assert.deepEqual([refusals.successful, dropped], [1, ["mapper_parsing_exception"]]);

const query = { bool: { must: [{ match: { text: "heron" } }], filter: [{ range: { n: { gte: 1090 } } }] } };
const found = body(await client.search(withBody({ index }, { query, sort: [{ n: "desc" }], size: 3 })));
assert.deepEqual(found.hits.hits.map((hit) => hit._id), ["b999", "b998", "b997"]);
assert.deepEqual(found.hits.total, { value: 10, relation: "eq" });
const aggs = { n: { stats: { field: "n" } } };
const stats = body(await client.search(withBody({ index, size: 0 }, { query, aggs }))).aggregations.n;
assert.deepEqual([stats.count, stats.min, stats.max], [10, 1090, 1099]);
assert.equal(body(await client.count(withBody({ index }, { query }))).count, 10);

// All documents, by pages of a scroll.
const scanned = new Set();
const parameters = withBody({ index, scroll: "1m", size: 300 }, { query: { match: { text: "heron" } } });
for await (const page of client.helpers.scrollDocuments(parameters)) {
  scanned.add(page.n);
}
assert.equal(scanned.size, 1001);

const unknown = await refused(400, () => client.search(withBody({ index }, { query: { foo: {} } })));
assert.match(JSON.stringify(unknown.meta?.body ?? unknown.body), /unknown query \[foo\]/);
await refused(404, () => client.search({ index: "nowhere" }));
assert.equal(body(await client.delete({ index, id: "1" })).result, "deleted");
await client.indices.delete({ index });
assert.equal(body(await client.indices.exists({ index })), false);
