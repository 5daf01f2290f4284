/* file_entries.h - moments of the entries of Q and K that came from files. */
#ifndef ATTNVIZ_FILE_ENTRIES_H
#define ATTNVIZ_FILE_ENTRIES_H

#include "attnviz/origin.h"
#include "attnviz/snapshot.h"

/* Of the head that the snapshot shows, over the first rows of each, 65,536
 * entries or one row at most, so that it takes a fraction of a millisecond. The
 * products are taken from the measured means, over the measured standard
 * deviations: their mean is the correlation over pairs i = j. Empty where an
 * entry of the head is not finite. */
void av_file_entries(struct av_entry_moments *out, const struct av_snapshot *s);

#endif
