export type { AccountDeps, AccountPlan, AccountStatus } from './accounts/connect-account.ts';
export type { PlannedAccount } from './accounts/gateway-accounts.ts';
export { notifyOwner } from './accounts/tell-owner.ts';
export type { ShownAgent } from './agent-operations.ts';
export type { OperatorApprovals } from './approval-operations.ts';
export { type BootDeps, type BootOutcome, runBoot } from './boot.ts';
export { CHANNEL_DEFINITIONS } from './channel-definitions.ts';
export type { LogPage } from './diagnosis-operations.ts';
export type { Health } from './http/health.ts';
export type { McpSignInPage } from './http/mcp-routes.ts';
export { scrubResponse } from './http/scrub-response.ts';
export { type HealthServerOptions, type HttpServer, startHealthServer } from './http/server.ts';
export type { SettingsOrder, SettingsPage } from './http/settings-routes.ts';
export type { SetupOrder, SetupPage } from './http/setup-routes.ts';
export type { PreviewPrompt } from './prompt-operations.ts';
export {
  type Gateway,
  type GatewayOptions,
  type GatewayServices,
  startGateway,
} from './start-gateway.ts';
export type { UsageFacts } from './usage-operations.ts';
