/* estimate.h - a measured quantity beside what theory says of it. */
#ifndef ATTNVIZ_ESTIMATE_H
#define ATTNVIZ_ESTIMATE_H

#include <stdbool.h>

struct av_estimate {
    double theory;   /* NaN where none is known */
    double measured; /* NaN where it is not defined, or not measured yet */
    double error;    /* one standard error of the measured value; NaN while too little is measured */
};

/* Both values and the error, multiplied. */
struct av_estimate av_estimate_times(const struct av_estimate *e, double factor);

/* (measured - theory) / error; NaN where one of them is, or the error is 0. */
double av_estimate_deviation(const struct av_estimate *e);

/* Does the measurement agree with theory, within `limit` standard errors? Not
 * judged (AV_ESTIMATE_FEW) while its error exceeds a fifth of the theory: then
 * squares of squares of few drawings have tails too long for any limit. A
 * millionth of the theory is left for rounding. */
enum av_estimate_verdict { AV_ESTIMATE_FEW, AV_ESTIMATE_AGREES, AV_ESTIMATE_OFF };
enum av_estimate_verdict av_estimate_judge(const struct av_estimate *e, double limit);

/* A value and its error as plain decimals, "0.994" and "0.016": so many digits
 * of the error (1 or 2), the value to the same place. False, and nothing
 * written, where powers of ten read better: errors up to 1e-5 or from 1e6 on,
 * values from 1e6 on; and without an error. */
enum { AV_ESTIMATE_TEXT_MAX = 32 };
bool av_estimate_text(char value_text[AV_ESTIMATE_TEXT_MAX], char error_text[AV_ESTIMATE_TEXT_MAX], double value,
                      double error, int digits);

#endif
