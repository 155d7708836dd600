package certificate

var kinds = [...]*kindSpec{&projectionKind, &unitsKind, &entropicKind, &transportKind, &flowKind, &baseMeasureKind,
	&sphereKind, &kpmKind, &shuffledKind, &minimaxKind}

// Kinds returns all kinds.
func Kinds() []Kind {
	out := make([]Kind, len(kinds))
	for i, s := range kinds {
		out[i] = s.kind
	}
	return out
}

func findKind(k Kind) *kindSpec {
	for _, s := range kinds {
		if s.kind == k {
			return s
		}
	}
	return nil
}
