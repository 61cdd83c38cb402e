package peer

// Messages are one of each type that members send on the protocols of this package.
func Messages() []any {
	return []any{&meeting{}, &runQuestion{}, &runAnswer{}, &load{}, &keepRequest{}, &keepReply{}, &answerQuestion{}}
}
