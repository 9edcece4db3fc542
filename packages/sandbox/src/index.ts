export type { CommandResult, Ending } from './command-result.ts';
export {
  type CommandOptions,
  openSandbox,
  type Sandbox,
  type SandboxOptions,
} from './open-sandbox.ts';
export { SandboxError, type SandboxErrorCode } from './sandbox-error.ts';
export { DEFAULT_LIMITS, type SandboxLimits } from './sandbox-limits.ts';
