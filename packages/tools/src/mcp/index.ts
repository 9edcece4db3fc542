export type { McpInputRequest, McpReply } from './asking.ts';
export type { McpServerView } from './board.ts';
export type { McpPrompt, McpTool } from './catalogue.ts';
export { McpError } from './errors.ts';
export {
  beginSignIn,
  finishSignIn,
  type SignInCallbackParams,
  SignInError,
  type SignInServer,
} from './oauth/authorize.ts';
export {
  listSecrets,
  type OAuthSettings,
  type SignInServices,
  SignInState,
  type SignInVault,
} from './oauth/sign-in-state.ts';
export type { McpPeer } from './peer.ts';
export type { McpResult } from './results.ts';
export { type McpServers, type McpServersDeps, openMcpServers } from './servers.ts';
