package compute

import (
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
)

// A Loan is a value that a root's argument names, and that goes beside it.
type Loan struct {
	Recipe sharedobj.Recipe
	State  *sharedobj.Body
}

// Fits says whether a registered function takes an argument; of one that is not registered it says nothing.
func Fits(fn string, arg any) error { return engine.Fits(fn, arg) }

// HandOver encodes the argument of a root that is to run elsewhere, and gives what it names: constants that were made
// outside of any job. The error says that it cannot be encoded, or is too large.
func HandOver(arg any) (encoded []byte, loans []Loan, err error) {
	shelf := &engine.Shelf{Outside: &lender{Codec: wire.Shared(), loans: &loans}}
	engine.Handles(arg, func(h engine.Shared) {
		if _, _, bad := h.Leave(shelf); bad != nil {
			err = bad
		}
	})
	if err == nil {
		encoded, err = wire.Value().Encode(arg)
	}
	return encoded, loans, err
}

// lender is where such values go to.
type lender struct {
	*wire.Codec
	loans *[]Loan
}

func (l *lender) Name(v engine.Version) engine.Named {
	body := sharedobj.Build(v.State)
	return &lent{l, Loan{sharedobj.Recipe{Kind: sharedobj.Kind(v.Kind), Name: v.Registered, State: body.Blob}, body}}
}

func (*lender) Want(engine.Name)    {}
func (*lender) Offered(engine.Name) {}

// lent is one of them with its name.
type lent struct {
	to *lender
	Loan
}

func (l *lent) Name() engine.Name { return engine.Name(l.Recipe.Digest()) }

func (l *lent) Tell(bool, func() ([]byte, error)) error {
	*l.to.loans = append(*l.to.loans, l.Loan)
	l.State = nil // which may be large
	return nil
}

func (*lent) Drop() {}
