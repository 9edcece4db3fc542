export type { AccountDeps, AccountPlan, AccountStatus } from './accounts/account.ts';
export type { PlannedAccount } from './accounts/gateway-accounts.ts';
export { notifyOwner } from './accounts/tell-owner.ts';
export type { AgentSummary } from './agent-operations.ts';
export type { OperatorApprovals } from './approval-operations.ts';
export { type BootDeps, type BootOutcome, runBoot } from './boot.ts';
export { CHANNEL_DEFINITIONS } from './channel-definitions.ts';
export type { KeptCase } from './eval-operations.ts';
export type { HealthReport } from './http/health.ts';
export { scrubResponse } from './http/scrub-response.ts';
export { type HealthServerOptions, type HttpServer, startHealthServer } from './http/server.ts';
export type { McpSignIns } from './mcp-operations.ts';
export type { PreviewPrompt } from './prompt-operations.ts';
export type { OperatorSettings } from './settings-operations.ts';
export type { SetupChannel, SetupModel, SetupSteps } from './setup-operations.ts';
export type { OperatorSkills } from './skill-operations.ts';
export {
  type Gateway,
  type GatewayOptions,
  type GatewayServices,
  startGateway,
} from './start-gateway.ts';
export type { UsageDisplaySettings } from './usage-operations.ts';
