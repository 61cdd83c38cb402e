package main

// streamMutants are mistakes in how messages are queued and written.
var streamMutants = []mutant{
	{name: "stream/writer-sleeps", wrong: "a message does not wake the writer that has nothing to do",
		file: "peer/stream/control_out.go", pkg: "peer/stream", run: "^TestMessagesComeInOrder$/^virtual$",
		old: "	} else if len(b.messages) == 1 {",
		new: "	} else if false {"},
}
