export {
  DEFAULT_LIMITS,
  SandboxError,
  type SandboxErrorCode,
  type SandboxLimits,
} from './arguments.ts';
export type { CommandResult, Ending } from './run.ts';
export {
  type CommandOptions,
  openSandbox,
  type Sandbox,
  type SandboxOptions,
} from './sandbox.ts';
