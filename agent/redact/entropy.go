package redact

import "strings"

// Entropy removes words from s that look random: they have at least 20 bytes and mix upper case, lower case and digits
// more than names do. Use it after [Redactor.Text] for data that leaves the session, such as exports and debug logs.
// Don't use it for the model's text, where a wrong guess would lose data. Hashes, UUIDs and numbers stay.
func Entropy(s string) string {
	var b strings.Builder
	done, from := 0, -1
	for i := 0; i <= len(s); i++ {
		if i < len(s) && base64url[s[i]] {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 && i-from >= leastChance && chance(s[from:i]) {
			b.WriteString(s[done:from])
			b.WriteString(Mark)
			done = i
		}
		from = -1
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

const leastChance = 20

var base64url = chars("AZaz09++//==--__")

// chance reports whether a word looks random: most neighbouring characters differ in class, and runs of three
// lower-case letters are rare. Names and paths have few changes of class and many such runs.
func chance(s string) bool {
	var seen [256]bool
	var count [4]int // by class
	distinct, changes, run, wordy := 0, 0, 0, 0
	last := kindOf(s[0])
	for i := range len(s) {
		c := kindOf(s[i])
		count[c]++
		if c != last {
			changes, run = changes+1, 0
		}
		if run++; c == small && run >= 3 {
			wordy++
			if run == 3 {
				wordy += 2
			}
		}
		last = c
		if !seen[s[i]] {
			seen[s[i]] = true
			distinct++
		}
	}
	return count[digit] > 1 && count[capital] > 1 && count[small] > 1 && count[other]*5 < len(s) &&
		changes*5 >= len(s)*2 && wordy*5 < len(s)*2 && distinct >= min(len(s)/2, 20)
}

const (
	other = iota
	digit
	capital
	small
)

func kindOf(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return digit
	case b >= 'A' && b <= 'Z':
		return capital
	case b >= 'a' && b <= 'z':
		return small
	}
	return other
}
