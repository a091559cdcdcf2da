package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/texts"
)

// Limits of a server's lists.
const (
	maxPages  = 50
	maxItems  = 1000
	maxList   = 4 << 20  // bytes
	maxSchema = 64 << 10 // bytes
	maxDepth  = 32       // levels of a schema
)

// page fetches the page of a list at a cursor.
type page[T any] func(ctx context.Context, cursor string) (items []T, next string, err error)

// listAll returns all pages of a list within the limits. cut is the reason why the rest is missing, or "". An error of
// the first page is returned; after an error of a later page the earlier pages are returned.
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
				continue // can't happen, because it came as JSON
			}
			if size += len(text); size > maxList {
				return all, fmt.Sprintf("its list has more than %d MiB; only the first %d entries are used", maxList>>20, len(all)), nil
			}
			if len(all) == maxItems {
				return all, fmt.Sprintf("its list has more than %d entries; the others are ignored", maxItems), nil
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
	return all, fmt.Sprintf("its list has more than %d pages; the others are ignored", maxPages), nil
}

// definition is the definition of a tool by its server.
type definition struct {
	*sdk.Tool
	schema json.RawMessage // of the arguments, with sorted keys
}

// define checks the definition of a tool. The error is why the tool is left out.
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

// depth returns the nesting of objects and arrays in valid JSON.
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

// shortName quotes and shortens a name that a server chose.
func shortName(name string) string { return fmt.Sprintf("%q", texts.ClipBytes(name, 80)) }

// listTools returns the valid tools of a server, and notes about the others.
func listTools(ctx context.Context, session *sdk.ClientSession, wanted func(string) bool) (all []definition, notes []string, err error) {
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
		if t == nil || !wanted(t.Name) {
			continue
		}
		if known[t.Name] {
			notes = append(notes, "left out: "+shortName(t.Name)+" is defined twice; the first definition is used")
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
