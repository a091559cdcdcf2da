package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/texts"
)

// Limits of what a server may list.
const (
	maxPages  = 50
	maxItems  = 1000
	maxList   = 4 << 20  // bytes
	maxSchema = 64 << 10 // bytes
	maxDepth  = 32       // levels of a schema
)

// page asks for one page of a list, from a cursor on.
type page[T any] func(ctx context.Context, cursor string) (items []T, next string, err error)

// listAll returns all pages of a list within the limits. cut says why the rest is missing, "" if
// nothing is. An error is that of the first page; what came before a later one counts.
func listAll[T any](ctx context.Context, get page[T]) (all []T, cut string, err error) {
	cursor, size := "", 0
	seen := make(map[string]bool)
	for n := range maxPages {
		items, next, err := get(ctx, cursor)
		if err != nil {
			if n == 0 {
				return nil, "", err
			}
			return all, fmt.Sprintf("page %d of its list failed: %v", n+1, err), nil
		}
		for _, item := range items {
			text, err := json.Marshal(item)
			if err != nil {
				continue // it came as JSON
			}
			if size += len(text); size > maxList {
				return all, fmt.Sprintf("its list has more than %d MiB; the first %d entries count", maxList>>20, len(all)), nil
			}
			if len(all) == maxItems {
				return all, fmt.Sprintf("its list has more than %d entries; those count", maxItems), nil
			}
			all = append(all, item)
		}
		switch {
		case next == "":
			return all, "", nil
		case seen[next]:
			return all, fmt.Sprintf("its list repeats itself after %d pages", n+1), nil
		}
		seen[next] = true
		cursor = next
	}
	return all, fmt.Sprintf("its list has more than %d pages; those count", maxPages), nil
}

// definition is a tool as a server defines it.
type definition struct {
	*sdk.Tool
	schema json.RawMessage // of its arguments, keys sorted
}

// define checks the definition of a tool. The error says why it is left out.
func define(t *sdk.Tool) (d definition, err error) {
	d = definition{Tool: t}
	if t.Name == "" {
		return d, fmt.Errorf("a tool has no name")
	}
	if d.schema, err = json.Marshal(t.InputSchema); err != nil {
		return d, fmt.Errorf("%s: its schema can't be read: %w", shortName(t.Name), err)
	}
	switch {
	case len(d.schema) > maxSchema:
		return d, fmt.Errorf("%s: its schema has %d bytes (allowed: %d)", shortName(t.Name), len(d.schema), maxSchema)
	case depth(d.schema) > maxDepth:
		return d, fmt.Errorf("%s: its schema has more than %d levels", shortName(t.Name), maxDepth)
	case bytes.Equal(d.schema, []byte("null")):
		d.schema = json.RawMessage(`{"type":"object"}`)
	}
	return d, nil
}

// depth returns how deep objects and arrays are nested in valid JSON.
func depth(text []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// shortName returns a name of a server for a line of text.
func shortName(name string) string { return fmt.Sprintf("%q", texts.ClipBytes(name, 80)) }

// listTools returns the tools of a server that count, and what is to be said of the others.
func listTools(ctx context.Context, session *sdk.ClientSession, takes func(string) bool) (all []definition, notes []string, err error) {
	listed, cut, err := listAll(ctx, func(ctx context.Context, cursor string) ([]*sdk.Tool, string, error) {
		res, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.Tools, res.NextCursor, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if cut != "" {
		notes = append(notes, cut)
	}
	known := make(map[string]bool)
	for _, t := range listed {
		if t == nil || !takes(t.Name) {
			continue
		}
		if known[t.Name] {
			notes = append(notes, "left out: "+shortName(t.Name)+" is defined twice; the first counts")
			continue
		}
		known[t.Name] = true
		d, err := define(t)
		if err != nil {
			notes = append(notes, "left out: "+err.Error())
			continue
		}
		all = append(all, d)
	}
	return all, notes, nil
}
