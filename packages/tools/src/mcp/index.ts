export type { McpPrompt, McpTool } from './catalogue.ts';
export { McpError } from './connect.ts';
export type { McpServerView } from './servers.ts';
export { type McpServers, type McpServersDeps, openMcpServers } from './servers.ts';
export type { McpPeer } from './transport.ts';
