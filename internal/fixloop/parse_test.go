package fixloop

// Parse reads the first message in a text, as ParseAll does.
func Parse(src string) (Message, error) {
	messages, err := ParseAll(src)
	if err != nil {
		return Message{}, err
	}
	return messages[0], nil
}
