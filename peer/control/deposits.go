package control

// MaxDeposit is how many bytes a deposit may have.
const MaxDeposit = 8 << 20

// A Deposit is bytes that other members keep for whoever made them. Hash names them: 64 hexadecimal digits, which the
// daemon says. With a Size and no Bytes it is one that a job of this user's has left somewhere: those who should have
// it are asked, and keep it as this user's from then on.
type Deposit struct {
	Hash  string `json:"hash,omitempty"`
	Bytes []byte `json:"bytes,omitempty"` // at most MaxDeposit
	Size  int64  `json:"size,omitempty"`
}

// A DepositInfo says how safe a deposit is.
type DepositInfo struct {
	Hash   string `json:"hash"`
	Copies int    `json:"copies"` // other members that have said that they have it
	Here   bool   `json:"here,omitempty"`
}
