package child

// Resident returns the memory in use by the program and its group, in bytes. Shared memory counts for each process.
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
