export type { McpServerView } from './board.ts';
export type { McpPrompt, McpTool } from './catalogue.ts';
export { McpError } from './errors.ts';
export type { McpPeer } from './peer.ts';
export { type McpServers, type McpServersDeps, openMcpServers } from './servers.ts';
