# A whole project with counters:
#   cmake --toolchain PREFIX/share/footpath/footpath-toolchain.cmake [-DFOOTPATH_FLAGS="--fp-..."] ...
# in a new build folder.
get_filename_component(_footpath_bin "${CMAKE_CURRENT_LIST_DIR}/../../bin" ABSOLUTE)
set(CMAKE_C_COMPILER "${_footpath_bin}/footpath-cc")
set(CMAKE_CXX_COMPILER "${_footpath_bin}/footpath-c++")
set(CMAKE_C_FLAGS_INIT "${FOOTPATH_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT "${FOOTPATH_FLAGS}")
# what cmake tries out is compiled in the same way
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FOOTPATH_FLAGS)
