// Package hostile attacks peers as a member could that was invited and does not keep to the rules: with statements,
// addresses and streams made by hand, over the real network of the loopback. Each test says what one liar must not
// be able to do; there is nothing in the package besides.
package hostile
