// An MCP server that ends before it says a word.
'use strict';
process.stderr.write('The server cannot start.\n');
process.exitCode = 1;
