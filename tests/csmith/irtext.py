"""LLVM IR as text: the blocks of functions, the edges between them, and calls put into each block.

Written for C: no exceptions, no computed gotos, no setjmp. An instruction that ends a block in
another way is an error.
"""
import re

DEFINE = re.compile(r'^define .*?@("[^"]*"|[-\w$.]+)\(')
LABEL = re.compile(r'^("[^"]*"|[-\w$.]+):')
TARGET = re.compile(r'label %("[^"]*"|[-\w$.]+)')
TERMINATOR = re.compile(r"^  (br|switch|ret|unreachable)\b")
OTHER_TERMINATOR = re.compile(r"^  (%\S+ = )?(invoke|indirectbr|callbr|resume|cleanupret|catchswitch)\b")


class Block:
    def __init__(self, label):
        self.label, self.lines, self.end, self.successors = label, [], None, []


class Function:
    def __init__(self, head, name):
        self.head, self.name, self.blocks = head, name, [Block(None)]

    def add(self, line):
        label = LABEL.match(line)
        if label and not self.blocks[-1].lines:
            self.blocks[-1].label = label.group(1)
        elif label:
            self.blocks.append(Block(label.group(1)))
        elif line.strip():
            self.blocks[-1].lines.append(line)

    def link(self):
        """Finds the end of each block and the blocks that follow it, each once, in the order of the instruction."""
        index = {block.label: i for i, block in enumerate(self.blocks)}
        for block in self.blocks:
            ends = [i for i, line in enumerate(block.lines) if TERMINATOR.match(line)]
            if len(ends) != 1 or any(OTHER_TERMINATOR.match(line) for line in block.lines):
                raise ValueError("%s: a block that does not end as in C" % self.name)
            block.end = ends[0]
            for label in TARGET.findall("\n".join(block.lines[block.end:])):
                if index[label] not in block.successors:
                    block.successors.append(index[label])

    def successors(self):
        return [block.successors for block in self.blocks]

    def traced(self, number):
        """The text, with a call at the head of each block and in front of each return."""
        out = [self.head]
        for i, block in enumerate(self.blocks):
            if block.label is not None:
                out.append(block.label + ":")
            phis = sum(" = phi " in line for line in block.lines)
            out += block.lines[:phis]
            out.append("  call void @trace_block(i32 %d, i32 %d)" % (number, i))
            out += block.lines[phis:block.end]
            if block.lines[block.end].startswith("  ret "):
                out.append("  call void @trace_leave()")
            out += block.lines[block.end:]
        return "\n".join(out) + "\n}\n"


def parse(text):
    """The functions that are compiled into the object, and what stands around them."""
    functions, around, current = [], [], None
    for line in text.splitlines():
        define = DEFINE.match(line)
        if define and " available_externally " not in line:
            current = Function(line, define.group(1).strip('"'))
        elif current and line == "}":
            current.link()
            functions.append(current)
            current = None
        elif current:
            current.add(line)
        else:
            around.append(line)
    return functions, "\n".join(around) + "\n"


def trace(functions, around):
    return (around + "declare void @trace_block(i32, i32)\ndeclare void @trace_leave()\n"
            + "".join(f.traced(number) for number, f in enumerate(functions)))
