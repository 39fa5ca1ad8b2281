# Run by the build: writes OUTPUT, a source file that says which commit SOURCE is at. It stays as it is
# while that does, so that nothing is compiled anew. Where SOURCE is no checkout, there is no commit.
cmake_minimum_required(VERSION 3.22)

function(ask_git variable)
  execute_process(COMMAND git -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE said RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed)
    set(said "")
  endif()
  set(${variable} "${said}" PARENT_SCOPE)
endfunction()

ask_git(top rev-parse --show-toplevel)
ask_git(within rev-parse --show-prefix)
set(hash "")
set(number 0)
# A copy of the source within the checkout of something else is none.
if(top AND NOT within)
  ask_git(hash rev-parse --short HEAD)
  ask_git(number rev-list --count HEAD)
endif()
if(NOT hash OR NOT number)
  set(hash "")
  set(number 0)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/commit.cpp.in ${OUTPUT} @ONLY)
