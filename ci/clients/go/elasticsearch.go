package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esutil"
)

// elasticSearch does the steps with Elasticsearch's client.
func elasticSearch(url string) {
	ctx, index := context.Background(), "posts-elasticsearch-go"
	client, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{url}})
	must(err)
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: index, NumWorkers: 2, FlushBytes: 10_000,
	})
	must(err)
	for n := range documents {
		item := esutil.BulkIndexerItem{
			Action: "create", DocumentID: fmt.Sprint(n), Body: strings.NewReader(document(n)),
			OnFailure: func(_ context.Context, _ esutil.BulkIndexerItem, answer esutil.BulkIndexerResponseItem, err error) {
				panic(fmt.Sprint(answer, err))
			},
		}
		must(indexer.Add(ctx, item))
	}
	must(indexer.Close(ctx))
	expect("created", indexer.Stats().NumCreated, uint64(documents))
	answer, err := client.Search(
		client.Search.WithIndex(index), client.Search.WithBody(strings.NewReader(search)))
	must(err)
	defer answer.Body.Close()
	var found struct {
		Hits struct {
			Total struct{ Value int }
			Hits  []struct {
				ID     string          `json:"_id"`
				Source json.RawMessage `json:"_source"`
			}
		}
	}
	must(json.NewDecoder(answer.Body).Decode(&found))
	expect("total", found.Hits.Total.Value, 10)
	expect("first", found.Hits.Hits[0].ID, fmt.Sprint(documents-1))
	expect("source", string(found.Hits.Hits[0].Source), document(documents-1))
	refused, err := client.Search(
		client.Search.WithIndex(index), client.Search.WithBody(strings.NewReader(`{"query":{"foo":{}}}`)))
	must(err)
	defer refused.Body.Close()
	expect("status", refused.StatusCode, 400)
	deleted, err := client.Indices.Delete([]string{index})
	must(err)
	defer deleted.Body.Close()
	expect("deleted", deleted.StatusCode, 200)
}
