//go:build !darwin

package seatbelt

// Tested is "" where there is no macOS.
func Tested() string { return "" }
