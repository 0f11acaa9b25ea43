/* The variable by which the compiler wrapper speaks to the plugin: lines of
 * NAME=VALUE. This header needs nothing of LLVM. */
#ifndef FP_LLVM_PLUGIN_ENV_H
#define FP_LLVM_PLUGIN_ENV_H

#define FP_PLUGIN_VARIABLE "FOOTPATH_PLUGIN"

/* Set for tests: the module is verified after the plugin, and the compiler stops where it
 * is not valid. */
#define FP_VERIFY_VARIABLE "FOOTPATH_VERIFY_IR"

#endif
