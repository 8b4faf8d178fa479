import { outcome, usage } from "./outcome.mjs";

/**
 * Reads `claude -p --output-format stream-json`. Whole assistant messages are
 * enough, and nothing is said twice: what `--include-partial-messages` streams
 * before them counts only if the stream is cut before the whole message came.
 */
export function claudeReader(write) {
  const called = new Set();
  const state = { reported: "", completed: false, failed: false };
  let streamed = ""; // text that no whole message has repeated yet

  function block(b) {
    if (b.type === "text" && b.text) {
      streamed = "";
      write({ type: "text_delta", delta: b.text });
    }
    if (b.type === "thinking" && b.thinking) write({ type: "thinking_delta", delta: b.thinking });
    if (b.type === "tool_use" && !called.has(b.id)) {
      called.add(b.id);
      write({ type: "tool_use", id: b.id, name: b.name, input: b.input });
    }
    if (b.type === "tool_result") {
      write({ type: "tool_result", toolUseId: b.tool_use_id, content: b.content, isError: b.is_error === true });
    }
  }

  function stream(e) {
    if (e?.type === "message_start") streamed = ""; // a retry says it again
    if (e?.type === "content_block_delta" && e.delta?.type === "text_delta") streamed += e.delta.text;
  }

  function sayStreamed() {
    if (streamed !== "") write({ type: "text_delta", delta: streamed });
    streamed = "";
  }

  function frame(f, line) {
    switch (f.type) {
      case "system":
        if (f.subtype === "init") write({ type: "status", label: "initializing", sessionId: f.session_id, model: f.model });
        break;
      case "assistant":
        if (f.error || f.message?.model === "<synthetic>") {
          state.failed = true; // the CLI wrote it, not the model
          break;
        }
      // falls through
      case "user":
        if (Array.isArray(f.message?.content)) f.message.content.forEach(block);
        break;
      case "result":
        sayStreamed();
        state.reported = f.subtype;
        state.completed = true;
        if (f.is_error || f.subtype !== "success") {
          state.failed = true;
          write({ type: "error", message: f.result ?? f.subtype });
        }
        if (f.usage) write({ type: "usage", usage: usage(f.usage) });
        break;
      case "stream_event":
        if (f.parent_tool_use_id == null) stream(f.event);
        break;
      case "rate_limit_event":
        break;
      default:
        write({ type: "raw", line });
    }
  }

  return { frame, end: sayStreamed, result: (exit) => outcome(state, exit) };
}
