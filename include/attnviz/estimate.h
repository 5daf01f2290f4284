/* estimate.h - a measured quantity beside what theory says of it. */
#ifndef ATTNVIZ_ESTIMATE_H
#define ATTNVIZ_ESTIMATE_H

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

#endif
