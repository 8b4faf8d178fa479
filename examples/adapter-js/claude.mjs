import { outcome, usage } from "./outcome.mjs";

/**
 * Reads `claude -p --output-format stream-json`. Whole messages are what counts,
 * and nothing is said twice: what `--include-partial-messages` streams before
 * them counts only if the stream is cut before the whole block came, and a text
 * that the CLI gives up or asks for again does not count at all. Events cannot
 * be taken back, so those of a message that is still streamed are held.
 */
export function claudeReader(write) {
  const called = new Set();
  const state = { reported: "", completed: false, failed: false };
  let id; // of the message that is streamed; undefined where the stream does not say
  // Its events in order. A text has the index of its block; it stands once its
  // block has ended, and is repeated once a whole block has said it.
  let held = [];

  const say = (event) => (held.length > 0 ? held.push({ event, stands: true, repeated: true }) : write(event));
  const streams = (message) => id === undefined || message === id;

  /** Says what no whole block will say again. */
  function release() {
    for (const h of held) if (h.repeated) write(h.event);
    held = held.filter((h) => !h.repeated);
  }

  function end() {
    for (const h of held) write(h.event);
    held = [];
  }

  /** What comes next says a text again that broke off. */
  function retry() {
    held = held.filter((h) => h.stands);
    end();
  }

  function text(message, delta) {
    const streamed = streams(message) && held.find((h) => !h.repeated);
    if (!streamed) return say({ type: "text_delta", delta });
    streamed.stands = streamed.repeated = true;
    streamed.event.delta = delta;
  }

  function block(b, message) {
    if (b.type === "text" && b.text) text(message, b.text);
    if (b.type === "thinking" && b.thinking) say({ type: "thinking_delta", delta: b.thinking });
    if (b.type === "tool_use" && !called.has(b.id)) {
      called.add(b.id);
      say({ type: "tool_use", id: b.id, name: b.name, input: b.input });
    }
    if (b.type === "tool_result") {
      say({ type: "tool_result", toolUseId: b.tool_use_id, content: b.content, isError: b.is_error === true });
    }
  }

  function stream(e, abandoned) {
    if (abandoned?.api_message_id === id) held = held.filter((h) => !(h.index >= abandoned.from_block_index));
    if (e?.type === "message_start") {
      retry();
      id = e.message?.id;
    }
    if (e?.type === "message_stop") release();
    const block = held.find((h) => h.index === e?.index && !h.stands);
    if (e?.type === "content_block_stop" && block) block.stands = true;
    if (e?.type === "content_block_delta" && e.delta?.type === "text_delta") {
      if (block) block.event.delta += e.delta.text;
      else held.push({ index: e.index, event: { type: "text_delta", delta: e.delta.text }, stands: false, repeated: false });
    }
  }

  function frame(f, line) {
    switch (f.type) {
      case "system":
        if (f.subtype === "init") say({ type: "status", label: "initializing", sessionId: f.session_id, model: f.model });
        if (f.subtype === "api_retry") retry();
        break;
      case "assistant":
        if (f.error || f.message?.model === "<synthetic>") {
          state.failed = true; // the CLI wrote it, not the model
          break;
        }
        // Another message in the place of the streamed one says the answer again.
        if (f.parent_tool_use_id == null && !streams(f.message?.id)) retry();
      // falls through
      case "user":
        if (Array.isArray(f.message?.content)) f.message.content.forEach((b) => block(b, f.message.id));
        break;
      case "result":
        end();
        state.reported = f.subtype;
        state.completed = true;
        if (f.is_error || f.subtype !== "success") {
          state.failed = true;
          write({ type: "error", message: f.result ?? f.subtype });
        }
        if (f.usage) write({ type: "usage", usage: usage(f.usage) });
        break;
      case "stream_event":
        if (f.parent_tool_use_id == null) stream(f.event, f.abandoned_blocks);
        break;
      case "rate_limit_event":
        break;
      default:
        write({ type: "raw", line });
    }
  }

  return { frame, end, result: (exit) => outcome(state, exit) };
}
