/* What takes the system long and heeds no signals, such as giving back a large file (0.2 s for each GB), is done by
 * another process, so that nobody waits for it who waits for the command. It has the command's memory and files. */
#ifndef ASIDE_H
#define ASIDE_H

/* For a signal handler that is about to end the command: the other process ends after the command, and so gives back
 * its memory and the files that only it had. */
void aside_outlive(void);

/* Closes a file that has no name any more, and waits until it is given back; a signal ends the waiting. */
void aside_close(int fd);

#endif
