"""Tests of footpath exe with any number of copied blocks: --copies, for all programs that a script rewrites."""
import harness

OPTION = ("--copies", {"metavar": "PERCENT", "help": "of footpath exe; with 1000 nearly all blocks are copied"})


class Bench(harness.Bench):
    def tool(self, *words, **how):
        if words[0] == "exe" and self.args.copies:
            words += ("--copies=" + self.args.copies,)
        return super().tool(*words, **how)
