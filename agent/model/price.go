package model

import "fmt"

// Money is an amount in micro-dollars: 1_000_000 is one dollar. Sums are exact.
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

// Price holds the price of a million tokens of each kind. The zero value means that the price is unknown.
type Price struct {
	Input      Money `json:"input"`
	Cached     Money `json:"cached"`      // input that the provider has cached
	CacheWrite Money `json:"cache_write"` // input that the provider stores for later
	Output     Money `json:"output"`
}

// Known reports whether the price is known.
func (p Price) Known() bool { return p != Price{} }

// maxTokens limits the number of tokens accepted from a provider for one request, so that no sum overflows.
const maxTokens = 1_000_000_000

// Covers reports whether Cost can tell the cost of a request.
func (p Price) Covers(u Usage) bool { return u.Cost > 0 || p.Known() }

// maxCost limits the cost accepted from a provider for one request.
const maxCost = 1_000_000 * Dollar

// Dollars converts an amount that a provider states in dollars. An amount that is negative or not a number becomes 0.
func Dollars(f float64) Money {
	if !(f > 0) { // NaN too
		return 0
	}
	return Money(min(f, float64(maxCost/Dollar))*float64(Dollar) + 0.5)
}

// Cost returns the cost of a request, rounded to a micro-dollar: as the provider reported it, or else computed from the
// price. It is 0 if both are unknown.
func (p Price) Cost(u Usage) Money {
	if u.Cost > 0 {
		return min(u.Cost, maxCost)
	}
	tokens := func(n int) Money { return Money(min(max(n, 0), maxTokens)) }
	cached, written := tokens(u.Cached), tokens(u.CacheWrite)
	fresh := max(tokens(u.Prompt)-cached-written, 0)
	sum := fresh*p.Input + cached*p.Cached + written*p.CacheWrite + tokens(u.Completion)*p.Output
	return (sum + Dollar/2) / Dollar
}
