export type {
  McpCatalogue,
  McpPrompt,
  McpPromptArgument,
  McpResult,
  McpTool,
} from './catalogue.ts';
export { McpError, type McpErrorCode } from './connect.ts';
export type { McpServerView, McpState } from './servers.ts';
export { type McpServers, type McpServersDeps, openMcpServers } from './servers.ts';
export type { McpPeer, McpServerConfig } from './transport.ts';
