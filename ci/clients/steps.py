"""Real clients do what programs do with them, and check what comes back: steps.py URL CLIENT."""

import sys

URL, CLIENT = sys.argv[1:]
INDEX = f"posts-{CLIENT}"

if CLIENT == "opensearch":
    from opensearchpy import OpenSearch, exceptions, helpers

    client = OpenSearch(URL)

    def index(id, document, **more):
        return client.index(index=INDEX, id=id, body=document, **more)

    def create(id, document):
        return client.create(index=INDEX, id=id, body=document)

else:
    import elasticsearch as exceptions
    from elasticsearch import Elasticsearch, helpers

    client = Elasticsearch(URL)

    def index(id, document, **more):
        return client.index(index=INDEX, id=id, document=document, **more)

    def create(id, document):
        return client.create(index=INDEX, id=id, document=document)


def refused(status, work):
    try:
        work()
    except exceptions.ApiError if CLIENT != "opensearch" else exceptions.TransportError as error:
        code = error.status_code
        assert code == status, f"{code}, not {status}: {error}"
        return error
    raise AssertionError(f"not refused with {status}")


def keys(answer):
    return [hit["_id"] for hit in answer["hits"]["hits"]]


assert client.ping()
assert client.info()["tagline"] == "You Know, for Search"
assert client.cluster.health()["status"] == "green"
assert not client.indices.exists(index=INDEX)

# An index is made by its first document, and dates are found.
source = {"text": "a grey heron", "n": 1, "at": "2026-11-25T10:00:00Z", "user": {"name": "ann"}}
first = index("1", source)
assert (first["result"], first["_version"], first["_seq_no"]) == ("created", 1, 0), first
assert client.get(index=INDEX, id="1")["_source"] == source
second = index("1", {**source, "n": 2})
assert (second["result"], second["_version"], second["_seq_no"]) == ("updated", 2, 1), second
mapping = client.indices.get_mapping(index=INDEX)[INDEX]["mappings"]["properties"]
assert (mapping["at"]["type"], mapping["n"]["type"]) == ("date", "long"), mapping
assert mapping["user"]["properties"]["name"]["type"] == "text", mapping

# Conditions are decided by the server.
refused(409, lambda: create("1", source))
refused(409, lambda: index("1", source, if_seq_no=0, if_primary_term=1))
third = index("1", source, if_seq_no=1, if_primary_term=1)
assert third["_version"] == 3, third
updated = client.update(index=INDEX, id="1", body={"doc": {"n": 7, "user": {"age": 30}}})
assert updated["_version"] == 4, updated
assert client.get(index=INDEX, id="1")["_source"] == {**source, "n": 7, "user": {"name": "ann", "age": 30}}
assert client.update(index=INDEX, id="1", body={"doc": {"n": 7}})["result"] == "noop"
refused(404, lambda: client.update(index=INDEX, id="none", body={"doc": {"n": 7}}))
client.update(index=INDEX, id="2", body={"doc": {"n": 7}, "doc_as_upsert": True})

# Many at once; what one is refused for does not harm the others.
documents = [
    {"_index": INDEX, "_id": str(n), "_source": {"text": f"heron {n}", "n": n, "level": ["info", "warn"][n % 2]}}
    for n in range(100, 200)
]
assert helpers.bulk(client, documents)[0] == 100
assert helpers.bulk(client, [{"_index": INDEX, "_op_type": "create", "_source": {"text": "auto"}}])[0] == 1
mixed = [
    {"_index": INDEX, "_id": "100", "_op_type": "create", "_source": {"n": 1}},
    {"_index": INDEX, "_id": "201", "_source": {"n": "many"}},
    {"_index": INDEX, "_id": "101", "_op_type": "delete"},
    {"_index": INDEX, "_id": "202", "_source": {"text": "heron 202", "n": 202}},
]
done, errors = helpers.bulk(client, mixed, raise_on_error=False)
kinds = [next(iter(error.values()))["error"]["type"] for error in errors]
assert (done, kinds) == (2, ["version_conflict_engine_exception", "mapper_parsing_exception"]), errors

# What was acknowledged is found at once.
client.indices.refresh(index=INDEX)
query = {"bool": {"must": [{"match": {"text": "heron"}}], "filter": [{"range": {"n": {"gte": 190}}}]}}
answer = client.search(index=INDEX, body={"query": query, "sort": [{"n": "desc"}], "size": 3})
assert keys(answer) == ["202", "199", "198"], answer
assert answer["hits"]["total"] == {"value": 11, "relation": "eq"}, answer
assert answer["hits"]["hits"][0]["sort"] == [202], answer
after = client.search(index=INDEX, body={"query": query, "sort": [{"n": "desc"}], "size": 2, "search_after": [198]})
assert keys(after) == ["197", "196"], after
levels = client.search(index=INDEX, body={"size": 0, "aggs": {"l": {"terms": {"field": "level.keyword"}, "aggs": {"n": {"avg": {"field": "n"}}}}}})
buckets = levels["aggregations"]["l"]["buckets"]
assert [(bucket["key"], bucket["doc_count"]) for bucket in buckets] == [("info", 50), ("warn", 49)], buckets
assert buckets[0]["n"]["value"] == 149, buckets
warn = {"query": {"term": {"level.keyword": "warn"}}}
assert client.count(index=INDEX, body=warn)["count"] == 49
best = client.search(index=f"{INDEX[:-2]}*", q="text:grey AND n:7", _source_includes="n")
assert best["hits"]["hits"][0]["_source"] == {"n": 7}, best
many = client.msearch(body=[{"index": INDEX}, {"size": 1}, {"index": "nowhere"}, {"size": 1}])
assert [one["status"] for one in many["responses"]] == [200, 404], many
assert [one["found"] for one in client.mget(index=INDEX, body={"ids": ["1", "none"]})["docs"]] == [True, False]

# All documents page by page, changes by query, and other names.
scanned = list(helpers.scan(client, index=INDEX, query={"query": {"match_all": {}}}, size=30))
assert len({hit["_id"] for hit in scanned}) == len(scanned) == client.count(index=INDEX)["count"], len(scanned)
client.indices.put_alias(index=INDEX, name=f"{INDEX}-alias")
assert list(client.indices.get_alias(name=f"{INDEX}-alias").keys()) == [INDEX]
assert client.indices.exists_alias(name=f"{INDEX}-alias")
by_alias = {"index": f"{INDEX}-alias", "body": {"query": {"range": {"n": {"lte": 151, "gte": 150}}}}}
assert client.count(**by_alias)["count"] == 2
removed = client.delete_by_query(**by_alias, refresh=True)
assert (removed["total"], removed["deleted"], removed["version_conflicts"]) == (2, 2, 0), removed
client.indices.update_aliases(body={"actions": [{"remove": {"index": INDEX, "alias": f"{INDEX}-alias"}}]})
assert not client.indices.exists_alias(name=f"{INDEX}-alias")

# What is wrong is named.
assert "unknown query [foo]" in str(refused(400, lambda: client.search(index=INDEX, body={"query": {"foo": {}}})))
refused(404, lambda: client.search(index="nowhere", body={}))
refused(404, lambda: client.get(index=INDEX, id="none"))
assert client.delete(index=INDEX, id="1")["result"] == "deleted"
refused(404, lambda: client.delete(index=INDEX, id="1"))
caps = client.field_caps(index=INDEX, fields=["n", "lev*"])["fields"]
assert (list(caps), caps["n"]["long"]["aggregatable"]) == (["level", "level.keyword", "n"], True), caps
mapped = client.indices.get_field_mapping(index=INDEX, fields="n")[INDEX]["mappings"]["n"]
assert mapped == {"full_name": "n", "mapping": {"n": {"type": "long"}}}, mapped
assert client.indices.get_settings(index=INDEX)[INDEX]["settings"]["index"]["number_of_shards"] == "1"
assert client.indices.stats(index=INDEX)["indices"][INDEX]["primaries"]["docs"]["count"] == 100
assert client.cat.count(index=INDEX, format="json")[0]["count"] == "100"
assert client.cat.health(format="json")[0]["status"] == "green"
rows = client.cat.indices(index=INDEX, format="json")
assert rows[0]["docs.count"] == "100", rows
client.indices.delete(index=INDEX)
assert not client.indices.exists(index=INDEX)
print("ok")
