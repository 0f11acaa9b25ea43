/* A note that says nothing. Its alignment is another one than that of other notes, so linkers give
 * it a program header of its own. footpath-cc makes that the header of the second body
 * (src/exe/bodyfile.c). */
    .section .note.footpath.room, "a", @note
    .balign 16
    .long 9, 4, 3 /* FP_NOTE_ROOM */
    .ascii "footpath\0\0\0\0"
    .long 0
    .section .note.GNU-stack, "", @progbits
