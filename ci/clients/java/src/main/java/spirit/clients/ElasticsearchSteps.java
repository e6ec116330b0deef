package spirit.clients;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import java.util.Map;

/** Elasticsearch's client does what programs do with it, and checks what comes back: its URL is the argument. */
public final class ElasticsearchSteps {
    private static final String INDEX = "posts-elasticsearch-java";
    private static final int DOCUMENTS = 500;

    public static void main(String[] arguments) throws Exception {
        try (ElasticsearchClient client = ElasticsearchClient.of(builder -> builder.host(arguments[0]))) {
            Steps.expect("tagline", client.info().tagline(), "You Know, for Search");
            write(client);
            search(client);
            try {
                client.search(search -> search.index("nowhere"), Map.class);
                throw new IllegalStateException("an index that is not there was searched");
            } catch (ElasticsearchException refused) {
                Steps.expect("status", refused.status(), 404);
                Steps.expect("error", refused.error().type(), "index_not_found_exception");
            }
            Steps.expect("deleted", client.indices().delete(delete -> delete.index(INDEX)).acknowledged(), true);
        }
    }

    private static void write(ElasticsearchClient client) throws Exception {
        BulkRequest.Builder bulk = new BulkRequest.Builder().index(INDEX);
        for (int n = 0; n < DOCUMENTS; n++) {
            String id = Integer.toString(n);
            Map<String, Object> document = Steps.document(n);
            bulk.operations(operation -> operation.index(index -> index.id(id).document(document)));
        }
        var written = client.bulk(bulk.build());
        Steps.expect("errors", written.errors(), false);
        Steps.expect("items", written.items().size(), DOCUMENTS);
        client.indices().refresh(refresh -> refresh.index(INDEX));
        Steps.expect("count", client.count(count -> count.index(INDEX)).count(), (long) DOCUMENTS);
        Steps.expect("get", client.get(get -> get.index(INDEX).id("7"), Map.class).source(), Steps.document(7));
    }

    private static void search(ElasticsearchClient client) throws Exception {
        Query words = Query.of(query -> query.match(match -> match.field("text").query("heron")));
        Query late = Query.of(query -> query.range(range -> range.number(number -> number.field("n").gte(490.0))));
        var found = client.search(search -> search
                .index(INDEX)
                .size(3)
                .query(query -> query.bool(bool -> bool.must(words).filter(late)))
                .sort(sort -> sort.field(field -> field.field("n").order(SortOrder.Desc)))
                .aggregations("n", aggregation -> aggregation.stats(stats -> stats.field("n"))), Map.class);
        Steps.expect("total", found.hits().total().value(), 10L);
        Steps.expect("first", found.hits().hits().get(0).id(), "499");
        Steps.expect("source", found.hits().hits().get(0).source(), Steps.document(499));
        Steps.expect("least", found.aggregations().get("n").stats().min(), 490.0);
    }
}
