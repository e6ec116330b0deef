// Real Go clients do what programs do with them, and check what comes back: steps URL
package main

import (
	"fmt"
	"os"
)

const (
	documents = 1000
	search    = `{"query":{"bool":{"must":[{"match":{"text":"heron"}}],"filter":[{"range":{"n":{"gte":990}}}]}},"sort":[{"n":"desc"}],"size":3}`
)

func document(n int) string {
	return fmt.Sprintf(`{"text":"heron %d",  "n":%d}`, n, n)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func expect[T comparable](what string, found, expected T) {
	if found != expected {
		panic(fmt.Sprintf("%s: %v, not %v", what, found, expected))
	}
}

func main() {
	openSearch(os.Args[1])
	elasticSearch(os.Args[1])
}
