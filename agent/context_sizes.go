package agent

import (
	"cmp"
	"slices"

	"buddy/agent/history"
)

const (
	largestItems = 5
	leastLargest = 20 // tokens; smaller items are not listed
)

// share is a part of a request, and its size.
type share struct {
	name   string
	chars  int
	tokens int
}

// contextSizes estimates the sizes of the next request of a conversation with these items: of its parts, which add up
// to the given number of tokens, and of its largest items.
func contextSizes(r *Runtime, items []history.Item, tokens int) (parts, largest []share) {
	chars, files := r.instructions.Sizes()
	parts = []share{{name: "system prompt"}, {name: "instruction files"}, {name: "memory"}, {name: "tools"}, {name: "summary"}, {name: "messages"}, {name: "results"}, {name: "reminders"}}
	at := map[history.ItemKind]int{history.SystemItem: 0, history.SummaryItem: 4, history.MessageItem: 5, history.ResultItem: 6, history.ReminderItem: 7}
	var single []share
	for _, i := range items {
		parts[at[i.Kind]].chars += i.Chars
		if i.Kind != history.SystemItem {
			single = append(single, share{name: i.Name, chars: i.Chars})
		}
	}
	chars = min(chars, parts[0].chars) // part of the system prompt
	parts[0].chars -= chars
	if size := r.opts.Memory.Told; size != nil { // part of the instruction files
		parts[2].chars = min(size(), chars)
	}
	parts[1].chars = chars - parts[2].chars
	for _, f := range files {
		single = append(single, share{name: "instruction file " + f.Path, chars: f.Sent})
	}
	for _, d := range r.selection.Tools().Definitions() {
		n := len(d.Name) + len(d.Description) + len(d.Parameters)
		parts[3].chars += n
		single = append(single, share{name: "tool " + d.Name, chars: n})
	}
	for i := range single {
		single[i].name = r.opts.Redact.Text(single[i].name)
	}
	return inTokens(parts, single, tokens)
}

// inTokens converts sizes in characters to tokens. It returns the parts that are not empty, which add up to the given
// number of tokens, and the largest single items.
func inTokens(parts, single []share, tokens int) (some, largest []share) {
	all := 0
	for _, p := range parts {
		all += p.chars
	}
	if all == 0 {
		return nil, nil
	}
	upTo := func(chars int) int { return int(float64(tokens) * float64(chars) / float64(all)) }
	so, last := 0, 0
	for _, p := range parts {
		so += p.chars
		end := upTo(so)
		if so == all {
			end = tokens
		}
		if p.tokens = end - last; p.chars > 0 {
			some = append(some, p)
		}
		last = end
	}
	slices.SortStableFunc(single, func(a, b share) int { return cmp.Compare(b.chars, a.chars) })
	for _, s := range single[:min(len(single), largestItems)] {
		if s.tokens = upTo(s.chars); s.tokens >= leastLargest {
			largest = append(largest, s)
		}
	}
	return some, largest
}
