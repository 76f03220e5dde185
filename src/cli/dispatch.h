#ifndef TIDEGATE_CLI_DISPATCH_H
#define TIDEGATE_CLI_DISPATCH_H

/* The whole program: parses the command line, runs the command, gives the exit status. */
int cli_main(int argc, char *const *argv);

#endif
