package steal

import "github.com/satin-peer/satin/steal/policy"

// Who takes part, in the words of policies.
type (
	PeerID    = policy.PeerID
	ClusterID = policy.ClusterID
	Member    = policy.Member
	Members   = policy.Members
	Rand      = policy.Rand
)

// NewMembers sorts the list and drops repeated IDs, keeping the first. It takes O(n log n).
func NewMembers(list []Member) *Members { return policy.NewMembers(list) }
