package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/satin-peer/satin/internal/report"
)

// strictly reads one JSON value with no unknown fields and nothing after it.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: the request cannot be read: %w", report.ErrBadInput, report.Unread(err, v))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: there is more than one value in the request", report.ErrBadInput)
	}
	return nil
}
