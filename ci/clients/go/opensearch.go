package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"
)

// openSearch does the steps with OpenSearch's client.
func openSearch(url string) {
	ctx, index := context.Background(), "posts-opensearch-go"
	config := opensearchapi.Config{Client: opensearch.Config{Addresses: []string{url}}}
	client, err := opensearchapi.NewClient(config)
	must(err)
	info, err := client.Info(ctx, nil)
	must(err)
	expect("tagline", info.Tagline, "You Know, for Search")
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{
		Client: client, Index: index, NumWorkers: 2, FlushBytes: 10_000,
	})
	must(err)
	for n := range documents {
		item := opensearchutil.BulkIndexerItem{
			Action: "index", DocumentID: fmt.Sprint(n), Body: strings.NewReader(document(n)),
			OnFailure: func(_ context.Context, _ opensearchutil.BulkIndexerItem, answer opensearchapi.BulkRespItem, err error) {
				panic(fmt.Sprint(answer, err))
			},
		}
		must(indexer.Add(ctx, item))
	}
	must(indexer.Close(ctx))
	expect("indexed", indexer.Stats().NumFlushed, uint64(documents))
	found, err := client.Search(ctx, &opensearchapi.SearchReq{
		Indices: []string{index}, Body: strings.NewReader(search),
	})
	must(err)
	expect("total", found.Hits.Total.Value, 10)
	expect("first", found.Hits.Hits[0].ID, fmt.Sprint(documents-1))
	expect("source", string(found.Hits.Hits[0].Source), document(documents-1))
	_, err = client.Search(ctx, &opensearchapi.SearchReq{
		Indices: []string{index}, Body: strings.NewReader(`{"query":{"foo":{}}}`),
	})
	if err == nil || !strings.Contains(err.Error(), "unknown query [foo]") {
		panic(fmt.Sprint("not refused: ", err))
	}
	_, err = client.Indices.Delete(ctx, opensearchapi.IndicesDeleteReq{Indices: []string{index}})
	must(err)
}
