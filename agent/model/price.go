package model

import "fmt"

// Money is an amount in micro-dollars: 1_000_000 is one dollar. Sums of it are exact.
type Money int64

// Dollar is one dollar.
const Dollar Money = 1_000_000

// String returns the amount as "$0.42". Amounts below ten cents have four decimals.
func (m Money) String() string {
	d := float64(m) / float64(Dollar)
	switch {
	case m == 0:
		return "$0"
	case m < 0:
		return "-" + (-m).String()
	case m < 50:
		return "<$0.0001"
	case m < Dollar/10:
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}

// Price holds the prices of a million tokens. The zero value means that they are not known.
type Price struct {
	Input      Money `json:"input"`
	Cached     Money `json:"cached"`      // input that the provider had cached
	CacheWrite Money `json:"cache_write"` // input that it stores for later
	Output     Money `json:"output"`
}

// Known reports whether there is a price.
func (p Price) Known() bool { return p != Price{} }

// maxTokens bounds what a provider may claim of one request, so that no sum overflows.
const maxTokens = 1_000_000_000

// Cost returns the cost of a request, rounded to a micro-dollar; 0 when the price is not known.
func (p Price) Cost(u Usage) Money {
	tokens := func(n int) Money { return Money(min(max(n, 0), maxTokens)) }
	cached, written := tokens(u.Cached), tokens(u.CacheWrite)
	fresh := max(tokens(u.Prompt)-cached-written, 0)
	sum := fresh*p.Input + cached*p.Cached + written*p.CacheWrite + tokens(u.Completion)*p.Output
	return (sum + Dollar/2) / Dollar
}
