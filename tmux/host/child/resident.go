package child

// Resident returns the memory that the program and all of its group use at the moment, in bytes.
// What they share counts for each.
func (p *Process) Resident() (int64, error) {
	var sum int64
	for _, pid := range members(p.group()) {
		size, err := resident(pid)
		if err != nil {
			return 0, err
		}
		sum += size
	}
	return sum, nil
}
