import { ParleyError, type ParleyErrorInit } from '@parley/contracts';

/**
 * What can go wrong with a server. `mcp-not-connected`: nothing was sent. `mcp-lost`: something was
 * sent, and the connection ended before the answer. `mcp-refused`: the server answered with an error.
 * `mcp-answer`: its answer is not what the protocol says. `mcp-start`: it could not be reached.
 */
export type McpErrorCode =
  | 'mcp-not-connected'
  | 'mcp-lost'
  | 'mcp-refused'
  | 'mcp-answer'
  | 'mcp-start';

/** An error of a server, in words for people. */
export class McpError extends ParleyError {
  constructor(init: ParleyErrorInit & { readonly code: McpErrorCode }) {
    super(init);
  }
}
