package control

// MaxDeposit is how many bytes a deposit may have.
const MaxDeposit = 8 << 20

// A Deposit is bytes that other members keep for whoever made them. Hash names them: 64 hexadecimal digits, which the
// daemon says.
type Deposit struct {
	Hash  string `json:"hash,omitempty"`
	Bytes []byte `json:"bytes,omitempty"` // at most MaxDeposit
}

// A DepositInfo says how safe a deposit is.
type DepositInfo struct {
	Hash   string `json:"hash"`
	Copies int    `json:"copies"` // other members that have said that they have it
}
