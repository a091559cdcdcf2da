package host

// ParseList is for the fuzz target.
var ParseList = parseList
