import { outcome, usage } from "./outcome.mjs";

/** Reads `codex exec --json`: turns, and items that start and complete. */
export function codexReader(write) {
  const called = new Set();
  const state = { reported: "", completed: false, failed: false };

  function call(id, name, input) {
    if (called.has(id)) return; // item.started said it before
    called.add(id);
    write({ type: "tool_use", id, name, input });
  }

  function tool(item, done) {
    const failed = item.status === "failed" || item.status === "declined" || (item.exit_code ?? 0) !== 0 || item.error != null;
    let content = item.aggregated_output ?? "";
    switch (item.type) {
      case "command_execution":
        call(item.id, "Bash", { command: item.command });
        break;
      case "file_change":
        call(item.id, "apply_patch", { changes: item.changes });
        break;
      case "mcp_tool_call":
        call(item.id, item.tool, item.arguments ?? null);
        content = item.result ?? item.error ?? "";
        break;
      case "web_search":
        call(item.id, "web_search", { query: item.query });
        break;
      case "todo_list":
        call(item.id, "TodoWrite", { todos: item.items });
        break;
      default:
        return false;
    }
    if (done) write({ type: "tool_result", toolUseId: item.id, content, isError: failed });
    return true;
  }

  function item(frame, line) {
    const it = frame.item ?? {};
    const done = frame.type === "item.completed";
    switch (it.type) {
      case "agent_message":
        if (done && it.text) write({ type: "text_delta", delta: it.text });
        return;
      case "reasoning":
        if (done && it.text) write({ type: "thinking_delta", delta: it.text });
        return;
      case "error": // a warning: the turn goes on
        write({ type: "status", label: "warning", detail: it.message });
        return;
    }
    if (!tool(it, done)) write({ type: "raw", line });
  }

  function frame(f, line) {
    switch (f.type) {
      case "thread.started":
        write({ type: "status", label: "initializing", sessionId: f.thread_id });
        break;
      case "turn.started":
        write({ type: "status", label: "thinking" });
        break;
      case "item.started":
      case "item.updated":
      case "item.completed":
        item(f, line);
        break;
      case "turn.completed":
        state.reported = f.type;
        state.completed = true;
        if (f.usage) write({ type: "usage", usage: usage(f.usage) });
        break;
      case "turn.failed":
        state.reported = f.type;
        state.failed = true;
        write({ type: "error", message: f.error?.message ?? "" });
        break;
      case "error": // often a retry notice: the turn decides
        write({ type: "status", label: "warning", detail: f.message });
        break;
      default:
        write({ type: "raw", line });
    }
  }

  return { frame, result: (exit) => outcome(state, exit) };
}
