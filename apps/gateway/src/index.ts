export { pair } from '@parley/channels';
export type { AccountDeps, AccountPlan, AccountStatus } from './accounts/make-adapter.ts';
export { type BootDeps, type BootOutcome, runBoot } from './boot/run-boot.ts';
export { CHANNEL_DEFINITIONS } from './channel-definitions.ts';
export type { Health } from './http/health-routes.ts';
export type { PromptInspector } from './http/prompt-routes.ts';
export type { RestoreWish } from './http/restore-routes.ts';
export { scrubResponse } from './http/scrub-response.ts';
export { type HealthServerOptions, type HttpServer, startHealthServer } from './http/server.ts';
export type { SoulAction, SoulPage } from './http/soul-routes.ts';
export {
  type Gateway,
  type GatewayOptions,
  type PlannedAccount,
  startGateway,
} from './start-gateway.ts';
