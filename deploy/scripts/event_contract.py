"""The contract as the code declares it: topics, types of event, headers, and the meaning of every field."""

import re
import sys

import event_types


class Contract:
    """All that documents say of the events, read from a copy of the house."""

    def __init__(self, root):
        sources = event_types.read(root)
        self.files = {path.name: text for path, text in sources.items()}
        self.vocabularies = event_types.vocabularies(sources.values())
        self.structs = {s.name: s for text in sources.values() for s in event_types.structs(text)}
        self.constants = {
            f"{kind}.{word.constant}": word.text
            for kind, words in self.vocabularies.items()
            for word in words
        }
        self.topics = self.read_topics()
        self.events = self.read_events()
        self.headers = list(self.read_headers())

    def on_the_wire(self, doc):
        """A comment speaks of Swift: there nil is what is absent in JSON, and a word has a constant."""
        doc = re.sub(r"`(\w+\.\w+)`", lambda m: f"`{self.constants.get(m[1], m[1])}`", doc)
        return re.sub(r"\bnil\b", "absent", doc)

    def read_topics(self):
        """Key, cleanup and meaning of every topic, by its word."""
        text = self.files["Topic.swift"]
        words = text[: text.index("public enum Cleanup")]
        cases = re.findall(r'  /// ([^\n]*)\n  case (\w+)(?: = "([\w-]+)")?\n', words)
        days = set(re.findall(r"\w+", re.search(r"case ([\w., ]+): \.after", text)[1]))
        topics = {}
        for doc, case, word in cases:
            about, key = re.fullmatch(r"(.*?) Key: (.*)\.", doc).groups()
            cleanup = "30 days" if case in days else "keep"
            topics[word or case] = {"about": about, "key": key, "cleanup": cleanup}
        for case in re.findall(r"case \.(\w+): \.compact", text):
            word = next(w or c for _, c, w in cases if c == case)
            topics[word]["cleanup"] = "compact"
        return topics

    def read_events(self):
        """Payload, topic and meaning of every type, by its `ce_type`."""
        events = {}
        for word in self.vocabularies["EventType"]:
            about = re.fullmatch(r"`([\w.]+)` on `iap\.([\w-]+)`(?:: (.*))?\.", word.doc)
            if not about:
                sys.exit(f"{word.text}: its comment must be '`Payload` on `iap.topic`: what it says.'")
            payload, topic, meaning = about.groups()
            says = self.on_the_wire(self.structs[payload].doc)
            if meaning:
                says = f"{meaning[0].upper()}{meaning[1:]}. {says}"
            events[word.text] = {"payload": payload, "topic": topic, "about": says}
        return events

    def read_headers(self):
        """Header, meaning and whether it is always there; the comment begins with the header's name."""
        fields = re.findall(
            r"((?:  ///[^\n]*\n)+)  public var \w+: \w+(\??)\n", self.files["EventHeaders.swift"]
        )
        for doc, optional in fields:
            name, text = re.fullmatch(r"`(\w+)`[:;]? ?(.*)", event_types.comment(doc)).groups()
            yield name, self.on_the_wire(text), not optional

    def resolved(self, field, owner):
        """The bare type of a field: of a list, that of its elements."""
        bare = field.kind.strip("[]")
        return f"{owner}.{bare}" if f"{owner}.{bare}" in self.structs else bare

    def words(self, field, owner):
        """The words of a field: of its vocabulary, or those that its comment is a list of."""
        bare = self.resolved(field, owner)
        if bare in self.vocabularies:
            return {w.text: self.on_the_wire(w.doc) for w in self.vocabularies[bare]}
        several = r"`[^`]+`(?:, `[^`]+`)*(?:,? (?:or|and) (?:`[^`]+`|what Apple adds))?[.;,]?"
        listed = re.match(several, field.doc) if field.kind == "String" else None
        return dict.fromkeys(re.findall(r"`([^`]+)`", listed[0]), "") if listed else {}
