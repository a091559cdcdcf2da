package tools

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration as people type it: "500ms", "30s", "10m", "1h", "1d", or a
// number of seconds. It must be more than 0 and at most a year.
func ParseDuration(s string) (time.Duration, error) {
	const allowed = "(allowed: 500ms, 30s, 10m, 1h, 1d, or a number of seconds)"
	s = strings.TrimSpace(s)
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	units := map[string]time.Duration{
		"": time.Second, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}
	unit, ok := units[s[len(number):]]
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a time %s", s, allowed)
	}
	const year = 365 * 24 * time.Hour
	d := n * float64(unit)
	if !(d >= float64(time.Millisecond) && d <= float64(year)) { // also false for NaN
		return 0, fmt.Errorf("%q is out of range (allowed: 1ms to 365d)", s)
	}
	return time.Duration(d), nil
}
