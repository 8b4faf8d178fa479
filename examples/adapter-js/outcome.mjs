/**
 * What a run came to, from its terminal frame and from how the process ended.
 * The CLI's own word (reported) and this reading stay two things.
 */
export function outcome({ reported, completed, failed }, exit) {
  const result = { reported_result: reported };
  if (exit?.cause === "cancelled") result.run_result = "cancelled";
  else if (completed && !failed) result.run_result = "success";
  else result.run_result = "failed"; // an exit code of 0 without a terminal frame is no success
  return result;
}

const tokens = {
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cached_input_tokens: "cached_read_tokens",
  cache_read_input_tokens: "cached_read_tokens",
  cache_creation_input_tokens: "cached_write_tokens",
};

/** A CLI's token counts under the names of the daemon's events. */
export function usage(counts) {
  const out = {};
  for (const [from, to] of Object.entries(tokens)) {
    if (typeof counts[from] === "number") out[to] = counts[from];
  }
  return out;
}
