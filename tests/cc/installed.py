#!/usr/bin/env python3
"""What `make install PREFIX=...` installs for build systems: the CMake package, the toolchain file,
the native file of meson.

    installed.py --bin BUILD/bin --llvm 19
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, equal, expect, needs, sanitizers  # noqa: E402

FILES = {
    "part.c": "int part(int n) { return n % 3 ? n : 2; }\n",
    "main.c": "#include <stdio.h>\nint part(int);\n"
              "int main(void) { int s = 0; for (int i = 0; i < 10; i++) s += part(i); printf(\"%d\\n\", s); return 0; }\n",
    "main.cc": "#include <cstdio>\n#include <vector>\nint main() { std::vector<int> v(3, 9); std::printf(\"%d\\n\", v[0] + v[2]); }\n",
}
CMAKE = """cmake_minimum_required(VERSION 3.21)
project(p C CXX)
find_package(Footpath 0.2 REQUIRED COMPONENTS tools)
add_library(part STATIC part.c)
add_executable(counted main.c)
add_executable(plain main.c part.c)
add_executable(cxx main.cc)
target_link_libraries(counted part)
footpath_instrument(counted part cxx FLAGS --fp-exits "--fp-out=${CMAKE_BINARY_DIR}/a b.prof")
add_custom_target(version_of_tool COMMAND Footpath::footpath --version)
"""


class Bench(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        for name, content in FILES.items():
            self.write(name, content)
        self.flags = {"FOOTPATH_CC_FLAGS": "--fp-llvm=" + args.llvm}

    def install(self, prefix="a prefix"):
        needs("cmake", "ninja")
        self.run("cmake", "--install", os.path.dirname(self.args.bin), "--prefix", self.path(prefix))
        return self.path(prefix)

    def cmake(self, prefix, *words, out="out", **how):
        env = dict(self.flags, CMAKE_PREFIX_PATH=prefix)
        done = self.run("cmake", "-G", "Ninja", "-B", out, *words, ".", env=env, **how)
        if done.returncode == 0:
            self.run("ninja", "-C", out, env=self.flags)
        return done

    def counts(self, program, output, functions, profile="run.prof"):
        """None for functions: the program writes no profile."""
        for name in (profile, "run.prof"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        env = {"FOOTPATH_OUT": self.path(profile)} if profile == "run.prof" else {}
        equal(self.run(self.path(program), env=env, silent=True).stdout, output, program)
        if functions is None:
            expect(not os.path.exists(self.path(profile)), program + " counted something")
            return
        calls = {f["name"]: f.get("calls", 0) for f in self.json("show", "--json", profile)["functions"]}
        for name, number in functions.items():
            equal(calls.get(name), number, "calls of %s in %s" % (name, program))


def case_instrument(b):
    """Some targets of a project, whichever compiler the project has."""
    prefix = b.install()
    b.write("CMakeLists.txt", CMAKE)
    for compiler in ("gcc", "clang-" + b.args.llvm):
        plus = "g++" if compiler == "gcc" else "clang++-" + b.args.llvm
        needs(compiler, plus)
        out = "of " + compiler
        b.cmake(prefix, "-DCMAKE_C_COMPILER=" + compiler, "-DCMAKE_CXX_COMPILER=" + plus, "-DCMAKE_BUILD_TYPE=Release", out=out)
        b.counts(out + "/counted", "35\n", {"main": 1, "part": 10}, out + "/a b.prof")
        b.counts(out + "/cxx", "18\n", {"main": 1}, out + "/a b.prof")
        b.counts(out + "/plain", "35\n", None, "footpath.prof")
        expect("footpath 0." in b.run("ninja", "-C", out, "version_of_tool").stdout, "Footpath::footpath")


def case_package(b):
    """Versions and components; the library; a prefix that was moved."""
    os.rename(b.install("first"), b.path("moved"))
    example = os.path.join(ROOT, "examples", "library", "hottest.c")
    template = "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(Footpath %s)\n"
    b.write("CMakeLists.txt", template % "REQUIRED COMPONENTS library" +
            "add_executable(hottest %s)\ntarget_link_libraries(hottest Footpath::libfootpath)\n" % example)
    b.cmake(b.path("moved"), "-DCMAKE_C_FLAGS=" + " ".join(sanitizers(b.args.bin)))
    b.cc("main.c", "part.c", "-o", "prog")
    b.profile("prog", "footpath.prof")
    expect("main" in b.run("out/hottest", "footpath.prof", silent=True).stdout, "hottest")
    for words, why in (("9.0 REQUIRED", "9.0"), ("REQUIRED COMPONENTS spoon", "component spoon")):
        b.write("CMakeLists.txt", template % words)
        expect(why in b.cmake(b.path("moved"), out="refused", status=1).stderr, "find_package(Footpath %s) says why" % words)


def case_package_without_tools(b):
    """As where only libfootpath-dev is installed."""
    prefix = b.install()
    shutil.rmtree(os.path.join(prefix, "bin"))
    b.write("CMakeLists.txt", CMAKE)
    expect("component tools" in b.cmake(prefix, status=1).stderr, "the missing component is named")
    b.write("CMakeLists.txt", CMAKE.replace(" COMPONENTS tools", ""))
    expect("install the package footpath" in b.cmake(prefix, status=1).stderr, "footpath_instrument says what to do")


def case_toolchain(b):
    prefix = b.install()
    b.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p C CXX)\nfind_package(Threads REQUIRED)\n"
                              "add_executable(prog main.c part.c)\nadd_executable(cxx main.cc)\n")
    b.cmake(prefix, "--toolchain", os.path.join(prefix, "share", "footpath", "footpath-toolchain.cmake"), "-DFOOTPATH_FLAGS=--fp-mode=check")
    b.counts("out/prog", "35\n", {"main": 1, "part": 10})
    b.verify("run.prof")
    b.counts("out/cxx", "18\n", {"main": 1})
    b.verify("run.prof")


def case_meson(b):
    needs("meson")
    prefix = b.install()
    b.write("meson.build", "project('p', 'c', 'cpp')\nexecutable('prog', 'main.c', 'part.c')\nexecutable('cxx', 'main.cc')\n")
    # by its name, as from /usr/local and /usr
    env = dict(b.flags, XDG_DATA_DIRS=os.path.join(prefix, "share"))
    b.run("meson", "setup", "--native-file", "footpath.ini", "out", env=env)
    b.run("ninja", "-C", "out", env=env)
    b.counts("out/prog", "35\n", {"main": 1, "part": 10})
    b.counts("out/cxx", "18\n", {"main": 1})


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
