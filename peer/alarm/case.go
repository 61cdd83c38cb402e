package alarm

// A Case is what two have signed of one job, or one alone: Against is "" then; or one has signed both.
type Case struct {
	By, Against PeerID
	Said, Truth Hash // of what By has signed, and Against
	// Judged says that the application tells what of an outcome is compared, and which is wrong by itself; Alike, that
	// right outcomes are equal in that; Silent, that the job may share what no caller of it shows.
	Judged, Alike, Silent bool
}

// An Essence is what the application says of an outcome.
type Essence struct {
	Hash  // of what is compared of it
	Wrong bool
	// Void says that nothing follows from it: it proves itself or says nothing, or the application has no time.
	Void bool
}

// A Bench finds out what a trial takes.
type Bench interface {
	// Judge has the application judge the outcome that By has signed or, with truth, Against.
	Judge(truth bool) Essence
	// Run runs the job, with what is given of it, and says what is compared of its outcome; false if it comes to no
	// end, reads what is not here, or shares a lattice, so that it may honestly come to other things.
	Run() (Hash, bool)
}

// twice says whether one has signed two things of a job that comes to one.
func (c *Case) twice() bool { return c.By == c.Against && !c.Judged }

// Plain says who has lied where that needs no trial; over, that there is none, also because nothing can be shown.
func (c *Case) Plain() (liar PeerID, over bool) {
	switch {
	case !c.Alike && !c.Judged:
		return "", true
	case c.twice() && !c.Silent:
		return c.By, true
	}
	return "", false
}

// Try says who has lied; "" if that cannot be told.
func (c Case) Try(b Bench) PeerID {
	if c.Judged {
		if liar, over := c.judge(b); over {
			return liar
		}
	}
	if !c.Alike || c.Against != "" && c.Said == c.Truth {
		return ""
	}
	own, ok := b.Run()
	switch {
	case !ok:
		return ""
	case c.twice(): // of a job that has come to its end, and has shared nothing
		return c.By
	}
	return c.Liar(own)
}

// judge has each word be judged by itself. If that is not all, what of the two is compared is left in the case.
func (c *Case) judge(b Bench) (liar PeerID, over bool) {
	said := b.Judge(false)
	switch {
	case said.Void:
		return "", true
	case said.Wrong:
		return c.By, true
	case c.Against == "":
		return "", true
	}
	truth := b.Judge(true)
	switch {
	case truth.Void:
		return "", true
	case truth.Wrong:
		return c.Against, true
	}
	c.Said, c.Truth = said.Hash, truth.Hash
	return "", false
}

// Liar says who has signed what is not true, by what the job has come to here; "" if that cannot be told.
func (c *Case) Liar(own Hash) PeerID {
	switch {
	case c.Against == "" && own != c.Said, c.Against != "" && own == c.Truth:
		return c.By
	case own == c.Said:
		return c.Against
	}
	return ""
}
