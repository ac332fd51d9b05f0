package cache

import "container/list"

// layer holds entries in memory and drops the ones that were used longest ago when
// it is full. The store's lock guards it.
type layer struct {
	limit, held int64
	entries     map[Hash]*list.Element
	order       *list.List // of entry, the one used last in front
}

type entry struct {
	key     Hash
	content []byte
}

func newLayer(limit int64) layer {
	return layer{limit: limit, entries: map[Hash]*list.Element{}, order: list.New()}
}

func (l *layer) get(key Hash) ([]byte, bool) {
	at, ok := l.entries[key]
	if !ok {
		return nil, false
	}
	l.order.MoveToFront(at)
	return at.Value.(entry).content, true
}

// put adds an entry unless it would push out a good part of the others.
func (l *layer) put(key Hash, content []byte) {
	if int64(len(content)) > l.limit/4 {
		return
	}
	l.drop(l.entries[key])
	l.entries[key] = l.order.PushFront(entry{key, content})
	l.held += int64(len(content))
	for l.held > l.limit {
		l.drop(l.order.Back())
	}
}

func (l *layer) drop(at *list.Element) {
	if at == nil {
		return
	}
	e := l.order.Remove(at).(entry)
	delete(l.entries, e.key)
	l.held -= int64(len(e.content))
}
