package child

// Impatient has nobody wait for an answer.
func (a *Asked) Impatient() { a.patience = 0 }
