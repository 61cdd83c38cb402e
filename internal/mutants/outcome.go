package main

const hostileOutcomes = "^TestHostileOutcomes$"

// outcomeMutants are mistakes in what is believed of another peer's outcome.
var outcomeMutants = []mutant{
	{name: "outcome/panic-and-value", wrong: "an outcome is a panic and a value",
		file: "internal/compute/outcome.go", pkg: "peer/session", run: hostileOutcomes,
		old: "if o.Value != nil || o.Error != nil {", new: "if o.Error != nil {"},
	{name: "outcome/panic-and-error", wrong: "an outcome is a panic and an error",
		old: "if o.Value != nil || o.Error != nil {", new: "if o.Value != nil {"},
	{name: "outcome/error-of-none", wrong: "a function fails that returns no error", old: "		if !fn.MayFail {",
		new: "		if false {"},
	{name: "outcome/bad-and-used", wrong: "the error of an outcome without a value is used",
		old: "		return nil, nil, nil, bad\n	}\n	return result, err, nil, nil",
		new: "		return nil, err, nil, bad\n	}\n	return result, err, nil, nil"},
}
