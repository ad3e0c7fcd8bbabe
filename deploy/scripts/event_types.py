"""What the Swift files of Shared/Events declare, for the scripts that write code and documents from it.

The stored properties of a type and the comments above them are the definition of an event: there is no
other list of fields anywhere.
"""

import pathlib
import re
from dataclasses import dataclass

STRUCT = re.compile(
    r"((?:^ *///[^\n]*\n)*)^( *)public struct (\w+): ([^{]*)\{\n(.*?)^\2\}", re.S | re.M
)
CONSTANT = re.compile(
    r'((?:^ *///[^\n]*\n)+) *public static let (\w+) = \w+\(\s*rawValue: "([^"]+)"\)', re.M
)


@dataclass
class Field:
    name: str
    kind: str  # the Swift type without its question mark
    is_optional: bool
    doc: str


@dataclass
class Struct:
    name: str  # with the names of the types around it, such as AppStoreFact.ProofReference
    doc: str
    fields: list[Field]
    labels: list[str]  # of the initializer


@dataclass
class Word:
    constant: str
    text: str
    doc: str


def comment(text):
    """A comment's text: its lines joined, its paragraphs kept."""
    lines = [line.strip().removeprefix("///").strip() for line in text.splitlines()]
    return re.sub(r" ?\n ?", "\n\n", " ".join(line or "\n" for line in lines)).strip()


def structs(source, outer=""):
    """Every struct of the contract that is an object on the wire."""
    for doc, indent, name, conformances, body in STRUCT.findall(source):
        inner = indent + "  "
        if "Codable" in conformances and "RawRepresentable" not in conformances:
            found = re.findall(
                rf"((?:^{inner}///[^\n]*\n)*)^{inner}public (?:var|let) (\w+): ([\w\[\].]+)(\??)$",
                body,
                re.M,
            )
            fields = [Field(f, kind, mark == "?", comment(text)) for text, f, kind, mark in found]
            init = re.search(rf"^{inner}public init\((.*?)\) \{{", body, re.S | re.M)
            labels = re.findall(r"(\w+): ", init.group(1))
            yield Struct(outer + name, comment(doc), fields, labels)
        yield from structs(body, outer + name + ".")


def vocabularies(sources):
    """The words of every open vocabulary, by the name of its type."""
    found = {}
    for text in sources:
        for _, _, name, conformances, body in STRUCT.findall(text):
            if "RawRepresentable" in conformances:
                found[name] = [Word(c, word, comment(d)) for d, c, word in CONSTANT.findall(body)]
    return found


def read(root):
    """The texts of all files of the contract, by path."""
    folder = pathlib.Path(root) / "Shared/Events"
    return {path: path.read_text() for path in sorted(folder.glob("*.swift"))}
