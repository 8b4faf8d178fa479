package machine

import "time"

// Bounded gives the client's calls from now on another time than its handshake
// had.
func (c *Client) Bounded(timeout time.Duration) *Client {
	c.timeout = timeout
	return c
}
