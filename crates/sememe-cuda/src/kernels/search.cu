// Exact search on a GPU: estimates of all cosines in half precision, and exact scores of the few targets that may be
// among the best.
//
// The estimate of a cosine is the product of two unit vectors rounded to half precision, accumulated in single
// precision. `search.rs` says what the largest error of an estimate is and how the bounds follow from it. No score
// leaves the registers unless it reaches a threshold.
//
// What depends on the card and on the rows comes from outside (`program.rs`): PADDED is the number of coordinates of a
// row, STREAMED is 1 where the rows of a tile are too long to stay in shared memory, STAGES is the number of steps that are
// in shared memory at a time, WAITING that of candidates that wait there to be written, and HOPPER is 1 where groups of
// four warps multiply out of shared memory.

// A block of threads multiplies ROWS rows by COLUMNS columns at a time, DEPTH coordinates a step.
#define ROWS 256
#define COLUMNS 128
#define DEPTH 64
#define THREADS 256
// Columns that share a maximum.
#define GROUP 64

#define STEPS ((PADDED + DEPTH - 1) / DEPTH)
// Coordinates of the last step, in sixteens.
#define LAST_DEPTH ((PADDED - (STEPS - 1) * DEPTH) / 16)
#define ROW_BYTES (DEPTH * 2)
#define ROWS_STEP_BYTES (ROWS * ROW_BYTES)
#define COLUMNS_STEP_BYTES (COLUMNS * ROW_BYTES)

extern __shared__ __align__(1024) unsigned char memory[];
