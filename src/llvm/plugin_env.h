/* The variable by which the compiler wrapper speaks to the plugin: lines of
 * NAME=VALUE. This header needs nothing of LLVM. */
#ifndef FP_LLVM_PLUGIN_ENV_H
#define FP_LLVM_PLUGIN_ENV_H

#define FP_PLUGIN_VARIABLE "FOOTPATH_PLUGIN"

#endif
