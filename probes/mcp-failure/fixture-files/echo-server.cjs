// A small MCP server on stdio with one tool, echo_text: JSON-RPC 2.0, one
// message a line. It needs nothing but Node.js.
'use strict';
const readline = require('node:readline');

const tool = {
  name: 'echo_text',
  description: 'Says which text it heard.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'The text.' } },
    required: ['text'],
  },
  // Without these words CLIs ask for approval, or hide the tool behind a search.
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  _meta: { 'anthropic/alwaysLoad': true },
};

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'registry', version: '1.0.0' },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: [tool] } };
    case 'tools/call':
      return { error: { code: -32603, message: 'The server cannot answer now.' } };
  }
  return { error: { code: -32601, message: 'Method not found' } };
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.trim() === '') return;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return; // a notification
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params ?? {}) })}\n`);
});
