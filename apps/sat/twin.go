package sat

// solveAlone is the sequential twin of solve: the same cubes one after the other, until one has a model.
func solveAlone(c Cube) Result {
	r, halves := c.solve(nil)
	for _, half := range halves {
		if r = r.and(solveAlone(half)); r.Satisfiable {
			break
		}
	}
	return r
}
