"""What of the contract was published, a line each, and which changes its readers could not survive."""

import re


def unit(field):
    found = re.search(r"UTC milliseconds|[Mm]illiunits", field.doc)
    return found[0].lower().replace("utc", "UTC") if found else None


def facts(contract, name, path=""):
    """A line for every field below a payload, and for every word of a vocabulary."""
    for field in contract.structs[name].fields:
        bare, is_list = contract.resolved(field, name), field.kind.startswith("[")
        place = f"{path}{field.name}{'[]' if is_list else ''}"
        scalars = {"Int64": "integer", "Bool": "boolean"}
        kind = scalars.get(bare, "object" if bare in contract.structs else "text")
        if measure := unit(field):
            kind += f" ({measure})"
        yield f"{place}: {kind}, {'sometimes' if field.is_optional else 'always'}"
        for word, meaning in contract.words(field, name).items():
            yield f"{place} = {word}" + (f": {meaning}" if meaning else "")
        if bare in contract.structs:
            yield from facts(contract, bare, f"{place}.")


def published_today(contract, headers):
    """All lines; `headers` is the schema of the headers."""
    lines = [
        f"every event, header {name}: {'always' if name in headers['required'] else 'sometimes'}"
        for name in headers["properties"]
    ]
    for kind, event in contract.events.items():
        topic = contract.topics[event["topic"]]
        lines.append(f"{kind} @ {event['topic']}: key {topic['key']}, {topic['cleanup']}")
        lines += [f"{kind} {fact}" for fact in facts(contract, event["payload"])]
    return [line.replace("\n", " ") for line in lines]


def by_place(lines):
    """`type place: what` and `type place = word: meaning`; the word belongs to the place."""
    return dict((line.split(": ", 1) + [""])[:2] for line in lines)


def breaks(before, today):
    """Why a reader could not live with today's events, or today's code with the records of before."""
    old, new = by_place(before), by_place(today)
    for place, what in old.items():
        if place not in new:
            yield f"{place} is gone: whoever reads it, or replays old records, needs it"
        elif new[place] != what:
            yield f"{place} was '{what}' and is '{new[place]}'"
    for place, what in new.items():
        kind, _, rest = place.partition(" ")
        is_known = any(other.startswith(f"{kind} @") for other in old)
        parent = f"{kind} {rest.rpartition('.')[0]}"
        has_parent = "." not in rest or parent in old
        if is_known and place not in old and what.endswith(", always") and has_parent:
            yield f"{place} is new and always there: older records do not have it; make it optional"
