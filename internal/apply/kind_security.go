package apply

func securityHandler() handler { return handler{plan: planUnsupported} }
func (o *observer) sources()   {}
