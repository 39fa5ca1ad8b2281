# tandem_shaders(LIBRARY FOLDER folder)
# Compiles every FOLDER/*.comp to SPIR-V, and every FOLDER/typed/*.comp once for each type of
# FOLDER/blocks (a file that defines block_<its name>), every FOLDER/dots/*.comp once for each that
# has integer codes (codes_<its name>), and every FOLDER/matrices/*.comp once for each type and each
# folder of FOLDER/fragments, where its "fragments.glsl" is, and every FOLDER/units/*.comp once for each
# such folder. Adds a table of them all to the library.
# A typed shader includes "type.glsl", one of dots "type_of_dots.glsl": they give the decoder of its
# type plain names.
# GLSLANG_VALIDATOR is the compiler.
function(tandem_shaders library)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "")
  set(sources ${CMAKE_SOURCE_DIR}/${arg_FOLDER})
  set(built ${CMAKE_BINARY_DIR}/shaders)
  file(GLOB_RECURSE included CONFIGURE_DEPENDS ${sources}/*.glsl)

  function(compile name file)
    string(MAKE_C_IDENTIFIER shader_${name} symbol)
    set(header ${built}/${name}.h)
    set(folders ${ARGN})
    list(TRANSFORM folders PREPEND -I)
    # A change of any included file compiles all anew; they are many, but small.
    add_custom_command(OUTPUT ${header}
      COMMAND ${GLSLANG_VALIDATOR} -V --target-env vulkan1.2 --quiet -I${sources} ${folders}
              --vn ${symbol} -o ${header} ${file}
      DEPENDS ${file} ${included} COMMENT "Shader ${name}" VERBATIM)
    set(headers ${headers} ${header} PARENT_SCOPE)
    set(includes "${includes}#include \"${header}\"\n" PARENT_SCOPE)
    set(entries "${entries}    {\"${name}\", ${symbol}},\n" PARENT_SCOPE)
  endfunction()

  file(GLOB plain CONFIGURE_DEPENDS ${sources}/*.comp)
  foreach(file ${plain})
    get_filename_component(name ${file} NAME_WE)
    compile(${name} ${file})
  endforeach()
  file(GLOB of_units CONFIGURE_DEPENDS ${sources}/units/*.comp)
  file(GLOB folders CONFIGURE_DEPENDS ${sources}/fragments/*)
  foreach(folder ${folders})
    get_filename_component(units ${folder} NAME)
    foreach(file ${of_units})
      get_filename_component(name ${file} NAME_WE)
      compile(${name}.${units} ${file} ${folder})
    endforeach()
  endforeach()
  file(GLOB typed CONFIGURE_DEPENDS ${sources}/typed/*.comp)
  file(GLOB of_dots CONFIGURE_DEPENDS ${sources}/dots/*.comp)
  file(GLOB of_matrices CONFIGURE_DEPENDS ${sources}/matrices/*.comp)
  file(GLOB fragments CONFIGURE_DEPENDS ${sources}/fragments/*)
  file(GLOB blocks CONFIGURE_DEPENDS ${sources}/blocks/*.glsl)
  foreach(block ${blocks})
    get_filename_component(type ${block} NAME_WE)
    file(STRINGS ${block} definition REGEX "^const uint block_${type} = ")
    if(NOT definition)
      continue()
    endif()
    set(shaders ${typed})
    configure_file(${CMAKE_SOURCE_DIR}/cmake/type.glsl.in ${built}/types/${type}/type.glsl @ONLY)
    file(STRINGS ${block} definition REGEX "^void codes_${type}\\(")
    if(definition)
      list(APPEND shaders ${of_dots})
      configure_file(${CMAKE_SOURCE_DIR}/cmake/type_of_dots.glsl.in
                     ${built}/types/${type}/type_of_dots.glsl @ONLY)
    endif()
    foreach(file ${shaders})
      get_filename_component(name ${file} NAME_WE)
      compile(${name}.${type} ${file} ${built}/types/${type})
    endforeach()
    foreach(folder ${fragments})
      get_filename_component(units ${folder} NAME)
      foreach(file ${of_matrices})
        get_filename_component(name ${file} NAME_WE)
        compile(${name}.${type}.${units} ${file} ${built}/types/${type} ${folder})
      endforeach()
    endforeach()
  endforeach()
  configure_file(${CMAKE_SOURCE_DIR}/cmake/shader_table.cpp.in ${built}/table.cpp @ONLY)
  set_source_files_properties(${built}/table.cpp PROPERTIES OBJECT_DEPENDS "${headers}")
  target_sources(${library} PRIVATE ${built}/table.cpp)
endfunction()
