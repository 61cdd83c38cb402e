package main

// hostMutants are mistakes in who is let in, who is dialed and what is said of it.
var hostMutants = []mutant{
	{name: "host/last-reason-told", wrong: "a try that only hangs up replaces the reason that the first one found",
		file: "peer/host/connect.go", pkg: "peer/host", run: "^TestFirstReasonIsTold$",
		old: "		} else if reason != nil {", new: "		} else if false {"},
	{name: "host/undialable-reason-told", wrong: "a peer that has gone replaces the reason that the first try found",
		file: "peer/host/connect.go", pkg: "peer/host", run: "^TestFirstReasonIsTold$",
		old: "if reason == nil || err == nil {", new: "if true {"},
	{name: "host/refused-nowhere", wrong: "a refusal forgets where the peer was met",
		file: "peer/host/visitors.go", pkg: "peer/host", run: "^TestRefusalNames",
		old: "departure{why, time.Now(), v.met}", new: "departure{why, time.Now(), nil}"},
}
