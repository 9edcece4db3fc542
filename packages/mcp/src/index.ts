export type {
  McpCatalogue,
  McpPrompt,
  McpPromptArgument,
  McpTool,
} from './catalogue/catalogue.ts';
export type { McpResult } from './catalogue/result-text.ts';
export { McpError, type McpErrorCode } from './mcp-error.ts';
export { type McpServers, type McpServersDeps, openMcpServers } from './mcp-servers.ts';
export type { McpPeer, McpServerConfig } from './server-config.ts';
export type { McpServerView, McpState } from './server-view.ts';
