//go:build !darwin

package seatbelt

// Tested returns "", because this is not macOS.
func Tested() string { return "" }
