/* complain.h - messages to the user on standard error. */
#ifndef ATTNVIZ_COMPLAIN_H
#define ATTNVIZ_COMPLAIN_H

/* Prints `attnviz: WHY` as one line, whatever bytes the names in it have. */
void av_complain(const char *why);

#endif
